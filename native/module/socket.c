// SPDX-License-Identifier: GPL-2.0
/* Who is on this host. */
#include <linux/percpu.h>
#include <linux/udp.h>
#include <linux/version.h>
#include <net/addrconf.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/route.h>
#include <net/tcp.h>
#include <net/udp.h>

#include "tamanoir.h"

static __be32 ipv4(const u32 address[4])
{
	return (__force __be32)address[3];
}

static const struct in6_addr *ipv6(const u32 address[4])
{
	return (const struct in6_addr *)address;
}

static struct udp_table *udp_table_of(const struct net *net)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return net->ipv4.udp_table;
#else
	return &udp_table;
#endif
}

/* An argument of TCP's lookups that Linux 6.18 took away. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define TCP_TABLE_OF(net)
#else
#define TCP_TABLE_OF(net) (net)->ipv4.tcp_death_row.hashinfo,
#endif

/*
 * What a processor knows of its last IPv4 destination: whose an address is changes with routes
 * alone, and asking them costs as much as half of all else that a packet costs here.
 */
struct known {
	u64 net_cookie;
	__be32 address;
	int routes;		/* their generation */
	bool is_local;
};

static DEFINE_PER_CPU(struct known, last_known);

static bool is_local_ipv4(struct net *net, __be32 address)
{
	struct known *known = this_cpu_ptr(&last_known);
	int routes = rt_genid_ipv4(net);

	if (known->address != address || known->routes != routes ||
	    known->net_cookie != net->net_cookie) {
		known->is_local = inet_addr_type(net, address) == RTN_LOCAL;
		known->address = address;
		known->routes = routes;
		known->net_cookie = net->net_cookie;
	}
	return known->is_local;
}

bool tmn_is_local(const struct tmn_crossing *crossing)
{
	if (!crossing->is_ipv6)
		return is_local_ipv4(crossing->net, ipv4(crossing->destination));
	return IS_ENABLED(CONFIG_IPV6) &&
	       ipv6_chk_addr(crossing->net, ipv6(crossing->destination), NULL, 0);
}

bool tmn_has_udp_socket(const struct tmn_crossing *crossing)
{
	if (!crossing->is_ipv6)
		return __udp4_lib_lookup(crossing->net, ipv4(crossing->source),
					 crossing->source_port, ipv4(crossing->destination),
					 crossing->destination_port, crossing->in_ifindex, 0,
					 udp_table_of(crossing->net), NULL);
#if IS_ENABLED(CONFIG_IPV6)
	return __udp6_lib_lookup(crossing->net, ipv6(crossing->source), crossing->source_port,
				 ipv6(crossing->destination), crossing->destination_port,
				 crossing->in_ifindex, 0, udp_table_of(crossing->net), NULL);
#else
	return false;
#endif
}

bool tmn_has_listener(const struct tmn_crossing *crossing)
{
	struct net *net = crossing->net;

	if (!crossing->is_ipv6)
		return __inet_lookup_listener(net, TCP_TABLE_OF(net) NULL, 0,
					      ipv4(crossing->source), crossing->source_port,
					      ipv4(crossing->destination),
					      ntohs(crossing->destination_port),
					      crossing->in_ifindex, 0);
#if IS_ENABLED(CONFIG_IPV6)
	return inet6_lookup_listener(net, TCP_TABLE_OF(net) NULL, 0, ipv6(crossing->source),
				     crossing->source_port, ipv6(crossing->destination),
				     ntohs(crossing->destination_port), crossing->in_ifindex, 0);
#else
	return false;
#endif
}

static struct sock *connection(const struct tmn_crossing *crossing)
{
	struct net *net = crossing->net;

	if (!crossing->is_ipv6)
		return __inet_lookup_established(net, TCP_TABLE_OF(net) ipv4(crossing->source),
						 crossing->source_port,
						 ipv4(crossing->destination),
						 ntohs(crossing->destination_port),
						 crossing->in_ifindex, 0);
#if IS_ENABLED(CONFIG_IPV6)
	return __inet6_lookup_established(net, TCP_TABLE_OF(net) ipv6(crossing->source),
					  crossing->source_port, ipv6(crossing->destination),
					  ntohs(crossing->destination_port),
					  crossing->in_ifindex, 0);
#else
	return NULL;
#endif
}

/*
 * Whether a connection between these ends is, begins or just was on this host. One that just was
 * does not hold the next one: policy decides about that anew.
 */
bool tmn_has_connection(const struct tmn_crossing *crossing, bool begins)
{
	struct sock *sk = connection(crossing);
	bool is_there;

	if (!sk)
		return false;
	is_there = !begins || sk->sk_state != TCP_TIME_WAIT;
	sock_gen_put(sk);
	return is_there;
}
