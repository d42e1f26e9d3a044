// SPDX-License-Identifier: GPL-2.0-only
/* XDP programs in raw instructions, and the cpumap they redirect to. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>

#include "xdp.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	long ret = syscall(__NR_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : (int)ret;
}

int cpumap_create(__u32 max_entries)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_CPUMAP,
		.key_size = sizeof(__u32),
		.value_size = sizeof(struct bpf_cpumap_val),
		.max_entries = max_entries,
	};

	return sys_bpf(BPF_MAP_CREATE, &attr);
}

static int load(const struct bpf_insn *insns, __u32 count, __u32 attach)
{
	static char log[4096];
	union bpf_attr attr = {};
	int fd;

	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.expected_attach_type = attach;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = count;
	attr.license = (uintptr_t)"GPL";
	attr.log_buf = (uintptr_t)log;
	attr.log_size = sizeof(log);
	attr.log_level = 1;
	fd = sys_bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		fprintf(stderr, "XDP program refused (%s): %s\n",
			strerror(-fd), log);
	return fd;
}

static int load_redirect(int map_fd, __u32 cpu, __u32 attach)
{
	const struct bpf_insn insns[] = {
		/* r1 = map (two slots) */
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map_fd },
		{ },
		/* r2 = key, r3 = the verdict when the entry is missing */
		{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2,
		  .imm = cpu },
		{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3,
		  .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(insns, ARRAY_LEN(insns), attach);
}

int xdp_load_redirect(int map_fd, __u32 cpu)
{
	return load_redirect(map_fd, cpu, BPF_XDP);
}

int cpumap_load_redirect(int map_fd, __u32 cpu)
{
	return load_redirect(map_fd, cpu, BPF_XDP_CPUMAP);
}

int cpumap_load_verdict(__u32 verdict)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0,
		  .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(insns, ARRAY_LEN(insns), BPF_XDP_CPUMAP);
}

int cpumap_set(int map_fd, __u32 cpu, __u32 qsize, int prog_fd)
{
	struct bpf_cpumap_val value = {};
	union bpf_attr attr = {};

	value.qsize = qsize;
	value.bpf_prog.fd = prog_fd;
	attr.map_fd = map_fd;
	attr.key = (uintptr_t)&cpu;
	attr.value = (uintptr_t)&value;
	return sys_bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

int cpumap_delete(int map_fd, __u32 cpu)
{
	union bpf_attr attr = {};

	attr.map_fd = map_fd;
	attr.key = (uintptr_t)&cpu;
	return sys_bpf(BPF_MAP_DELETE_ELEM, &attr);
}
