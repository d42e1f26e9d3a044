// SPDX-License-Identifier: GPL-2.0-only
/* TCP streams and UDP bursts whose content says whether any byte went amiss. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"
#include "traffic.h"

#define PORT		7777
#define PATIENCE_S	10
#define DATAGRAM	1000	/* bytes */
#define RX_BUFFER	(8 << 20)

/*
 * The content of a stream is a block of noise over and over. Its length is prime,
 * so that a segment lost, doubled or swapped never falls on a whole period.
 */
#define PERIOD		65521

static const __u8 *noise(void)
{
	static __u8 block[2 * PERIOD];
	__u32 x = 2463534242u;
	unsigned int i;

	if (block[0] || block[1])
		return block;
	for (i = 0; i < PERIOD; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		block[i] = x;
		block[i + PERIOD] = x;
	}
	return block;
}

static struct sockaddr_in address(__u32 addr, __u16 port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(addr),
	};
}

static int open_socket(int ns, int type, __u32 bind_addr, __u16 port)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_in sa = address(bind_addr, port);
	int sock, one = 1, err;

	err = lab_enter(ns);
	if (err)
		return err;
	sock = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	if (setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) ||
	    setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience,
		       sizeof(patience)) ||
	    setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(sock, (void *)&sa, sizeof(sa))) {
		err = -errno;
		close(sock);
		return err;
	}
	return sock;
}

static void send_stream(int sock, __u64 bytes)
{
	const __u8 *block = noise();
	__u64 done = 0;

	while (done < bytes) {
		__u64 want = bytes - done < PERIOD ? bytes - done : PERIOD;
		ssize_t n = send(sock, block + done % PERIOD, want,
				 MSG_NOSIGNAL);

		if (n <= 0)
			_exit(1);
		done += n;
	}
	shutdown(sock, SHUT_WR);
	_exit(0);
}

static void receive_stream(int sock, __u64 bytes, struct stream *out)
{
	static __u8 buffer[PERIOD];
	const __u8 *block = noise();
	ssize_t n;

	out->intact = true;
	while ((n = recv(sock, buffer, sizeof(buffer), 0)) > 0) {
		if (memcmp(buffer, block + out->bytes % PERIOD, n))
			out->intact = false;
		out->bytes += n;
	}
	out->complete = n == 0 && out->bytes == bytes;
}

/* Sets up both ends; the receiver's in *rx, the sender's in *tx. */
static int connect_stream(struct lab *lab, int *tx, int *rx)
{
	struct sockaddr_in to = address(LAB_RX_ADDR, PORT);
	int listener, err = 0;

	listener = open_socket(lab->rx_ns, SOCK_STREAM, LAB_RX_ADDR, PORT);
	if (listener < 0)
		return listener;
	if (listen(listener, 1)) {
		err = -errno;
		goto out;
	}
	*tx = open_socket(lab->tx_ns, SOCK_STREAM, LAB_TX_ADDR, 0);
	if (*tx < 0) {
		err = *tx;
		goto out;
	}
	if (connect(*tx, (void *)&to, sizeof(to))) {
		err = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
		close(*tx);
		goto out;
	}
	*rx = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (*rx < 0) {
		err = errno == EAGAIN ? -ETIMEDOUT : -errno;
		close(*tx);
		goto out;
	}
out:
	close(listener);
	return err;
}

int stream_run(struct lab *lab, __u64 bytes, struct stream *out)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int tx = -1, rx = -1, err;
	pid_t sender;

	memset(out, 0, sizeof(*out));
	err = connect_stream(lab, &tx, &rx);
	if (err == -ETIMEDOUT)
		return 0; /* not one segment came through: a result */
	if (err)
		return err;
	if (setsockopt(rx, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)))
		err = -errno;
	sender = err ? -1 : fork();
	if (!sender)
		send_stream(tx, bytes);
	close(tx);
	if (sender > 0) {
		receive_stream(rx, bytes, out);
		kill(sender, SIGKILL);
		waitpid(sender, NULL, 0);
	} else if (!err) {
		err = -errno;
	}
	close(rx);
	return err;
}

int burst_open(struct lab *lab, struct burst *burst)
{
	struct sockaddr_in to = address(LAB_RX_ADDR, PORT);
	int size = RX_BUFFER, err;

	memset(burst, 0, sizeof(*burst));
	burst->rx = open_socket(lab->rx_ns, SOCK_DGRAM, LAB_RX_ADDR, PORT);
	if (burst->rx < 0)
		return burst->rx;
	burst->tx = open_socket(lab->tx_ns, SOCK_DGRAM, LAB_TX_ADDR, 0);
	if (burst->tx < 0) {
		err = burst->tx;
		goto close_rx;
	}
	if (setsockopt(burst->rx, SOL_SOCKET, SO_RCVBUFFORCE, &size,
		       sizeof(size)) ||
	    setsockopt(burst->tx, SOL_SOCKET, SO_SNDBUFFORCE, &size,
		       sizeof(size)) ||
	    connect(burst->tx, (void *)&to, sizeof(to))) {
		err = -errno;
		goto close_tx;
	}
	return 0;

close_tx:
	close(burst->tx);
close_rx:
	close(burst->rx);
	return err;
}

int burst_send(struct burst *burst, unsigned int count)
{
	static __u8 data[BURST_MAX][DATAGRAM];
	static struct mmsghdr msgs[BURST_MAX];
	static struct iovec iov[BURST_MAX];
	unsigned int i, done = 0;
	int n;

	if (count > BURST_MAX)
		return -E2BIG;
	for (i = 0; i < count; i++) {
		__u32 number = burst->next + i;

		memcpy(data[i], &number, sizeof(number));
		memcpy(data[i] + sizeof(number), noise() + number % PERIOD,
		       DATAGRAM - sizeof(number));
		iov[i] = (struct iovec){ data[i], DATAGRAM };
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i],
						   .msg_iovlen = 1 };
	}
	while (done < count) {
		n = sendmmsg(burst->tx, msgs + done, count - done, 0);
		/* An ICMP error of an earlier datagram concerns none of these. */
		if (n < 0 && errno != ECONNREFUSED)
			return -errno;
		if (n > 0)
			done += n;
	}
	burst->first = burst->next;
	burst->next += count;
	burst->count = count;
	burst->missing = count;
	memset(burst->seen, 0, sizeof(burst->seen));
	return 0;
}

int burst_collect(struct burst *burst, unsigned int patience_ms)
{
	struct timeval patience = {
		.tv_sec = patience_ms / 1000,
		.tv_usec = patience_ms % 1000 * 1000,
	};
	int flags = patience_ms ? 0 : MSG_DONTWAIT;
	__u8 data[DATAGRAM + 1];
	__u32 number;
	ssize_t n;

	if (setsockopt(burst->rx, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)))
		return -errno;
	while (burst->missing) {
		n = recv(burst->rx, data, sizeof(data), flags);
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return -errno;
		if (n != DATAGRAM)
			continue;
		memcpy(&number, data, sizeof(number));
		if (memcmp(data + sizeof(number), noise() + number % PERIOD,
			   DATAGRAM - sizeof(number)))
			continue; /* damaged: stays missing */
		number -= burst->first;
		if (number < burst->count && !burst->seen[number]) {
			burst->seen[number] = true;
			burst->missing--;
		}
	}
	return burst->missing;
}

void burst_close(struct burst *burst)
{
	close(burst->tx);
	close(burst->rx);
}
