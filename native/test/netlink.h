/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Generic netlink to the module for programs of tests, on the system calls alone. One thread. */
#ifndef TAMANOIR_TEST_NETLINK_H
#define TAMANOIR_TEST_NETLINK_H

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tamanoir_abi.h"

#define MESSAGE_OCTETS 8192
#define ANSWER_LIMIT_S 20

struct message {
	struct nlmsghdr head;
	struct genlmsghdr genl;
	char attributes[MESSAGE_OCTETS - NLMSG_HDRLEN - GENL_HDRLEN];
};

/* What came back: the attributes of an answer, and why the module refused. */
struct answer {
	char octets[MESSAGE_OCTETS];
	struct nlattr *attribute[TMN_A_MAX + 1];
	char why[256];
};

static inline void begin(struct message *m, uint16_t family, uint8_t command)
{
	m->head = (struct nlmsghdr) {
		.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN,
		.nlmsg_type = family,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	};
	m->genl = (struct genlmsghdr) { .cmd = command, .version = 1 };
}

/* False if it does not fit. */
static inline bool put(struct message *m, uint16_t type, const void *value, size_t octets)
{
	struct nlattr *a = (struct nlattr *)((char *)m + NLMSG_ALIGN(m->head.nlmsg_len));

	if (NLMSG_ALIGN(m->head.nlmsg_len) + NLA_HDRLEN + NLA_ALIGN(octets) > sizeof(*m))
		return false;
	a->nla_type = type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + octets);
	memset((char *)a + NLA_HDRLEN, 0, NLA_ALIGN(octets));
	memcpy((char *)a + NLA_HDRLEN, value, octets);
	m->head.nlmsg_len = NLMSG_ALIGN(m->head.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return true;
}

static inline bool put_u32(struct message *m, uint16_t type, uint32_t value)
{
	return put(m, type, &value, sizeof(value));
}

static inline void *value_of(struct nlattr *a)
{
	return (char *)a + NLA_HDRLEN;
}

/* Walks attributes, which must lie within size octets; keeps those up to max. */
static inline void walk(void *from, size_t size, struct nlattr **table, unsigned int max)
{
	struct nlattr *a = from;

	while (size >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN && a->nla_len <= size) {
		unsigned int type = a->nla_type & NLA_TYPE_MASK;

		if (type <= max)
			table[type] = a;
		if ((size_t)NLA_ALIGN(a->nla_len) >= size)
			break;
		size -= NLA_ALIGN(a->nla_len);
		a = (struct nlattr *)((char *)a + NLA_ALIGN(a->nla_len));
	}
}

static inline int netlink_open(void)
{
	struct sockaddr_nl self = { .nl_family = AF_NETLINK };
	struct timeval limit = { .tv_sec = ANSWER_LIMIT_S };
	int one = 1, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (bind(fd, (struct sockaddr *)&self, sizeof(self)) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	return fd;
}

/* Sends a message and reads up to its acknowledgement; 0 or -errno, of the module or of the socket. */
static inline int transact(int fd, struct message *m, struct answer *to)
{
	static uint32_t sequence;

	memset(to->attribute, 0, sizeof(to->attribute));
	to->why[0] = 0;
	m->head.nlmsg_seq = ++sequence;
	if (send(fd, m, m->head.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		static char octets[MESSAGE_OCTETS];
		struct nlmsghdr *head = (struct nlmsghdr *)octets;
		ssize_t length = recv(fd, octets, sizeof(octets), 0);

		if (length < 0)
			return -errno;
		if (length < (ssize_t)sizeof(*head) || head->nlmsg_seq != sequence)
			continue;
		if (head->nlmsg_type == NLMSG_ERROR) {
			struct nlmsgerr *e = NLMSG_DATA(head);

			if (head->nlmsg_flags & NLM_F_ACK_TLVS) {
				struct nlattr *a[NLMSGERR_ATTR_MSG + 1] = { 0 };
				size_t skip = NLMSG_HDRLEN + sizeof(*e);

				if (!(head->nlmsg_flags & NLM_F_CAPPED))
					skip += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
				if (skip < (size_t)length)
					walk(octets + skip, (size_t)length - skip, a,
					     NLMSGERR_ATTR_MSG);
				if (a[NLMSGERR_ATTR_MSG])
					snprintf(to->why, sizeof(to->why), "%s",
						 (char *)value_of(a[NLMSGERR_ATTR_MSG]));
			}
			return e->error;
		}
		memcpy(to->octets, octets, (size_t)length);
		if (length > (ssize_t)(NLMSG_HDRLEN + GENL_HDRLEN))
			walk(to->octets + NLMSG_HDRLEN + GENL_HDRLEN,
			     (size_t)length - NLMSG_HDRLEN - GENL_HDRLEN, to->attribute,
			     TMN_A_MAX);
	}
}

/* The number of the module's family, or -errno: -ENOENT where the module is not loaded. */
static inline int netlink_family(int fd)
{
	static struct message m;
	static struct answer to;
	struct nlattr *id;
	int error;

	begin(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	put(&m, CTRL_ATTR_FAMILY_NAME, TMN_GENL_NAME, sizeof(TMN_GENL_NAME));
	error = transact(fd, &m, &to);
	if (error)
		return error;
	id = to.attribute[CTRL_ATTR_FAMILY_ID]; /* 1: within TMN_A_MAX */
	return id ? *(uint16_t *)value_of(id) : -ENOENT;
}

#endif
