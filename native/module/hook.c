// SPDX-License-Identifier: GPL-2.0
/* Where packets come in: finds those of the nodes' ports, and lets all others go on. */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter_bridge.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "tamanoir.h"

static const struct tmn_ports *ports_of(const struct net *net)
{
	return rcu_dereference(tmn_net_of(net)->ports);
}

/* Whether tc has sent it up already. */
static bool is_up(const struct tmn_crossing *crossing)
{
	return (crossing->skb->mark & TMN_MARK_MASK) == crossing->hook->mark;
}

static bool finds_node(struct tmn_crossing *crossing, struct tmn_node *node)
{
	if (!node)
		return false;
	crossing->node = node;
	crossing->hook = &rcu_dereference(node->sight)->hook;
	return !is_up(crossing);
}

static void set_ends(struct tmn_crossing *crossing, __be16 source_port, __be16 destination_port)
{
	crossing->source_port = source_port;
	crossing->destination_port = destination_port;
	if (crossing->is_ipv6) {
		const struct ipv6hdr *ip = ipv6_hdr(crossing->skb);

		memcpy(crossing->source, &ip->saddr, sizeof(crossing->source));
		memcpy(crossing->destination, &ip->daddr, sizeof(crossing->destination));
	} else {
		const struct iphdr *ip = ip_hdr(crossing->skb);

		tmn_map_ipv4(crossing->source, (__force u32)ip->saddr);
		tmn_map_ipv4(crossing->destination, (__force u32)ip->daddr);
	}
}

static unsigned int on_udp(struct tmn_crossing *crossing, bool is_fragment)
{
	const struct tmn_ports *ports = ports_of(crossing->net);
	const struct udphdr *udp;
	struct udphdr copy;

	if (!ports)
		return NF_ACCEPT;
	udp = skb_header_pointer(crossing->skb, crossing->transport, sizeof(copy), &copy);
	if (!udp || !finds_node(crossing, tmn_port_owner(ports->udp, udp->dest)))
		return NF_ACCEPT;
	if (is_fragment) {
		tmn_meet(crossing->node, TMN_MET_FRAGMENT, 1);
		return NF_ACCEPT;
	}
	set_ends(crossing, udp->source, udp->dest);
	return tmn_udp(crossing, udp);
}

static unsigned int on_tcp(struct tmn_crossing *crossing)
{
	const struct tmn_ports *ports = ports_of(crossing->net);
	const struct tcphdr *tcp;
	struct tcphdr copy;

	if (!ports)
		return NF_ACCEPT;
	tcp = skb_header_pointer(crossing->skb, crossing->transport, sizeof(copy), &copy);
	if (!tcp || !finds_node(crossing, tmn_port_owner(ports->tcp, tcp->dest)))
		return NF_ACCEPT;
	set_ends(crossing, tcp->source, tcp->dest);
	return tmn_tcp(crossing, tcp);
}

/* All but node, hook and ends, which cost more, and are not needed for packets of others. */
static void enter(struct tmn_crossing *crossing, struct sk_buff *skb,
		  const struct nf_hook_state *state, u32 ip_octets, bool is_ipv6)
{
	crossing->skb = skb;
	crossing->net = state->net;
	crossing->in_ifindex = state->in->ifindex;
	crossing->transport = skb_network_offset(skb) + ip_octets;
	crossing->is_ipv6 = is_ipv6;
}

/*
 * Whether a VRF's packet has crossed the hook before, as one of the interface that it came in through; the host's own
 * to itself cross it once.
 */
static bool is_again(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	return netif_is_l3_master(state->in) && skb->pkt_type != PACKET_LOOPBACK;
}

/*
 * Whether the kernel does not route it as a packet of that interface: its frame goes to many; or br_netfilter shows it as
 * one of a bridge, and it is for somebody behind that. What is for the bridge itself is shown here alone, and not again.
 */
static bool is_of_others(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	return skb->pkt_type == PACKET_BROADCAST || skb->pkt_type == PACKET_MULTICAST ||
	       (nf_bridge_info_get(skb) &&
		!ether_addr_equal(eth_hdr(skb)->h_dest, state->in->dev_addr));
}

/* Of the fragments of a datagram the first has the port, and is counted; all go on. */
static unsigned int on_ipv4(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct iphdr *ip = ip_hdr(skb);
	struct tmn_crossing crossing TMN_UNFILLED;

	if (ip->frag_off & htons(IP_OFFSET) || is_again(skb, state) || is_of_others(skb, state))
		return NF_ACCEPT;
	if (ip->protocol == IPPROTO_UDP) {
		enter(&crossing, skb, state, ip->ihl * 4, false);
		return on_udp(&crossing, ip->frag_off & htons(IP_MF));
	}
	if (ip->protocol == IPPROTO_TCP && !ip_is_fragment(ip)) {
		enter(&crossing, skb, state, ip->ihl * 4, false);
		return on_tcp(&crossing);
	}
	return NF_ACCEPT;
}

static bool is_first_fragment_of_udp(const struct sk_buff *skb, u32 at)
{
	const struct frag_hdr *fragment;
	struct frag_hdr copy;

	fragment = skb_header_pointer(skb, at, sizeof(copy), &copy);
	return fragment && fragment->nexthdr == NEXTHDR_UDP &&
	       !(fragment->frag_off & htons(IP6_OFFSET));
}

/* A datagram with extension headers is none of ours: the node could not send it on as it was. */
static unsigned int on_ipv6(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct tmn_crossing crossing TMN_UNFILLED;

	if (is_again(skb, state) || is_of_others(skb, state))
		return NF_ACCEPT;
	enter(&crossing, skb, state, sizeof(struct ipv6hdr), true);
	switch (ipv6_hdr(skb)->nexthdr) {
	case NEXTHDR_UDP:
		return on_udp(&crossing, false);
	case NEXTHDR_TCP:
		return on_tcp(&crossing);
	case NEXTHDR_FRAGMENT:
		if (!is_first_fragment_of_udp(skb, crossing.transport))
			return NF_ACCEPT;
		crossing.transport += sizeof(struct frag_hdr);
		return on_udp(&crossing, true);
	default:
		return NF_ACCEPT;
	}
}

/*
 * Behind defragmentation and rules that let packets by connection tracking, and before tracking
 * itself, which then sees them as they leave.
 */
static const struct nf_hook_ops hooks[] = {
	{
		.hook = on_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP_PRI_CONNTRACK - 1,
	},
	{
		.hook = on_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_PRE_ROUTING,
		.priority = NF_IP6_PRI_CONNTRACK - 1,
	},
};

int tmn_hooks_add(struct net *net)
{
	return nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

void tmn_hooks_remove(struct net *net)
{
	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}
