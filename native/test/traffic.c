// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Sends, takes and relays UDP datagrams for tests. One line of standard input is a command, one line of standard output
 * an answer; where datagrams are shown they have lines of their own.
 *
 *   traffic send ADDRESS PORT      "HEX [split=OCTETS] [paged]": sends one; split: what is behind OCTETS lies in another
 *                                  page of the kernel's buffer; paged: all of it. "ok"
 *   traffic flood ADDRESS PORT     "COUNT HEX [sequence=OFFSET] [from=N] [gap=NS]": sends COUNT as fast as it can, or
 *                                  with a gap; their numbers, from 1 or N, as 8 octets at OFFSET. "ok ns="
 *   traffic show PORT              each that comes in: "SOURCE PORT mark=MARK ttl=TTL HEX"
 *   traffic count PORT [OFFSET]    "report": "ok received= missing= disordered=", by the 8 octets at OFFSET, and begins
 *                                  anew; "quiet MS": waits until none has come in for MS first
 *   traffic relay PORT             as a node: sends each on to where it was going, and then, for those with a mark,
 *                                  prints "settled SLOT SUM". IPv4
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tamanoir_abi.h"

#define DATAGRAM_OCTETS 65536
#define BATCH 64
#define BUFFER_OCTETS (16 << 20)

#ifndef SO_RCVMARK
#define SO_RCVMARK 75
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

static char *line;
static size_t line_size;

static void die(const char *what)
{
	printf("error %s %s\n", strerrorname_np(errno), what);
	exit(1);
}

static bool next_line(void)
{
	if (getline(&line, &line_size, stdin) <= 0)
		return false;
	line[strcspn(line, "\n")] = 0;
	return true;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static size_t octets_of(const char *hex, uint8_t *to)
{
	size_t n = 0;

	while (n < DATAGRAM_OCTETS && sscanf(hex + 2 * n, "%2hhx", &to[n]) == 1)
		n++;
	return n;
}

/* The number behind NAME= in the line, or otherwise. */
static long option(const char *name, long otherwise)
{
	const char *at = strstr(line, name);

	return at ? strtol(at + strlen(name), NULL, 0) : otherwise;
}

static int connected(const char *address, const char *port)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1;
	int none = IP_PMTUDISC_DONT, size = BUFFER_OCTETS;
	int fd = socket(is_four ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (!is_four && inet_pton(AF_INET6, address, &six.sin6_addr) != 1)
		errno = EINVAL, die(address);
	if (fd < 0 || connect(fd, is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six,
			      is_four ? sizeof(four) : sizeof(six)))
		die("connect");
	if (is_four)
		setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &none, sizeof(none));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	return fd;
}

/* Takes datagrams of both families, and says of each where it was going, its mark and its hops. */
static int bound(const char *port, bool four_only)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	int one = 1, size = BUFFER_OCTETS;
	int fd = socket(four_only ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_RCVMARK, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IP, IP_RECVTTL, &one, sizeof(one));
	if (fd < 0 || bind(fd, four_only ? (struct sockaddr *)&four : (struct sockaddr *)&six,
			   four_only ? sizeof(four) : sizeof(six)))
		die("bind");
	puts("ok");
	return fd;
}

struct arrival {
	uint8_t octets[DATAGRAM_OCTETS];
	size_t length;
	char source[INET6_ADDRSTRLEN];
	struct sockaddr_storage from;
	struct in_addr to;
	uint32_t mark;
	int ttl;
};

static bool take(int fd, struct arrival *a)
{
	char controls[256];
	struct iovec io = { a->octets, sizeof(a->octets) };
	struct msghdr m = {
		.msg_name = &a->from,
		.msg_namelen = sizeof(a->from),
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = controls,
		.msg_controllen = sizeof(controls),
	};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);

	if (n < 0)
		return false;
	a->length = (size_t)n;
	a->mark = 0;
	a->ttl = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_MARK)
			memcpy(&a->mark, CMSG_DATA(c), sizeof(a->mark));
		else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL)
			memcpy(&a->ttl, CMSG_DATA(c), sizeof(a->ttl));
		else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO)
			a->to = ((struct in_pktinfo *)CMSG_DATA(c))->ipi_addr;
	}
	if (a->from.ss_family == AF_INET6)
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&a->from)->sin6_addr, a->source,
			  sizeof(a->source));
	else
		inet_ntop(AF_INET, &((struct sockaddr_in *)&a->from)->sin_addr, a->source,
			  sizeof(a->source));
	return true;
}

/* Waits for input or the socket; false at the end of the input. */
static bool wait_for(int fd, int timeout_ms, bool *input)
{
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = 0, .events = POLLIN } };

	poll(p, 2, timeout_ms);
	*input = p[1].revents;
	return !(p[1].revents & POLLHUP) || (p[1].revents & POLLIN);
}

static void send_lines(int fd)
{
	static uint8_t octets[DATAGRAM_OCTETS];

	while (next_line()) {
		size_t length = octets_of(line, octets), split = (size_t)option("split=", 0);
		int segment = strstr(line, "paged") ? 65000 : 0;

		/* A datagram of one segment at most is none that the kernel cuts, but lies in pages. */
		setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment));
		if (split && split < length) {
			if (send(fd, octets, split, MSG_MORE) < 0 ||
			    send(fd, octets + split, length - split, 0) < 0)
				die("send in two parts");
		} else if (send(fd, octets, length, 0) < 0) {
			if (errno != ECONNREFUSED || send(fd, octets, length, 0) < 0)
				die("send");
		}
		puts("ok");
	}
}

static void put_number(uint8_t *to, uint64_t number)
{
	for (int i = 7; i >= 0; i--, number >>= 8)
		to[i] = (uint8_t)number;
}

static void flood(int fd)
{
	static uint8_t template[DATAGRAM_OCTETS], octets[BATCH][2048];
	static struct iovec io[BATCH];
	static struct mmsghdr m[BATCH];
	cpu_set_t one;

	/* Datagrams from two processors could overtake each other on the way. */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	while (next_line()) {
		long count = strtol(line, NULL, 0), sequence = option("sequence=", -1);
		long gap_ns = option("gap=", 0), from = option("from=", 1), sent = 0;
		size_t length = octets_of(strchr(line, ' ') + 1, template);
		int64_t begun = now_ns();

		for (int i = 0; i < BATCH; i++) {
			memcpy(octets[i], template, length);
			io[i] = (struct iovec) { octets[i], length };
			m[i].msg_hdr = (struct msghdr) { .msg_iov = &io[i], .msg_iovlen = 1 };
		}
		while (sent < count) {
			int batch = gap_ns ? 1 : BATCH;

			if (batch > count - sent)
				batch = (int)(count - sent);
			for (int i = 0; i < batch && sequence >= 0; i++)
				put_number(octets[i] + sequence, (uint64_t)(from + sent + i));
			batch = sendmmsg(fd, m, (unsigned int)batch, 0);
			if (batch < 0 && errno != ECONNREFUSED && errno != ENOBUFS)
				die("sendmmsg");
			sent += batch < 0 ? 0 : batch;
			while (gap_ns && now_ns() - begun < sent * gap_ns)
				usleep(100);
		}
		printf("ok ns=%lld\n", (long long)(now_ns() - begun));
	}
}

static void show(int fd)
{
	static struct arrival a;
	bool input;

	while (wait_for(fd, -1, &input)) {
		if (input && !next_line())
			return;
		while (take(fd, &a)) {
			printf("%s %u mark=%#x ttl=%d ", a.source,
			       ntohs(((struct sockaddr_in *)&a.from)->sin_port), a.mark, a.ttl);
			for (size_t i = 0; i < a.length; i++)
				printf("%02x", a.octets[i]);
			puts("");
		}
	}
}

static void count(int fd, long offset)
{
	static struct arrival a;
	uint64_t received = 0, last = 0, greatest = 0, disordered = 0;
	bool input;

	for (;;) {
		bool open = wait_for(fd, -1, &input);
		int quiet_ms = 0;

		if (!open || (input && !next_line()))
			return;
		if (input)
			quiet_ms = (int)option("quiet ", 0);
		do {
			while (take(fd, &a)) {
				uint64_t number = 0;

				received++;
				for (long i = 0; offset >= 0 && i < 8; i++)
					number = number << 8 | a.octets[offset + i];
				disordered += number < last;
				last = number;
				greatest = number > greatest ? number : greatest;
			}
		} while (quiet_ms && poll(&(struct pollfd) { .fd = fd, .events = POLLIN }, 1, quiet_ms) > 0);
		if (!input)
			continue;
		printf("ok received=%llu missing=%lld disordered=%llu\n",
		       (unsigned long long)received, offset < 0 ? 0 : (long long)(greatest - received),
		       (unsigned long long)disordered);
		received = last = greatest = disordered = 0;
	}
}

/* Source and destination stay as they were, one hop less. */
static void pass_on(int raw, const struct arrival *a, uint16_t port)
{
	static uint8_t packet[DATAGRAM_OCTETS];
	const struct sockaddr_in *from = (const struct sockaddr_in *)&a->from;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = a->to };
	struct iphdr *ip = (struct iphdr *)packet;
	struct udphdr *udp = (struct udphdr *)(ip + 1);

	*ip = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.ttl = (uint8_t)(a->ttl - 1),
		.protocol = IPPROTO_UDP,
		.saddr = from->sin_addr.s_addr,
		.daddr = a->to.s_addr,
	};
	*udp = (struct udphdr) { /* checksum 0: none */
		.source = from->sin_port,
		.dest = port,
		.len = htons((uint16_t)(sizeof(*udp) + a->length)),
	};
	memcpy(udp + 1, a->octets, a->length);
	if (sendto(raw, packet, sizeof(*ip) + sizeof(*udp) + a->length, 0, (struct sockaddr *)&to,
		   sizeof(to)) < 0)
		die("send on");
}

static void relay(int fd, uint16_t port)
{
	static struct arrival a;
	static uint64_t settled[TMN_MAX_POLICIES];
	int raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW), size = BUFFER_OCTETS;
	bool input;

	if (raw < 0)
		die("raw socket");
	setsockopt(raw, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	while (wait_for(fd, -1, &input)) {
		if (input && !next_line())
			return;
		while (take(fd, &a)) {
			uint32_t slot = a.mark & TMN_MARK_SLOT;

			pass_on(raw, &a, port);
			if ((a.mark & 0xff000000u) == TMN_MARK_BASE && slot < TMN_MAX_POLICIES)
				printf("settled %u %llu\n", slot,
				       (unsigned long long)++settled[slot]);
		}
	}
}

int main(int words, char **word)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (words == 4 && !strcmp(word[1], "send"))
		send_lines(connected(word[2], word[3]));
	else if (words == 4 && !strcmp(word[1], "flood"))
		flood(connected(word[2], word[3]));
	else if (words == 3 && !strcmp(word[1], "show"))
		show(bound(word[2], false));
	else if (words >= 3 && !strcmp(word[1], "count"))
		count(bound(word[2], false), words > 3 ? atol(word[3]) : -1);
	else if (words == 3 && !strcmp(word[1], "relay"))
		relay(bound(word[2], true), htons(atoi(word[2])));
	else
		errno = EINVAL, die("usage: see traffic.c");
	free(line);
	return 0;
}
