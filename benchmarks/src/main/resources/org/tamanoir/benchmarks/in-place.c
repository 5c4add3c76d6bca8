// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Forwards ANEP packets for one service from where they were read: what a forwarder that looks at each packet costs at
 * least. A peer of the comparison; it does no more than the comparison needs.
 *
 *   in-place tcp PORT SINK-PORT SERVICE-KEY-HEX    one thread a stream; the way back carries what comes after the
 *                                                  stream's end, and the end
 *   in-place udp PORT SINK-PORT SERVICE-KEY-HEX    one thread; datagrams that came joined (UDP_GRO) or are of equal
 *                                                  length leave joined (UDP_SEGMENT)
 *
 * Both ports are of 127.0.0.1. A stream with a packet that is broken or for another service is reset, such a datagram
 * dropped. Errors are one line on standard error.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define BASIC_HEADER_BYTES 8
#define VERSION 1
#define SERVICE_KEY 0x8001 /* the private option 1 */
#define DISCARD_IF_UNKNOWN 0x4000 /* a flag in an option's type */
#define KEY_BYTES 8
#define LARGEST_PACKET_BYTES 65536

#define READ_BYTES (256 * 1024)
#define STACK_BYTES (READ_BYTES + LARGEST_PACKET_BYTES + 64 * 1024)
#define MAX_STREAMS 20100
#define BACKLOG 4096

#define MESSAGES 64
#define MESSAGE_BYTES 65536
/* Not a power of two, so that the beginnings of messages do not share cache sets. */
#define SLOT_BYTES (MESSAGE_BYTES + 17 * 64)
#define MAX_DATAGRAM_BYTES 65507
#define MAX_PIECES 1024
#define UDP_BUFFER_BYTES (4 << 20)

#define NOT_WHOLE 0
#define BROKEN -1
#define OTHER_SERVICE -2

static uint8_t key[KEY_BYTES];
static unsigned int max_segments; /* of one message that is sent: UDP_MAX_SEGMENTS */
static struct sockaddr_in sink;
static atomic_int streams;

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	fprintf(stderr, "in-place: ");
	vfprintf(stderr, format, values);
	fprintf(stderr, "\n");
	exit(1);
}

static unsigned int be16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

/* The length of the packet here in bytes, or NOT_WHOLE, BROKEN, OTHER_SERVICE. */
static inline long check(const uint8_t *packet, size_t bytes)
{
	unsigned int header, length, at, words;

	if (bytes < BASIC_HEADER_BYTES)
		return NOT_WHOLE;
	header = be16(packet + 4) * 4;
	length = be16(packet + 6);
	if (packet[0] != VERSION || header < BASIC_HEADER_BYTES || header > length)
		return BROKEN;
	if (length > bytes)
		return NOT_WHOLE;
	for (at = BASIC_HEADER_BYTES; at < header; at += words * 4) {
		words = be16(packet + at + 2);
		if (words == 0 || at + words * 4 > header)
			return BROKEN;
		if ((be16(packet + at) & ~DISCARD_IF_UNKNOWN) == SERVICE_KEY && words == 1 + KEY_BYTES / 4)
			return memcmp(packet + at + 4, key, KEY_BYTES) ? OTHER_SERVICE : (long)length;
	}
	return OTHER_SERVICE;
}

static const char *reason(long checked)
{
	return checked == BROKEN ? "is no ANEP packet" : "is for another service";
}

static int write_all(int to, const uint8_t *bytes, size_t count)
{
	while (count > 0) {
		ssize_t written = send(to, bytes, count, MSG_NOSIGNAL);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		bytes += written;
		count -= written;
	}
	return 0;
}

static ssize_t read_some(int from, uint8_t *to, size_t room)
{
	ssize_t bytes;

	do
		bytes = recv(from, to, room, 0);
	while (bytes < 0 && errno == EINTR);
	return bytes;
}

/* Passes whole packets on to the end of the stream; -1 if it broke. */
static int forward(int from, int to, uint8_t *buffer)
{
	uint8_t *base = buffer + LARGEST_PACKET_BYTES; /* before it: the beginning of a packet that is not whole yet */
	uint8_t *start = base, *at, *end;
	ssize_t bytes;

	while ((bytes = read_some(from, base, READ_BYTES)) > 0) {
		long length;

		end = base + bytes;
		for (at = start; (length = check(at, end - at)) > 0; at += length)
			;
		if (at > start && write_all(to, start, at - start))
			return -1;
		if (length < 0) {
			fprintf(stderr, "in-place: a stream is reset: what begins %02x%02x%02x%02x %s\n", at[0], at[1], at[2],
				at[3], reason(length));
			return -1;
		}
		start = base - (end - at);
		memmove(start, at, end - at);
	}
	if (bytes == 0 && start < base)
		fprintf(stderr, "in-place: a stream is reset: it ended %td bytes into a packet\n", base - start);
	return bytes < 0 || start < base ? -1 : 0;
}

static void set(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof(value));
}

static void carry(int in)
{
	uint8_t buffer[LARGEST_PACKET_BYTES + READ_BYTES];
	struct linger reset = { .l_onoff = 1 };
	int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ssize_t bytes = -1;

	if (out < 0 || connect(out, (struct sockaddr *)&sink, sizeof(sink))) {
		fprintf(stderr, "in-place: a stream is reset: port %d: %s\n", ntohs(sink.sin_port), strerror(errno));
	} else {
		set(in, IPPROTO_TCP, TCP_NODELAY, 1);
		set(out, IPPROTO_TCP, TCP_NODELAY, 1);
		if (forward(in, out, buffer) == 0) {
			shutdown(out, SHUT_WR);
			while ((bytes = read_some(out, buffer, READ_BYTES)) > 0 && write_all(in, buffer, bytes) == 0)
				;
		}
	}
	if (bytes != 0) {
		setsockopt(in, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		setsockopt(out, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	}
	close(in);
	close(out);
}

static void *stream(void *in)
{
	carry((int)(intptr_t)in);
	atomic_fetch_sub(&streams, 1);
	return NULL;
}

static void tcp(int server)
{
	pthread_attr_t attributes;
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (listen(server, BACKLOG))
		die("listen: %s", strerror(errno));
	for (;;) {
		pthread_t thread;
		int in = accept4(server, NULL, NULL, SOCK_CLOEXEC), error;

		if (in < 0) {
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			die("accept: %s with %d streams open; the limit of descriptors is %lu", strerror(errno), streams,
			    (unsigned long)files.rlim_cur);
		}
		if (atomic_fetch_add(&streams, 1) >= MAX_STREAMS)
			die("more than %d streams at once", MAX_STREAMS);
		error = pthread_create(&thread, &attributes, stream, (void *)(intptr_t)in);
		if (error)
			die("a thread for stream %d: %s", streams, strerror(error));
	}
}

/* What leaves with the next call: runs of datagrams of equal length, each a message of pieces that lie apart. */
static struct {
	struct mmsghdr messages[MESSAGES];
	struct iovec pieces[MAX_PIECES];
	union {
		char bytes[CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr alignment;
	} control[MESSAGES];
	unsigned int segments[MESSAGES]; /* datagrams of a message */
	size_t length; /* of each datagram of the last message */
	int count, used;
} leaving;

static void flush(int out)
{
	int sent = 0;

	for (int i = 0; i < leaving.count; i++) {
		struct msghdr *message = &leaving.messages[i].msg_hdr;

		/* One datagram alone needs no length, and may be longer than UDP_SEGMENT allows. */
		if (leaving.segments[i] == 1)
			message->msg_controllen = 0;
	}
	while (sent < leaving.count) {
		int now = sendmmsg(out, leaving.messages + sent, leaving.count - sent, 0);

		if (now > 0)
			sent += now;
		else if (errno == ECONNREFUSED || errno == ENOBUFS)
			sent++; /* lost: the sink was not there a moment ago, or the kernel has no memory */
		else if (errno != EINTR)
			die("sendmmsg: %s", strerror(errno));
	}
	leaving.count = 0;
	leaving.used = 0;
}

static void begin_message(size_t length)
{
	struct msghdr *message = &leaving.messages[leaving.count].msg_hdr;
	struct cmsghdr *control = &leaving.control[leaving.count].alignment;

	memset(message, 0, sizeof(*message));
	message->msg_iov = &leaving.pieces[leaving.used];
	message->msg_control = control;
	message->msg_controllen = sizeof(leaving.control[0].bytes);
	control->cmsg_level = IPPROTO_UDP;
	control->cmsg_type = UDP_SEGMENT;
	control->cmsg_len = CMSG_LEN(sizeof(uint16_t));
	memcpy(CMSG_DATA(control), &(uint16_t){ length }, sizeof(uint16_t));
	leaving.segments[leaving.count] = 0;
	leaving.length = length;
	leaving.count++;
}

static void add(int out, uint8_t *datagram, size_t length)
{
	unsigned int segments = leaving.count ? leaving.segments[leaving.count - 1] : 0;
	struct msghdr *message;
	struct iovec *next;

	if (leaving.used == MAX_PIECES)
		flush(out);
	if (leaving.count == 0 || leaving.length != length || segments == max_segments ||
	    (segments + 1) * length > MAX_DATAGRAM_BYTES) {
		if (leaving.count == MESSAGES)
			flush(out);
		begin_message(length);
	}
	message = &leaving.messages[leaving.count - 1].msg_hdr;
	next = message->msg_iov + message->msg_iovlen;
	if (message->msg_iovlen && (uint8_t *)next[-1].iov_base + next[-1].iov_len == datagram) {
		next[-1].iov_len += length;
	} else {
		*next = (struct iovec){ datagram, length };
		message->msg_iovlen++;
		leaving.used++;
	}
	leaving.segments[leaving.count - 1]++;
}

/* The length of each datagram of a message but the last, which may be shorter. */
static size_t segment_bytes(struct mmsghdr *message)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(&message->msg_hdr);
	int bytes;

	if (!control || control->cmsg_level != IPPROTO_UDP || control->cmsg_type != UDP_GRO)
		return message->msg_len;
	memcpy(&bytes, CMSG_DATA(control), sizeof(bytes));
	return bytes;
}

static void udp(int in)
{
	static struct mmsghdr messages[MESSAGES];
	static struct iovec slots[MESSAGES];
	static union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr alignment;
	} control[MESSAGES];
	uint8_t *memory = malloc((size_t)MESSAGES * SLOT_BYTES);
	int out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int told = 0;

	if (!memory || out < 0 || connect(out, (struct sockaddr *)&sink, sizeof(sink)))
		die("port %d: %s", ntohs(sink.sin_port), strerror(errno));
	set(in, IPPROTO_UDP, UDP_GRO, 1);
	set(in, SOL_SOCKET, SO_RCVBUF, UDP_BUFFER_BYTES);
	set(in, SOL_SOCKET, SO_RCVBUFFORCE, UDP_BUFFER_BYTES);
	set(out, SOL_SOCKET, SO_SNDBUF, UDP_BUFFER_BYTES);
	set(out, SOL_SOCKET, SO_SNDBUFFORCE, UDP_BUFFER_BYTES);
	for (int i = 0; i < MESSAGES; i++) {
		slots[i] = (struct iovec){ memory + (size_t)i * SLOT_BYTES, MESSAGE_BYTES };
		messages[i].msg_hdr.msg_iov = &slots[i];
		messages[i].msg_hdr.msg_iovlen = 1;
		messages[i].msg_hdr.msg_control = &control[i];
	}
	for (;;) {
		int count;

		for (int i = 0; i < MESSAGES; i++)
			messages[i].msg_hdr.msg_controllen = sizeof(control[i].bytes);
		count = recvmmsg(in, messages, MESSAGES, MSG_WAITFORONE, NULL);
		if (count < 0 && errno != EINTR)
			die("recvmmsg: %s", strerror(errno));
		for (int i = 0; i < count; i++) {
			uint8_t *at = slots[i].iov_base, *end = at + messages[i].msg_len;
			size_t each = segment_bytes(&messages[i]);

			while (at < end) {
				size_t length = (size_t)(end - at) < each ? (size_t)(end - at) : each;
				long checked = check(at, length);

				if (checked > 0)
					add(out, at, length);
				else if (!told++)
					fprintf(stderr, "in-place: a datagram of %zu bytes %s, and is dropped as all such are\n",
						length, reason(checked == NOT_WHOLE ? BROKEN : checked));
				at += length;
			}
		}
		flush(out);
	}
}

static struct sockaddr_in loopback(const char *port)
{
	char *end;
	unsigned long number = strtoul(port, &end, 10);

	if (*end || number < 1 || number > 65535)
		die("port %s: 1 to 65535", port);
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(number),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void read_key(const char *hex)
{
	if (strlen(hex) != 2 * KEY_BYTES || strspn(hex, "0123456789abcdefABCDEF") != 2 * KEY_BYTES)
		die("service key %s: %d hexadecimal digits", hex, 2 * KEY_BYTES);
	for (int i = 0; i < KEY_BYTES; i++)
		sscanf(hex + 2 * i, "%2hhx", &key[i]);
}

static unsigned int kernel_segments(void)
{
	struct utsname kernel;
	int major, minor;

	if (uname(&kernel) || sscanf(kernel.release, "%d.%d", &major, &minor) != 2)
		return 64;
	return major > 6 || (major == 6 && minor >= 9) ? 128 : 64;
}

int main(int count, char **words)
{
	struct sockaddr_in local;
	int is_tcp, server;

	if (count != 5 || (strcmp(words[1], "tcp") && strcmp(words[1], "udp")))
		die("usage: in-place tcp|udp PORT SINK-PORT SERVICE-KEY-HEX");
	is_tcp = !strcmp(words[1], "tcp");
	local = loopback(words[2]);
	sink = loopback(words[3]);
	read_key(words[4]);
	max_segments = kernel_segments();
	server = socket(AF_INET, (is_tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
	set(server, SOL_SOCKET, SO_REUSEADDR, is_tcp);
	if (server < 0 || bind(server, (struct sockaddr *)&local, sizeof(local)))
		die("port %s: %s", words[2], strerror(errno));
	if (is_tcp)
		tcp(server);
	else
		udp(server);
}
