/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the guest's agent share. */
#ifndef AGENT_H
#define AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MAX_ARGS	64
#define LINE_SIZE	4096

enum kind { RUN, KUNIT };

struct test {
	enum kind kind;
	char *name;
	char *dir;
	long timeout;
	char *argv[MAX_ARGS + 1];
};

/* Process 1 of the guest, not a program in one that someone else set up. */
extern bool is_init;
/* Bytes that one test may write. */
extern long output_limit;
/* The ports to the host. */
extern int ktap_fd, ctl_fd;

/* talk.c */
double now(void);
void write_all(int fd, const char *buf, size_t len);
void say(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void mark(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void write_file(const char *path, const char *text);
void beat(void);
void forward(const char *prefix, const char *text, size_t len);
void forward_reset(void);

/* modules.c */
extern const char *modules_dir;
const char *base_name(const char *path);
int load_module(const char *path, const char *params);
int module_tool(const char *tool, int argc, char **argv);

/* run.c */
void run_test(int number, struct test *t);

/* agent.c */
void leave(const char *how) __attribute__((noreturn));
void bail(const char *what, const char *name, int err) __attribute__((noreturn));

#endif
