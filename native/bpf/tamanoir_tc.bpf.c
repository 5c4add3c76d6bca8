// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * The traffic-control level: what policies say, at the ingress of the node's interfaces. A packet
 * that goes on or up is left to later filters and to routing; one that is not the node's is not
 * touched.
 *
 *   tmn_tc       decides, and writes
 *   tmn_tc_word  stands in its place behind XDP's program, takes the word, and calls it: writes
 *                nothing into packets, so that the kernel does not copy the head of one that others
 *                read too (a capture), by which metadata is lost
 */
#define TMN_LEVEL TMN_LEVEL_TC
#define tmn_load(ctx, offset, to, octets) \
	bpf_skb_load_bytes((struct __sk_buff *)(ctx), offset, to, octets)

#include "tamanoir_bpf.h"
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>

#define TMN_ON TC_ACT_UNSPEC
#define TMN_HEADERS_OCTETS (ETH_HLEN + 60 + sizeof(struct tcphdr)) /* longest that is read in place */
#define TMN_CSUM_IPV6 (1ull << 7) /* BPF_F_IPV6, kernel 6.16: a difference in an IPv6 header */
#define TMN_VLAN_ID 0x0fff
#define TMN_MAX_TAGS 8 /* priority tags of a frame; two are more than there should be */
#define TMN_AF_INET 2
#define TMN_AF_INET6 10

/* ---- up -------------------------------------------------------------------------------------- */

TMN_INLINE __u32 tmn_tuple(struct bpf_sock_tuple *tuple, const struct tmn_datagram *datagram)
{
	if (datagram->is_ipv6) {
		__builtin_memcpy(tuple->ipv6.saddr, datagram->source, sizeof(tuple->ipv6.saddr));
		__builtin_memcpy(tuple->ipv6.daddr, datagram->destination,
				 sizeof(tuple->ipv6.daddr));
		tuple->ipv6.sport = datagram->source_port;
		tuple->ipv6.dport = datagram->destination_port;
		return sizeof(tuple->ipv6);
	}
	tuple->ipv4.saddr = datagram->source[3];
	tuple->ipv4.daddr = datagram->destination[3];
	tuple->ipv4.sport = datagram->source_port;
	tuple->ipv4.dport = datagram->destination_port;
	return sizeof(tuple->ipv4);
}

/* Whether a socket takes what is sent up; without, the packets of a dead node would end here. */
static __noinline int tmn_is_awaited(struct __sk_buff *skb, const struct tmn_datagram *datagram)
{
	struct bpf_sock_tuple tuple = {};
	struct bpf_sock *sk;

	if (tmn_tuple(&tuple, datagram) == sizeof(tuple.ipv6))
		sk = bpf_sk_lookup_udp(skb, &tuple, sizeof(tuple.ipv6), BPF_F_CURRENT_NETNS, 0);
	else
		sk = bpf_sk_lookup_udp(skb, &tuple, sizeof(tuple.ipv4), BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return 0;
	bpf_sk_release(sk);
	return 1;
}

/* Whether it goes up, and then all that has to be said about it. */
TMN_INLINE int tmn_up(struct __sk_buff *skb, const struct tmn_hook *hook,
		      const struct tmn_datagram *datagram, __u32 slot, __u32 datagrams)
{
	if (!tmn_is_awaited(skb, datagram)) {
		tmn_count(TMN_MET_ABSENT, datagrams);
		return 0;
	}
	skb->mark = hook->mark | slot;
	return 1;
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * Whether UDP's checksum is one that is not yet computed: then it is the pseudo header's sum. One
 * of 65,536 that are computed looks the same.
 */
TMN_INLINE int tmn_is_uncomputed(const struct tmn_datagram *datagram, const struct udphdr *udp)
{
	__u64 sum = (__u64)udp->len + bpf_htons(IPPROTO_UDP);

	sum += datagram->source[3];
	sum += datagram->destination[3];
	if (datagram->is_ipv6) {
		sum += (__u64)datagram->source[0] + datagram->source[1] + datagram->source[2];
		sum += (__u64)datagram->destination[0] + datagram->destination[1] +
		       datagram->destination[2];
	}
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return sum == udp->check;
}

/*
 * Writes the mark: in place where that is right and possible, else through helpers, which know
 * of sums that are yet to be computed or that the interface took.
 */
TMN_INLINE int tmn_mark(struct __sk_buff *skb, const struct tmn_policy *policy,
			const struct tmn_scratch *scratch, const struct tmn_packet *packet,
			const struct tmn_datagram *datagram)
{
	/* Anew: how far the verifier has looked before is forgotten with the old ones. */
	struct udphdr *udp = (void *)(long)skb->data + tmn_transport_at(datagram);
	void *end = (void *)(long)skb->data_end;
	__u32 at = datagram->transport_at + sizeof(struct udphdr);
	__u32 checksum_at = datagram->transport_at + offsetof(struct udphdr, check);
	__u32 own_checksum_at = packet->checksum_at;
	struct tmn_written written;
	struct tmn_place place;
	__u64 recompute = 0;
	int result = 0;
	__u32 i;

	tmn_mark_place(&place, policy, packet);
	if (!place.words || (void *)(udp + 1) > end)
		return 0;
	if (!tmn_write(&written, &place, scratch, packet))
		return 1;
	if (own_checksum_at) {
		if (tmn_write_in_place(udp, end, &written, &place, own_checksum_at))
			return 1;
		result |= bpf_skb_store_bytes(skb, at + own_checksum_at, &written.checksum,
					      sizeof(written.checksum), 0);
	} else if (!udp->check) {
		recompute = BPF_F_RECOMPUTE_CSUM;
	} else {
		if (!tmn_is_uncomputed(datagram, udp) &&
		    tmn_write_in_place(udp, end, &written, &place, 0))
			return 1;
		for (i = 0; i < 2; i++) {
			if (i < place.words)
				result |= bpf_l4_csum_replace(skb, checksum_at, written.before[i],
							      written.after[i],
							      BPF_F_MARK_MANGLED_0 |
								      sizeof(__u16));
		}
	}
	for (i = 0; i < 2; i++) {
		if (i < place.words)
			result |= bpf_skb_store_bytes(skb, at + place.at + 2 * i,
						      &written.after[i], sizeof(__u16), recompute);
	}
	return !result;
}

/* ---- fates ----------------------------------------------------------------------------------- */

/* Rewrites the destination: the checksums follow, those that are yet to be computed too. */
static __noinline int tmn_fate_to(struct __sk_buff *skb, const struct tmn_policy *policy,
				  const struct tmn_datagram *datagram)
{
	__u64 flags = BPF_F_MARK_MANGLED_0;
	__u32 checksum_at, address_at, port_at;
	__u32 to[4];
	__s64 sum;

	checksum_at = datagram->transport_at + offsetof(struct udphdr, check);
	port_at = datagram->transport_at + offsetof(struct udphdr, dest);
	__builtin_memcpy(to, policy->to_address, sizeof(to));
	sum = bpf_csum_diff((__be32 *)datagram->destination, sizeof(to), to, sizeof(to), 0);
	if (datagram->is_ipv6) {
		address_at = ETH_HLEN + offsetof(struct ipv6hdr, daddr);
		if (bpf_l4_csum_replace(skb, checksum_at, 0, sum,
					flags | BPF_F_PSEUDO_HDR | TMN_CSUM_IPV6))
			bpf_l4_csum_replace(skb, checksum_at, 0, sum, flags | BPF_F_PSEUDO_HDR);
		bpf_skb_store_bytes(skb, address_at, to, sizeof(to), 0);
	} else {
		address_at = ETH_HLEN + offsetof(struct iphdr, daddr);
		bpf_l4_csum_replace(skb, checksum_at, 0, sum, flags | BPF_F_PSEUDO_HDR);
		bpf_l3_csum_replace(skb, ETH_HLEN + offsetof(struct iphdr, check), 0, sum, 0);
		bpf_skb_store_bytes(skb, address_at, &to[3], sizeof(to[3]), 0);
	}
	if (policy->to_port && policy->to_port != datagram->destination_port) {
		__be16 port = policy->to_port;

		bpf_l4_csum_replace(skb, checksum_at, datagram->destination_port, port,
				    flags | sizeof(port));
		bpf_skb_store_bytes(skb, port_at, &port, sizeof(port), 0);
	}
	return TMN_ON;
}

/* One hop less to live. */
TMN_INLINE int tmn_spend_hop(struct __sk_buff *skb, const struct tmn_datagram *datagram)
{
	__u8 hops = (__u8)(datagram->hops - 1);

	if (datagram->is_ipv6)
		return bpf_skb_store_bytes(skb, ETH_HLEN + offsetof(struct ipv6hdr, hop_limit),
					   &hops, sizeof(hops), BPF_F_RECOMPUTE_CSUM);
	/* The two octets that hold it, so that the sum sees the difference in its place. */
	if (bpf_l3_csum_replace(skb, ETH_HLEN + offsetof(struct iphdr, check),
				bpf_htons((__u16)(datagram->hops << 8)),
				bpf_htons((__u16)(hops << 8)), sizeof(__u16)))
		return -1;
	return bpf_skb_store_bytes(skb, ETH_HLEN + offsetof(struct iphdr, ttl), &hops,
				   sizeof(hops), 0);
}

/* Out through another interface; by the kernel's routing where that cannot be. */
static __noinline int tmn_fate_redirect(struct __sk_buff *skb, const struct tmn_policy *policy,
					const struct tmn_datagram *datagram)
{
	struct bpf_redir_neigh hop = {};
	struct bpf_fib_lookup route = {};
	long result;

	if (datagram->hops <= 1)
		return TMN_ON;
	route.l4_protocol = IPPROTO_UDP;
	route.ifindex = policy->ifindex;
	if (datagram->is_ipv6) {
		route.family = TMN_AF_INET6;
		__builtin_memcpy(route.ipv6_src, datagram->source, sizeof(route.ipv6_src));
		__builtin_memcpy(route.ipv6_dst, datagram->destination, sizeof(route.ipv6_dst));
	} else {
		route.family = TMN_AF_INET;
		route.ipv4_src = datagram->source[3];
		route.ipv4_dst = datagram->destination[3];
	}
	result = bpf_fib_lookup(skb, &route, sizeof(route), BPF_FIB_LOOKUP_OUTPUT);
	if (result != BPF_FIB_LKUP_RET_SUCCESS && result != BPF_FIB_LKUP_RET_NO_NEIGH)
		return TMN_ON;
	if (route.ifindex != policy->ifindex || tmn_spend_hop(skb, datagram))
		return TMN_ON;
	/* A priority tag's way ends here. */
	if (skb->vlan_present && bpf_skb_vlan_pop(skb))
		return TC_ACT_SHOT;
	hop.nh_family = route.family;
	__builtin_memcpy(hop.ipv6_nh, route.ipv6_dst, sizeof(hop.ipv6_nh));
	return bpf_redirect_neigh(route.ifindex, &hop, sizeof(hop), 0);
}

/* ---- datagrams ------------------------------------------------------------------------------- */

/* Whether the policy's state says that packets have to go up. */
TMN_INLINE int tmn_state_up(const struct tmn_policy *policy, struct tmn_state *state,
			    __u32 datagrams, __u8 protocol)
{
	__u64 seen = 0, settled, up;

	if (tmn_share_counts(policy))
		seen = __sync_fetch_and_add(&state->seen, datagrams) + datagrams;
	if (tmn_share_up(policy, seen))
		return 1;
	settled = *(volatile __u64 *)&state->settled;
	if (!tmn_is_gated(policy, protocol))
		return tmn_is_held(settled);
	up = *(volatile __u64 *)&state->up;
	return tmn_gate_up(policy, up, settled);
}

/* Sends packets up under a policy. */
TMN_INLINE int tmn_obey_up(struct __sk_buff *skb, const struct tmn_hook *hook,
			   const struct tmn_datagram *datagram,
			   struct tmn_counters *counters, __u32 slot, __u32 datagrams)
{
	struct tmn_state *state = bpf_map_lookup_elem(&tmn_states, &slot);

	if (!state)
		return TMN_ON;
	/* Before the packet can settle. */
	__sync_fetch_and_add(&state->up, datagrams);
	if (!tmn_up(skb, hook, datagram, slot, datagrams)) {
		__sync_fetch_and_sub(&state->up, datagrams);
		return TMN_ON;
	}
	counters->packets += datagrams;
	counters->up += datagrams;
	return TMN_ON;
}

/*
 * Does what the policy says.
 *
 * @param has_to whether the level cannot handle the packet, so that it goes up
 */
TMN_INLINE int tmn_obey(struct __sk_buff *skb, struct tmn_scratch *scratch,
			const struct tmn_hook *hook, const struct tmn_hints *hints,
			const struct tmn_datagram *datagram, const struct tmn_found *found,
			__u32 datagrams, int has_to)
{
	const struct tmn_policy *policy = found->policy;
	const struct tmn_packet *packet = found->packet;
	__u32 slot = policy->slot;
	struct tmn_counters *counters = bpf_map_lookup_elem(&tmn_counts, &slot);
	struct tmn_state *state;
	__u32 rule;

	if (!counters)
		return TMN_ON;
	state = bpf_map_lookup_elem(&tmn_states, &slot);
	if (!state)
		return TMN_ON;
	has_to |= tmn_state_up(policy, state, datagrams, IPPROTO_UDP);
	if (has_to || tmn_fate_up(policy, hints, datagram))
		return tmn_obey_up(skb, hook, datagram, counters, slot, datagrams);
	counters->packets++;
	tmn_count_octets(counters, packet->octets);
	rule = policy->rule_count ? tmn_rule_of(policy, packet) : TMN_RULES_PASS;
	if (rule <= TMN_MAX_RULES)
		counters->rules[rule]++;
	if (rule <= TMN_MAX_RULES || policy->fate == TMN_FATE_DROP) {
		counters->dropped++;
		return TC_ACT_SHOT;
	}
	counters->on++;
	if (policy->mark != TMN_MARK_NONE) {
		if (tmn_mark(skb, policy, scratch, packet, datagram))
			counters->marked++;
		else
			counters->unmarked++;
	}
	if (policy->fate == TMN_FATE_TO)
		return tmn_fate_to(skb, policy, datagram);
	if (policy->fate == TMN_FATE_REDIRECT)
		return tmn_fate_redirect(skb, policy, datagram);
	return TMN_ON;
}

/* Sends a packet up as XDP's word says, whatever has become of the policy since. */
TMN_INLINE int tmn_lifted(struct __sk_buff *skb, const struct tmn_hook *hook,
			  const struct tmn_datagram *datagram, __u32 slot, __u32 datagrams)
{
	struct tmn_counters *counters = bpf_map_lookup_elem(&tmn_counts, &slot);

	tmn_count(TMN_MET_POLICY, datagrams);
	return counters ? tmn_obey_up(skb, hook, datagram, counters, slot, datagrams) : TMN_ON;
}

TMN_INLINE int tmn_udp(struct __sk_buff *skb, const struct tmn_hook *hook,
		       const struct tmn_hints *hints, struct tmn_scratch *scratch,
		       const struct tmn_datagram *datagram, struct udphdr *udp, void *end,
		       __u32 octets, __u32 word)
{
	__u32 datagrams = 1, size = skb->gso_size;
	const struct tmn_policy *policy;
	struct tmn_found found;
	__u32 met;
	int has_to;

	if (size && size < octets) {
		/* The first is read; what it is, the others are taken to be. */
		datagrams = (octets + size - 1) / size;
		octets = size;
	}
	tmn_count(TMN_MET_SEEN, datagrams);
	if ((word & TMN_XDP_BITS) == TMN_XDP_LIFTED)
		return tmn_lifted(skb, hook, datagram, word & TMN_MARK_SLOT, datagrams);
	met = tmn_look_at(skb, scratch, hook, hints, datagram, udp + 1, end, octets, &found);
	if (met != TMN_OK && met != TMN_MET_TRAILER && met != TMN_MET_COMPLEX) {
		tmn_count(met, datagrams);
		return TMN_ON;
	}
	if (datagrams > 1)
		met = TMN_MET_AGGREGATED;
	has_to = met != TMN_OK;
	policy = found.policy;
	if (!policy) {
		tmn_count(has_to ? met : TMN_MET_NO_POLICY, datagrams);
		if (has_to || hook->unknown_up)
			tmn_up(skb, hook, datagram, 0, datagrams);
		return TMN_ON;
	}
	/* XDP saw no such policy, or would have said so. */
	if (policy->level == TMN_LEVEL_XDP)
		has_to = 1;
	else if (policy->level != TMN_LEVEL_TC) {
		tmn_count(TMN_MET_OTHER_LEVEL, datagrams);
		return TMN_ON;
	}
	tmn_count(met != TMN_OK ? met : TMN_MET_POLICY, datagrams);
	return tmn_obey(skb, scratch, hook, hints, datagram, &found, datagrams, has_to);
}

/* ---- connections ----------------------------------------------------------------------------- */

/*
 * Whether a connection's own socket is on this host.
 *
 * @param is_awaited set to whether one listens for it
 */
TMN_INLINE int tmn_is_connected(struct __sk_buff *skb, const struct tmn_datagram *segment,
				int begins, int *is_awaited)
{
	struct bpf_sock_tuple tuple = {};
	struct bpf_sock *sk;
	__u32 state;

	if (tmn_tuple(&tuple, segment) == sizeof(tuple.ipv6))
		sk = bpf_skc_lookup_tcp(skb, &tuple, sizeof(tuple.ipv6), BPF_F_CURRENT_NETNS, 0);
	else
		sk = bpf_skc_lookup_tcp(skb, &tuple, sizeof(tuple.ipv4), BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return 0;
	state = sk->state;
	bpf_sk_release(sk);
	*is_awaited = state == BPF_TCP_LISTEN || state == BPF_TCP_TIME_WAIT;
	return state != BPF_TCP_LISTEN && !(begins && state == BPF_TCP_TIME_WAIT);
}

/* A connection begins: its policy decides. */
TMN_INLINE int tmn_connection(struct __sk_buff *skb, const struct tmn_hook *hook,
			      const struct tmn_hints *hints, struct tmn_scratch *scratch,
			      const struct tmn_datagram *segment, int is_awaited)
{
	struct tmn_counters *counters;
	struct tmn_policy *policy;
	struct tmn_state *state;
	__u32 slot;
	int has_to;

	scratch->packet.service[0] = 0;
	scratch->packet.service[1] = 0;
	scratch->packet.raw_stream = 0;
	policy = tmn_find(scratch, hints, segment, 0);
	if (!policy) {
		if (!hook->unknown_up || is_awaited) {
			tmn_count(TMN_MET_NO_POLICY, 1);
			if (hook->unknown_up)
				skb->mark = hook->mark;
			return TMN_ON;
		}
		tmn_count(TMN_MET_ABSENT, 1);
		return TMN_ON;
	}
	if (policy->level != TMN_LEVEL_TC) {
		tmn_count(TMN_MET_OTHER_LEVEL, 1);
		return TMN_ON;
	}
	slot = policy->slot;
	counters = bpf_map_lookup_elem(&tmn_counts, &slot);
	state = bpf_map_lookup_elem(&tmn_states, &slot);
	if (!counters || !state)
		return TMN_ON;
	has_to = tmn_state_up(policy, state, 1, IPPROTO_TCP) ||
		 (policy->fate == TMN_FATE_ON && tmn_is_local(hints, segment));
	if (has_to && !is_awaited) {
		tmn_count(TMN_MET_ABSENT, 1);
		return TMN_ON;
	}
	tmn_count(TMN_MET_POLICY, 1);
	counters->packets++;
	if (has_to) {
		counters->up++;
		__sync_fetch_and_add(&state->up, 1);
		skb->mark = hook->mark | slot;
		return TMN_ON;
	}
	if (policy->fate == TMN_FATE_DROP) {
		counters->dropped++;
		return TC_ACT_SHOT;
	}
	counters->on++;
	return TMN_ON;
}

TMN_INLINE int tmn_tcp(struct __sk_buff *skb, const struct tmn_hook *hook,
		       const struct tmn_hints *hints, struct tmn_scratch *scratch,
		       const struct tmn_datagram *segment, int begins)
{
	int is_awaited = 0;

	if (tmn_is_connected(skb, segment, begins, &is_awaited)) {
		skb->mark = hook->mark;
		return TMN_ON;
	}
	if (!begins)
		return TMN_ON;
	tmn_count(TMN_MET_CONNECTIONS, 1);
	return tmn_connection(skb, hook, hints, scratch, segment, is_awaited);
}

/* ---- the programs ---------------------------------------------------------------------------- */

/* tmn_tc, for tmn_tc_word. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} tmn_programs SEC(".maps");

SEC("tc")
int tmn_tc_word(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data;
	struct tmn_meta *meta = (void *)(long)skb->data_meta;
	struct tmn_scratch *scratch;
	union {
		__u16 halves[2];
		__u32 word;
	} late;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&tmn_scratches, &zero);
	if (!scratch)
		return TMN_ON;
	scratch->word = 0;
	if ((void *)(meta + 1) <= data) {
		late.halves[0] = meta->late[0];
		late.halves[1] = meta->late[1];
		scratch->word = late.word ? late.word : meta->word;
	}
	bpf_tail_call(skb, &tmn_programs, 0);
	return TMN_ON;
}

/* Interfaces whose drivers have to show that they hand metadata on, by index; 1: they do. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u32);
} tmn_carried SEC(".maps");

TMN_INLINE void tmn_is_carried(const struct __sk_buff *skb)
{
	__u32 ifindex = skb->ifindex;
	__u32 *carried = bpf_map_lookup_elem(&tmn_carried, &ifindex);

	if (carried)
		*carried = 1;
}

/*
 * XDP's word, if there is one of this node. It ends here: with the packet it might come to another
 * namespace, whose node may have the same mark.
 */
TMN_INLINE __u32 tmn_take_word(struct __sk_buff *skb, const struct tmn_scratch *scratch,
			       const struct tmn_hook *hook, const struct tmn_hints *hints)
{
	void *data = (void *)(long)skb->data;
	struct tmn_meta *meta = (void *)(long)skb->data_meta;

	if (!hints->front || (scratch->word & TMN_MARK_MASK) != hook->mark)
		return 0;
	if (hints->front == TMN_FRONT_TRIES)
		tmn_is_carried(skb);
	if ((void *)(meta + 1) <= data) {
		if (!meta->late[0] && !meta->late[1])
			meta->word = 0;
		meta->late[0] = 0;
		meta->late[1] = 0;
	}
	return scratch->word;
}

/*
 * Has the frame begin at its link header. It begins behind where the kernel has copied it for XDP in
 * generic mode, which it does if the interface left little room in front, and where a device has no
 * link header. Length of the frame (wire_len is what is behind the link header) tells cheaply where
 * all is as it should be; this tells surely: octets of the link header are not IP's.
 *
 * @return whether that was not possible: the frame is too long (about 16 KiB), or there is no memory
 */
static __noinline int tmn_make_whole(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data;
	void *end = (void *)(long)skb->data_end;
	struct ethhdr link = {};
	__u8 octet;

	/* As much lies behind the link header: then it is in front, or there is less than that. */
	if (end - data < ETH_HLEN ||
	    bpf_skb_load_bytes_relative(skb, end - data - ETH_HLEN, &octet, 1, BPF_HDR_START_NET))
		return 0;
	if (bpf_skb_load_bytes_relative(skb, 0, &link, sizeof(link), BPF_HDR_START_MAC) ||
	    link.h_proto != skb->protocol)
		__builtin_memset(&link, 0, sizeof(link));
	link.h_proto = skb->protocol;
	if (bpf_skb_change_head(skb, ETH_HLEN, 0))
		return 1;
	bpf_skb_store_bytes(skb, 0, &link, sizeof(link), 0);
	return 0;
}

/* A frame that lacks its link header for good: the node's goes up, unread. */
static __noinline int tmn_headless(struct __sk_buff *skb, const struct tmn_hook *hook,
				   struct tmn_scratch *scratch, __u32 word)
{
	struct ethhdr *link;
	struct udphdr *udp;
	struct tmn_datagram datagram;
	__u32 datagrams;
	int is_awaited = 0;

	if (!hook || !scratch)
		return TMN_ON;
	link = (struct ethhdr *)scratch->chunk;
	link->h_proto = skb->protocol;
	if (bpf_skb_load_bytes_relative(skb, 0, link + 1, TMN_HEADERS_OCTETS - ETH_HLEN,
					BPF_HDR_START_NET))
		return TC_ACT_SHOT;
	if (tmn_read_ip(&datagram, link, scratch->chunk + TMN_CHUNK) || datagram.is_fragment)
		return TMN_ON;
	/* Where ports are TCP is as UDP. */
	udp = (struct udphdr *)(scratch->chunk + tmn_transport_at(&datagram));
	datagram.source_port = udp->source;
	datagram.destination_port = udp->dest;
	if (datagram.protocol == IPPROTO_TCP) {
		if (tmn_is_port(hook->tcp, hook->tcp_ports, udp->dest) &&
		    tmn_is_connected(skb, &datagram, 0, &is_awaited))
			skb->mark = hook->mark;
		return TMN_ON;
	}
	if (datagram.protocol != IPPROTO_UDP ||
	    !tmn_is_port(hook->udp, hook->udp_ports, udp->dest))
		return TMN_ON;
	datagrams = skb->gso_segs ? skb->gso_segs : 1;
	tmn_count(TMN_MET_SEEN, datagrams);
	if ((word & TMN_XDP_BITS) == TMN_XDP_LIFTED)
		return tmn_lifted(skb, hook, &datagram, word & TMN_MARK_SLOT, datagrams);
	tmn_count(datagrams > 1 ? TMN_MET_AGGREGATED : TMN_MET_COMPLEX, datagrams);
	tmn_up(skb, hook, &datagram, 0, datagrams);
	return TMN_ON;
}

/*
 * Whether a tagged frame is a VLAN's. With VLAN ID 0, a priority tag, it is the interface's own, and
 * the kernel takes it so, however many there are: in front of others they are taken away here as the
 * kernel would. The kernel holds the first apart from the frame.
 *
 * @return below 0: more than TMN_MAX_TAGS in front of others, or not readable: nobody's
 */
static __noinline int tmn_is_of_vlan(struct __sk_buff *skb)
{
	__u32 i;

	for (i = 0; i < TMN_MAX_TAGS; i++) {
		if (skb->vlan_tci & TMN_VLAN_ID)
			return 1;
		if (skb->protocol != bpf_htons(ETH_P_8021Q) &&
		    skb->protocol != bpf_htons(ETH_P_8021AD))
			return 0;
		if (bpf_skb_vlan_pop(skb))
			return -1;
	}
	return -1;
}

SEC("tc")
int tmn_tc(struct __sk_buff *skb)
{
	struct tmn_scratch *scratch;
	struct tmn_datagram datagram;
	struct tmn_hints *hints;
	struct tmn_hook *hook;
	void *data, *end;
	__u32 at, octets, word, zero = 0;
	int length;

	hook = bpf_map_lookup_elem(&tmn_hooks, &zero);
	hints = bpf_map_lookup_elem(&tmn_hints, &zero);
	scratch = bpf_map_lookup_elem(&tmn_scratches, &zero);
	if (!hook || !hints || !scratch || hook->abi != TMN_ABI_VERSION)
		return TMN_ON;
	word = tmn_take_word(skb, scratch, hook, hints);
	if ((word & TMN_XDP_BITS) == TMN_XDP_DONE) {
		octets = skb->gso_segs ? skb->gso_segs : 1;
		tmn_count(TMN_MET_SEEN, octets);
		tmn_count(TMN_MET_OTHER_LEVEL, octets);
		return TMN_ON;
	}
	/* Another host's, or for all of a link: the kernel routes nothing of that. */
	if (skb->pkt_type != PACKET_HOST)
		return TMN_ON;
	/* Another interface's program, beneath this one, has sent it up already. */
	if ((skb->mark & TMN_MARK_MASK) == hook->mark)
		return TMN_ON;
	if (skb->len - skb->wire_len != ETH_HLEN && tmn_make_whole(skb))
		return tmn_headless(skb, hook, scratch, word);
	if (skb->vlan_present) {
		length = tmn_is_of_vlan(skb);
		if (length < 0)
			return TC_ACT_SHOT;
		/* XDP does not see a tag that the interface took away, and may have lifted it. */
		if (length && (word & TMN_XDP_BITS) != TMN_XDP_LIFTED)
			return TMN_ON;
	}
	octets = skb->len < TMN_HEADERS_OCTETS ? skb->len : TMN_HEADERS_OCTETS;
	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	if (data + octets > end) {
		if (bpf_skb_pull_data(skb, octets))
			return TMN_ON;
		data = (void *)(long)skb->data;
		end = (void *)(long)skb->data_end;
	}
	if (tmn_read_ip(&datagram, data, end))
		return TMN_ON;
	at = tmn_transport_at(&datagram);
	if (datagram.protocol == IPPROTO_UDP) {
		struct udphdr *udp = data + at;

		if (datagram.is_fragment) {
			tmn_count(TMN_MET_FRAGMENT, 1);
			return TMN_ON;
		}
		if ((void *)(udp + 1) > end)
			return TMN_ON;
		if (!tmn_is_port(hook->udp, hook->udp_ports, udp->dest))
			return TMN_ON;
		length = tmn_datagram_octets(bpf_ntohs(udp->len), datagram.ip_octets);
		if (length < 0)
			return TMN_ON;
		datagram.source_port = udp->source;
		datagram.destination_port = udp->dest;
		return tmn_udp(skb, hook, hints, scratch, &datagram, udp, end, length, word);
	}
	if (datagram.protocol == IPPROTO_TCP && !datagram.is_fragment) {
		struct tcphdr *tcp = data + at;

		if ((void *)(tcp + 1) > end)
			return TMN_ON;
		if (!tmn_is_port(hook->tcp, hook->tcp_ports, tcp->dest))
			return TMN_ON;
		datagram.source_port = tcp->source;
		datagram.destination_port = tcp->dest;
		return tmn_tcp(skb, hook, hints, scratch, &datagram, tcp->syn && !tcp->ack);
	}
	return TMN_ON;
}

char _license[] SEC("license") = "GPL";
