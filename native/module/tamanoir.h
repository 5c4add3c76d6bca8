/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netfilter module, inside. A namespace (tmn_net) holds nodes; a node (tmn_node) is what one
 * generic-netlink socket has attached: its hook and its policies, and it ends with the socket.
 *
 *   packet path   hook.c -> udp.c or tcp.c -> table.c: softirq, under RCU, no lock, no allocation
 *   control path  netlink.c -> check.c -> node.c, table.c: process context, under tmn_net.lock
 */
#ifndef TAMANOIR_H
#define TAMANOIR_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/net_namespace.h>

#include "tamanoir_policy.h"

#ifndef CONFIG_64BIT
#error "counters are 64-bit words that are read and written whole: needs a 64-bit kernel"
#endif

#define TMN_MODULE_VERSION "0.1.0"

/* For what is written before it is read: kernels may else fill it with zeros for each packet. */
#if __has_attribute(uninitialized)
#define TMN_UNFILLED __attribute__((uninitialized))
#else
#define TMN_UNFILLED
#endif

#define TMN_FLOW_BITS 13
#define TMN_SERVICE_BITS 10
#define TMN_PORT_BITS 9 /* twice the ports of all nodes, so that a search soon meets a gap */

/* State and counters of a slot, from the first policy that has it until one has it anew. */
struct tmn_tally {
	atomic64_t seen;
	atomic64_t up;
	u64 settled;		/* written by the node alone */
	u32 users;		/* policies; under tmn_net.lock */
	struct tmn_counters __percpu *counters;
	struct rcu_head rcu;
};

/* A policy in the table; never changed, but replaced. */
struct tmn_entry {
	struct hlist_node link;
	struct tmn_tally *tally;
	struct tmn_flow flow __aligned(8);
	struct tmn_policy policy;
	struct rcu_head rcu;
};

/* A service key that has policies. */
struct tmn_service {
	struct hlist_node link;
	u64 key;
	u32 wilds;		/* bit w: there are policies with wild == w */
	u32 policies[TMN_WILDS]; /* how many; under tmn_net.lock */
	struct tmn_entry __rcu *any; /* of UDP, with all wild: most services have no other */
	struct rcu_head rcu;
};

struct tmn_mets {
	u64 of[TMN_MET_COUNT];
};

/* A node's hook; never changed, but replaced. */
struct tmn_sight {
	struct tmn_hook hook;
	struct rcu_head rcu;
};

/* All but what RCU guards is under tmn_net.lock. */
struct tmn_node {
	struct tmn_sight __rcu *sight;
	struct tmn_mets __percpu *mets;
	struct hlist_head *flows;	/* 1 << TMN_FLOW_BITS of tmn_entry */
	struct hlist_head *services;	/* 1 << TMN_SERVICE_BITS of tmn_service */
	u64 seed;
	u32 portid;
	u32 policy_count;
	u32 service_count;
	struct tmn_tally **tallies;	/* TMN_MAX_POLICIES, by slot */
	struct list_head link;
};

/* Which node a port belongs to: open addressing, a port of 0 is a gap. */
struct tmn_port {
	__be16 port;
	struct tmn_node *node;
};

/* The ports of a namespace; never changed, but replaced. */
struct tmn_ports {
	struct rcu_head rcu;	/* first: kvfree_rcu needs it in the first page */
	struct tmn_port udp[1 << TMN_PORT_BITS];
	struct tmn_port tcp[1 << TMN_PORT_BITS];
};

struct tmn_net {
	struct tmn_ports __rcu *ports;
	struct mutex lock;		/* serialises the control path */
	struct list_head nodes;
	u32 node_count;
	bool is_hooked;
};

/* What is known of a packet while it crosses the hook. */
struct tmn_crossing {
	struct sk_buff *skb;
	struct net *net;
	struct tmn_node *node;
	const struct tmn_hook *hook;
	int in_ifindex;
	u32 transport;		/* offset of the UDP or TCP header in skb */
	bool is_ipv6;
	__be16 source_port;
	__be16 destination_port;
	u32 source[4];		/* IPv6, or IPv4 as ::ffff:a.b.c.d; as on the wire */
	u32 destination[4];
};

/* net.c: leads from a namespace to its nodes */
extern unsigned int tmn_net_id;
struct tmn_net *tmn_net_of(const struct net *net);

/* hook.c */
int tmn_hooks_add(struct net *net);
void tmn_hooks_remove(struct net *net);

/* udp.c, tcp.c: verdicts for packets to a node's ports */
unsigned int tmn_udp(struct tmn_crossing *crossing, const struct udphdr *udp);
unsigned int tmn_tcp(struct tmn_crossing *crossing, const struct tcphdr *tcp);

/* rewrite.c: all keep the checksums of IP, UDP and ANEP; 0, or a negative errno and no change */
int tmn_mark(struct tmn_crossing *crossing, const struct tmn_packet *packet,
	     const struct tmn_place *place);
int tmn_send_to(struct tmn_crossing *crossing, const struct tmn_policy *policy);
bool tmn_checksum_holds(const struct tmn_crossing *crossing, const struct tmn_packet *packet);

/* socket.c: who is on this host */
bool tmn_is_local(const struct tmn_crossing *crossing);
bool tmn_has_udp_socket(const struct tmn_crossing *crossing);
bool tmn_has_listener(const struct tmn_crossing *crossing);
bool tmn_has_connection(const struct tmn_crossing *crossing, bool begins);

/* table.c: policies of a node */
const struct tmn_entry *tmn_find(const struct tmn_node *node, const struct tmn_flow *flow,
				 bool has_stream);
int tmn_set(struct tmn_node *node, const struct tmn_flow *flow, const struct tmn_policy *policy,
	    struct netlink_ext_ack *extack);
void tmn_remove(struct tmn_node *node, const struct tmn_flow *flow);
void tmn_clear(struct tmn_node *node);

/* tally.c: counters of slots */
struct tmn_tally *tmn_tally_new(void);
void tmn_tally_free(struct tmn_tally *tally);
void tmn_tally_sum(const struct tmn_tally *tally, struct tmn_counters *sum,
		   struct tmn_state *state);
void tmn_count_up(const struct tmn_tally *tally, u32 datagrams);
void tmn_count_handled(const struct tmn_tally *tally, u32 octets, u32 rule, bool is_dropped);
void tmn_count_marked(const struct tmn_tally *tally, bool is_marked);
void tmn_count_connection(const struct tmn_tally *tally, bool is_up, bool is_dropped);

/* node.c: who is attached to a namespace; under its lock. Calls hook.c, which knows nothing of it */
struct tmn_node *tmn_node_of(struct tmn_net *tn, u32 portid);
int tmn_attach(struct net *net, u32 portid, const struct tmn_hook *hook,
	       struct netlink_ext_ack *extack);
void tmn_detach(struct net *net, struct tmn_node *node);
void tmn_mets_sum(const struct tmn_node *node, u64 sum[TMN_MET_COUNT]);
int tmn_nodes_init(void);
void tmn_nodes_exit(void);

/* check.c: 0, or a negative errno and extack says why */
int tmn_check_hook(const struct tmn_hook *hook, struct netlink_ext_ack *extack);
int tmn_check_flow(const struct tmn_flow *flow, struct netlink_ext_ack *extack);
int tmn_check_policy(const struct tmn_flow *flow, const struct tmn_policy *policy,
		     struct netlink_ext_ack *extack);

/* netlink.c */
int tmn_netlink_init(void);
void tmn_netlink_exit(void);

static inline bool tmn_is_mapped_ipv4(const u8 address[16])
{
	static const u8 prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(address, prefix, sizeof(prefix));
}

static inline u32 tmn_port_hash(__be16 port)
{
	u32 number = (__force u16)port;

	return (number ^ number >> 8) & ((1 << TMN_PORT_BITS) - 1);
}

/* The node whose port it is; under RCU. At most as many steps as there are ports. */
static inline struct tmn_node *tmn_port_owner(const struct tmn_port *ports, __be16 port)
{
	u32 i = tmn_port_hash(port);

	while (ports[i].port) {
		if (ports[i].port == port)
			return READ_ONCE(ports[i].node);
		i = (i + 1) & ((1 << TMN_PORT_BITS) - 1);
	}
	return NULL;
}

static inline void tmn_meet(const struct tmn_node *node, enum tmn_met what, u32 datagrams)
{
	this_cpu_add(node->mets->of[what], datagrams);
}

/* The packet goes up: routing finds the mark, and delivers it to the node. */
static inline unsigned int tmn_up(const struct tmn_crossing *crossing, u32 slot)
{
	crossing->skb->mark = crossing->hook->mark | slot;
	return NF_ACCEPT;
}

#endif
