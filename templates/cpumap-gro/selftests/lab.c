// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds the test network by rtnetlink and ethtool ioctls alone, so that the
 * test runs as the only program of an initramfs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>

#include "lab.h"

static const __u8 tx_mac[6] = { 0x02, 0, 0, 0, 0, 0x01 };
static const __u8 rx_mac[6] = { 0x02, 0, 0, 0, 0, 0x02 };

struct request {
	struct nlmsghdr hdr;
	union {
		struct ifinfomsg link;
		struct ifaddrmsg addr;
		struct ndmsg neigh;
		char room[512];
	};
};

static void start(struct request *req, int type, int flags, size_t body)
{
	memset(req, 0, sizeof(*req));
	req->hdr.nlmsg_type = type;
	req->hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	req->hdr.nlmsg_len = NLMSG_LENGTH(body);
}

static struct rtattr *put(struct request *req, int type, const void *data,
			  size_t len)
{
	struct rtattr *attr;

	attr = (void *)((char *)req + NLMSG_ALIGN(req->hdr.nlmsg_len));
	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
	req->hdr.nlmsg_len = NLMSG_ALIGN(req->hdr.nlmsg_len) +
			     RTA_ALIGN(attr->rta_len);
	return attr;
}

static void end(struct request *req, struct rtattr *nest)
{
	nest->rta_len = (char *)req + req->hdr.nlmsg_len - (char *)nest;
}

static int talk(int sock, struct request *req)
{
	struct {
		struct nlmsghdr hdr;
		struct nlmsgerr err;
		char room[1024];
	} answer;
	ssize_t len;

	if (send(sock, req, req->hdr.nlmsg_len, 0) < 0)
		return -errno;
	len = recv(sock, &answer, sizeof(answer), 0);
	if (len < 0)
		return -errno;
	if (len < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)) ||
	    answer.hdr.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return answer.err.error;
}

int lab_enter(int ns)
{
	return setns(ns, CLONE_NEWNET) ? -errno : 0;
}

/* A new namespace, entered, with its descriptor and an rtnetlink socket. */
static int new_namespace(int *ns, int *nl)
{
	if (unshare(CLONE_NEWNET))
		return -errno;
	*ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (*ns < 0)
		return -errno;
	*nl = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	return *nl < 0 ? -errno : 0;
}

static int add_veth(struct lab *lab)
{
	struct rtattr *info, *data, *peer;
	struct ifinfomsg link = {};
	struct request req;

	start(&req, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(req.link));
	put(&req, IFLA_IFNAME, "tx0", 4);
	put(&req, IFLA_ADDRESS, tx_mac, sizeof(tx_mac));
	info = put(&req, IFLA_LINKINFO, NULL, 0);
	put(&req, IFLA_INFO_KIND, "veth", 4);
	data = put(&req, IFLA_INFO_DATA, NULL, 0);
	peer = put(&req, VETH_INFO_PEER, &link, sizeof(link));
	put(&req, IFLA_IFNAME, "rx0", 4);
	put(&req, IFLA_ADDRESS, rx_mac, sizeof(rx_mac));
	put(&req, IFLA_NET_NS_FD, &lab->rx_ns, sizeof(lab->rx_ns));
	end(&req, peer);
	end(&req, data);
	end(&req, info);
	return talk(lab->tx_nl, &req);
}

static int set_up(int nl, int ifindex)
{
	struct request req;

	start(&req, RTM_NEWLINK, 0, sizeof(req.link));
	req.link.ifi_index = ifindex;
	req.link.ifi_flags = IFF_UP;
	req.link.ifi_change = IFF_UP;
	return talk(nl, &req);
}

static int add_address(int nl, int ifindex, __u32 addr)
{
	__u32 net_order = __builtin_bswap32(addr);
	struct request req;

	start(&req, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof(req.addr));
	req.addr.ifa_family = AF_INET;
	req.addr.ifa_prefixlen = 24;
	req.addr.ifa_index = ifindex;
	put(&req, IFA_LOCAL, &net_order, sizeof(net_order));
	return talk(nl, &req);
}

/* A permanent neighbour: no test waits for ARP, or fails for the lack of it. */
static int add_neighbour(int nl, int ifindex, __u32 addr, const __u8 *mac)
{
	__u32 net_order = __builtin_bswap32(addr);
	struct request req;

	start(&req, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE,
	      sizeof(req.neigh));
	req.neigh.ndm_family = AF_INET;
	req.neigh.ndm_ifindex = ifindex;
	req.neigh.ndm_state = NUD_PERMANENT;
	put(&req, NDA_DST, &net_order, sizeof(net_order));
	put(&req, NDA_LLADDR, mac, 6);
	return talk(nl, &req);
}

/* The calling thread must be in the device's namespace. */
static int set_feature(const char *name, __u32 cmd, bool on)
{
	struct ethtool_value value = { .cmd = cmd, .data = on };
	struct ifreq ifr = {};
	int sock, err = 0;

	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_data = (void *)&value;
	if (ioctl(sock, SIOCETHTOOL, &ifr))
		err = -errno;
	close(sock);
	return err;
}

int lab_set_rx_gro(struct lab *lab, bool on)
{
	int err = lab_enter(lab->rx_ns);

	return err ? err : set_feature("rx0", ETHTOOL_SGRO, on);
}

static int set_up_tx(struct lab *lab)
{
	int err = lab_enter(lab->tx_ns);

	if (err)
		return err;
	lab->tx_ifindex = if_nametoindex("tx0");
	if (!lab->tx_ifindex)
		return -errno;
	err = set_feature("tx0", ETHTOOL_STSO, false);
	if (!err)
		err = set_feature("tx0", ETHTOOL_SGSO, false);
	if (!err)
		err = set_feature("tx0", ETHTOOL_STXCSUM, false);
	if (!err)
		err = add_address(lab->tx_nl, lab->tx_ifindex, LAB_TX_ADDR);
	if (!err)
		err = set_up(lab->tx_nl, lab->tx_ifindex);
	if (!err)
		err = add_neighbour(lab->tx_nl, lab->tx_ifindex, LAB_RX_ADDR,
				    rx_mac);
	return err;
}

static int set_up_rx(struct lab *lab)
{
	int err = lab_enter(lab->rx_ns);

	if (err)
		return err;
	lab->rx_ifindex = if_nametoindex("rx0");
	if (!lab->rx_ifindex)
		return -errno;
	err = set_feature("rx0", ETHTOOL_SGRO, true);
	if (!err)
		err = add_address(lab->rx_nl, lab->rx_ifindex, LAB_RX_ADDR);
	if (!err)
		err = set_up(lab->rx_nl, lab->rx_ifindex);
	if (!err)
		err = add_neighbour(lab->rx_nl, lab->rx_ifindex, LAB_TX_ADDR,
				    tx_mac);
	return err;
}

int lab_open(struct lab *lab)
{
	int err;

	*lab = (struct lab){ -1, -1, -1, -1, 0, 0, 0 };
	err = new_namespace(&lab->rx_ns, &lab->rx_nl);
	if (!err)
		err = new_namespace(&lab->tx_ns, &lab->tx_nl);
	if (!err)
		err = add_veth(lab);
	if (!err)
		err = set_up_tx(lab);
	if (!err)
		err = set_up_rx(lab);
	return err;
}

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void lab_abandon_rx(struct lab *lab)
{
	lab_enter(lab->tx_ns);
	drop(&lab->rx_nl);
	drop(&lab->rx_ns);
}

void lab_close(struct lab *lab)
{
	/* The last reference to the namespaces is this thread's own. */
	drop(&lab->rx_nl);
	drop(&lab->tx_nl);
	drop(&lab->rx_ns);
	drop(&lab->tx_ns);
	unshare(CLONE_NEWNET);
}

bool lab_has_link(struct lab *lab)
{
	return !lab_enter(lab->tx_ns) && if_nametoindex("tx0");
}

static int set_xdp(struct lab *lab, int prog_fd, __u32 mode)
{
	struct rtattr *xdp;
	struct request req;

	start(&req, RTM_SETLINK, 0, sizeof(req.link));
	req.link.ifi_index = lab->rx_ifindex;
	xdp = put(&req, IFLA_XDP | NLA_F_NESTED, NULL, 0);
	put(&req, IFLA_XDP_FD, &prog_fd, sizeof(prog_fd));
	put(&req, IFLA_XDP_FLAGS, &mode, sizeof(mode));
	end(&req, xdp);
	return talk(lab->rx_nl, &req);
}

int lab_detach_xdp(struct lab *lab)
{
	int err;

	if (!lab->xdp_mode)
		return 0;
	err = set_xdp(lab, -1, lab->xdp_mode);
	if (!err)
		lab->xdp_mode = 0;
	return err;
}

int lab_attach_xdp(struct lab *lab, int prog_fd, __u32 mode)
{
	int err = lab_detach_xdp(lab);

	if (!err)
		err = set_xdp(lab, prog_fd, mode);
	if (!err)
		lab->xdp_mode = mode;
	return err;
}

/*
 * Both SNMP files give a line of names, then a line of numbers, each line led by
 * a group's name: the value is found by the position of its name.
 */
static int read_counter(const char *path, const char *group, const char *name,
			__u64 *value)
{
	char names[4096], numbers[4096], *n, *v, *np, *vp;
	FILE *file = fopen(path, "re");
	int err = -ENOENT;

	if (!file)
		return -errno;
	while (err && fgets(names, sizeof(names), file) &&
	       fgets(numbers, sizeof(numbers), file)) {
		if (strncmp(names, group, strlen(group)))
			continue;
		n = strtok_r(names, "\n ", &np);
		v = strtok_r(numbers, "\n ", &vp);
		while (n && v && strcmp(n, name)) {
			n = strtok_r(NULL, "\n ", &np);
			v = strtok_r(NULL, "\n ", &vp);
		}
		if (n && v) {
			*value = strtoull(v, NULL, 10);
			err = 0;
		}
	}
	fclose(file);
	return err;
}

int lab_read_counters(struct lab *lab, struct ip_counters *counters)
{
	int err = lab_enter(lab->rx_ns);

	if (!err)
		err = read_counter("/proc/thread-self/net/netstat", "IpExt:",
				   "InNoECTPkts", &counters->wire);
	if (!err)
		err = read_counter("/proc/thread-self/net/snmp", "Ip:",
				   "InReceives", &counters->skbs);
	return err;
}
