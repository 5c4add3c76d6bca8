// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Sends each datagram that comes in on a port of 127.0.0.1 to receivers there, one system call each: what a reflector
 * without any art costs. A peer of the comparison.
 *
 *   reflect-loop PORT RECEIVER-PORT...
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define MAX_RECEIVERS 4096
#define BUFFER_BYTES (4 << 20)
#define LARGEST_DATAGRAM_BYTES 65536

static struct sockaddr_in receivers[MAX_RECEIVERS];
static char datagram[LARGEST_DATAGRAM_BYTES];

static struct sockaddr_in loopback(const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	return address;
}

static void enlarge(int fd, int forced, int option)
{
	int bytes = BUFFER_BYTES;

	if (setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof(bytes));
}

int main(int argc, char **argv)
{
	int count = argc - 2, fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in local;

	if (count < 1 || count > MAX_RECEIVERS || fd < 0) {
		fprintf(stderr, "reflect-loop PORT RECEIVER-PORT...: 1 to %d receivers\n", MAX_RECEIVERS);
		return 1;
	}
	local = loopback(argv[1]);
	for (int i = 0; i < count; i++)
		receivers[i] = loopback(argv[2 + i]);
	enlarge(fd, SO_RCVBUFFORCE, SO_RCVBUF);
	enlarge(fd, SO_SNDBUFFORCE, SO_SNDBUF);
	if (bind(fd, (struct sockaddr *)&local, sizeof(local))) {
		perror("reflect-loop: bind");
		return 1;
	}
	for (;;) {
		ssize_t bytes = recvfrom(fd, datagram, sizeof(datagram), 0, NULL, NULL);

		for (int i = 0; bytes >= 0 && i < count; i++)
			sendto(fd, datagram, bytes, 0, (struct sockaddr *)&receivers[i], sizeof(receivers[i]));
	}
}
