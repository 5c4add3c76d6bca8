// SPDX-License-Identifier: GPL-2.0
/* Who is on this host. */
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

bool tmn_is_local(const struct tmn_crossing *crossing)
{
	if (!crossing->is_ipv6)
		return inet_addr_type(crossing->net, ipv4(crossing->destination)) == RTN_LOCAL;
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
