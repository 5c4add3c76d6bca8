// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * The network-interface level: policies that send nothing up by a share. What all the same has to
 * go up passes to traffic control's program, which shares the maps and reads what this one did from
 * the word in front of each packet. Where there is no room for the word this program decides nothing.
 * Writes into packets directly: checksums have to be there, as on all packets from a wire.
 */
#define TMN_LEVEL TMN_LEVEL_XDP
#define tmn_load(ctx, offset, to, octets) \
	bpf_xdp_load_bytes((struct xdp_md *)(ctx), offset, to, octets)

#include "tamanoir_bpf.h"

#define TMN_AF_INET 2
#define TMN_AF_INET6 10

/* ---- whose frame it is ----------------------------------------------------------------------- */

#define TMN_LINKS 32

/*
 * Link addresses of the node's interfaces, each with TMN_LINK behind it; 0 behind the last. Where an
 * interface lets frames of others in, as a bridge's port does, they are not for this host: traffic
 * control's program sees that by what the kernel says of a frame, which this one has not.
 */
struct tmn_links {
	__u64 addresses[TMN_LINKS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tmn_links);
} tmn_links SEC(".maps");

/* Not 0, as an address may be. */
#define TMN_LINK 1

TMN_INLINE int tmn_is_own(const struct ethhdr *frame)
{
	const struct tmn_links *links;
	__u32 i, zero = 0;
	union {
		__u8 octets[8];
		__u64 word;
	} address = { .octets = { [ETH_ALEN] = TMN_LINK } };

	links = bpf_map_lookup_elem(&tmn_links, &zero);
	if (!links)
		return 0;
	__builtin_memcpy(address.octets, frame->h_dest, ETH_ALEN);
	for (i = 0; i < TMN_LINKS && links->addresses[i]; i++) {
		if (links->addresses[i] == address.word)
			return 1;
	}
	return 0;
}

/* ---- the word for traffic control ------------------------------------------------------------ */

/* Writes the word in front of the packet; XDP_PASS, which is what comes next. */
TMN_INLINE int tmn_say(struct xdp_md *ctx, const struct tmn_hook *hook, __u32 did)
{
	void *data = (void *)(long)ctx->data;
	struct tmn_meta *meta = (void *)(long)ctx->data_meta;

	if ((void *)(meta + 1) <= data) {
		__builtin_memset(meta, 0, sizeof(*meta));
		meta->word = hook->mark | did;
	}
	return XDP_PASS;
}

/* Makes room for the word and says NONE in it; below 0 where the driver leaves none. */
TMN_INLINE int tmn_begin(struct xdp_md *ctx, const struct tmn_hook *hook)
{
	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(struct tmn_meta)))
		return -1;
	tmn_say(ctx, hook, TMN_XDP_NONE);
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Memory of the packet's linear part at an offset below 512, or NULL. */
TMN_INLINE void *tmn_place_at(struct xdp_md *ctx, __u32 offset, __u32 octets)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	void *at;

	TMN_OPAQUE(offset);
	at = data + (offset & 511);
	return at + octets <= end ? at : NULL;
}

TMN_INLINE int tmn_mark(struct xdp_md *ctx, const struct tmn_policy *policy,
			const struct tmn_scratch *scratch, const struct tmn_packet *packet,
			const struct tmn_datagram *datagram)
{
	/* Anew: how far the verifier has looked before is forgotten with the old ones. */
	struct udphdr *udp = (void *)(long)ctx->data + tmn_transport_at(datagram);
	void *end = (void *)(long)ctx->data_end;
	struct tmn_written written;
	struct tmn_place place;

	tmn_mark_place(&place, policy, packet);
	if (!place.words || (void *)(udp + 1) > end)
		return 0;
	if (!tmn_write(&written, &place, scratch, packet))
		return 1;
	return tmn_write_in_place(udp, end, &written, &place, packet->checksum_at);
}

/* ---- fates ----------------------------------------------------------------------------------- */

/* Rewrites the destination. */
TMN_INLINE void tmn_fate_to(struct xdp_md *ctx, const struct tmn_policy *policy,
			    const struct tmn_datagram *datagram)
{
	__u32 at = datagram->is_ipv6 ? ETH_HLEN + offsetof(struct ipv6hdr, daddr) :
				       ETH_HLEN + offsetof(struct iphdr, daddr) - 12;
	__u32 from = datagram->is_ipv6 ? 0 : 6; /* IPv4's 16-bit words are the last two of eight */
	struct udphdr *udp = tmn_place_at(ctx, datagram->transport_at, sizeof(*udp));
	struct iphdr *ip = tmn_place_at(ctx, ETH_HLEN, sizeof(*ip));
	const __u16 *to = (const __u16 *)policy->to_address;
	__u16 *address = tmn_place_at(ctx, at, 16);
	__u32 i;

	if (!udp || !ip || !address)
		return;
	for (i = 0; i < 8; i++) {
		if (i < from)
			continue;
		tmn_udp_checksum(&udp->check, address[i], to[i]);
		if (!datagram->is_ipv6)
			ip->check = tmn_checksum_update(ip->check, address[i], to[i]);
		address[i] = to[i];
	}
	if (policy->to_port) {
		tmn_udp_checksum(&udp->check, udp->dest, policy->to_port);
		udp->dest = policy->to_port;
	}
}

/* Out through another interface; by the kernel's routing where that cannot be. */
TMN_INLINE int tmn_fate_redirect(struct xdp_md *ctx, const struct tmn_hook *hook,
				 const struct tmn_policy *policy,
				 const struct tmn_datagram *datagram)
{
	struct bpf_fib_lookup route = {};
	struct ethhdr *link;
	struct iphdr *ip;

	if (datagram->hops <= 1)
		return tmn_say(ctx, hook, TMN_XDP_DONE);
	route.l4_protocol = IPPROTO_UDP;
	route.ifindex = policy->ifindex;
	route.tot_len = datagram->ip_octets + datagram->transport_at - ETH_HLEN;
	if (datagram->is_ipv6) {
		route.family = TMN_AF_INET6;
		__builtin_memcpy(route.ipv6_src, datagram->source, sizeof(route.ipv6_src));
		__builtin_memcpy(route.ipv6_dst, datagram->destination, sizeof(route.ipv6_dst));
	} else {
		route.family = TMN_AF_INET;
		route.ipv4_src = datagram->source[3];
		route.ipv4_dst = datagram->destination[3];
	}
	if (bpf_fib_lookup(ctx, &route, sizeof(route), BPF_FIB_LOOKUP_OUTPUT) ||
	    route.ifindex != policy->ifindex)
		return tmn_say(ctx, hook, TMN_XDP_DONE);
	link = tmn_place_at(ctx, 0, sizeof(*link));
	ip = tmn_place_at(ctx, ETH_HLEN, sizeof(*ip));
	if (!link || !ip)
		return tmn_say(ctx, hook, TMN_XDP_DONE);
	if (datagram->is_ipv6) {
		((struct ipv6hdr *)ip)->hop_limit--;
	} else {
		ip->check = tmn_checksum_update(ip->check, bpf_htons((__u16)(ip->ttl << 8)),
						bpf_htons((__u16)((ip->ttl - 1) << 8)));
		ip->ttl--;
	}
	__builtin_memcpy(link->h_dest, route.dmac, ETH_ALEN);
	__builtin_memcpy(link->h_source, route.smac, ETH_ALEN);
	/* Metadata may go with it to another namespace, whose node may have the same mark. */
	bpf_xdp_adjust_meta(ctx, sizeof(struct tmn_meta));
	return bpf_redirect(route.ifindex, 0);
}

/* ---- datagrams ------------------------------------------------------------------------------- */

/* Whether state says that the packet has to go up, before the level may begin or when it is to end. */
TMN_INLINE int tmn_state_up(const struct tmn_policy *policy)
{
	struct tmn_state *state;
	__u64 settled, up;
	__u32 slot = policy->slot;

	if (policy->share != TMN_SHARE_NONE)
		return 1;
	state = bpf_map_lookup_elem(&tmn_states, &slot);
	if (!state)
		return 1;
	settled = *(volatile __u64 *)&state->settled;
	if (!policy->ordered)
		return tmn_is_held(settled);
	up = *(volatile __u64 *)&state->up;
	return tmn_gate_up(policy, up, settled);
}

/* Does what the policy says. */
TMN_INLINE int tmn_obey(struct xdp_md *ctx, struct tmn_scratch *scratch,
			const struct tmn_hook *hook, const struct tmn_hints *hints,
			const struct tmn_datagram *datagram, const struct tmn_found *found)
{
	const struct tmn_policy *policy = found->policy;
	const struct tmn_packet *packet = found->packet;
	struct tmn_counters *counters;
	__u32 slot = policy->slot;
	__u32 rule;

	counters = bpf_map_lookup_elem(&tmn_counts, &slot);
	if (!counters)
		return XDP_PASS;
	if (tmn_state_up(policy) || tmn_fate_up(policy, hints, datagram))
		return tmn_say(ctx, hook, TMN_XDP_LIFTED | slot);
	counters->packets++;
	tmn_count_octets(counters, packet->octets);
	rule = policy->rule_count ? tmn_rule_of(policy, packet) : TMN_RULES_PASS;
	if (rule <= TMN_MAX_RULES)
		counters->rules[rule]++;
	if (rule <= TMN_MAX_RULES || policy->fate == TMN_FATE_DROP) {
		counters->dropped++;
		return XDP_DROP;
	}
	counters->on++;
	if (policy->mark != TMN_MARK_NONE) {
		if (tmn_mark(ctx, policy, scratch, packet, datagram))
			counters->marked++;
		else
			counters->unmarked++;
	}
	if (policy->fate == TMN_FATE_REDIRECT)
		return tmn_fate_redirect(ctx, hook, policy, datagram);
	if (policy->fate == TMN_FATE_TO)
		tmn_fate_to(ctx, policy, datagram);
	return tmn_say(ctx, hook, TMN_XDP_DONE);
}

TMN_INLINE int tmn_udp(struct xdp_md *ctx, const struct tmn_hook *hook,
		       const struct tmn_hints *hints, struct tmn_scratch *scratch,
		       const struct tmn_datagram *datagram, struct udphdr *udp, void *end,
		       __u32 octets)
{
	struct tmn_found found;
	__u32 met;

	tmn_count(TMN_MET_SEEN, 1);
	met = tmn_look_at(ctx, scratch, hook, hints, datagram, udp + 1, end, octets, &found);
	if (met != TMN_OK) {
		/* Traffic control's program finds the same, and sends up what is to go up. */
		tmn_count(met, 1);
		return XDP_PASS;
	}
	if (!found.policy) {
		tmn_count(TMN_MET_NO_POLICY, 1);
		return XDP_PASS;
	}
	if (found.policy->level != TMN_LEVEL_XDP) {
		tmn_count(TMN_MET_OTHER_LEVEL, 1);
		return XDP_PASS;
	}
	tmn_count(TMN_MET_POLICY, 1);
	return tmn_obey(ctx, scratch, hook, hints, datagram, &found);
}

/* ---- the program ----------------------------------------------------------------------------- */

SEC("xdp.frags")
int tmn_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct tmn_scratch *scratch;
	struct tmn_datagram datagram;
	struct tmn_hints *hints;
	struct tmn_hook *hook;
	struct udphdr *udp;
	__u32 at, zero = 0;
	int length;

	hook = bpf_map_lookup_elem(&tmn_hooks, &zero);
	hints = bpf_map_lookup_elem(&tmn_hints, &zero);
	scratch = bpf_map_lookup_elem(&tmn_scratches, &zero);
	if (!hook || !hints || !scratch || hook->abi != TMN_ABI_VERSION || !hints->front)
		return XDP_PASS;
	if (hints->front == TMN_FRONT_TRIES) {
		tmn_begin(ctx, hook);
		return XDP_PASS;
	}
	if (tmn_read_ip(&datagram, data, end) || datagram.protocol != IPPROTO_UDP)
		return XDP_PASS;
	if (datagram.is_fragment) {
		tmn_count(TMN_MET_FRAGMENT, 1);
		return XDP_PASS;
	}
	at = tmn_transport_at(&datagram);
	udp = data + at;
	if ((void *)(udp + 1) > end || !tmn_is_port(hook->udp, hook->udp_ports, udp->dest) ||
	    !tmn_is_own(data))
		return XDP_PASS;
	length = tmn_datagram_octets(bpf_ntohs(udp->len), datagram.ip_octets);
	if (length < 0)
		return XDP_PASS;
	datagram.source_port = udp->source;
	datagram.destination_port = udp->dest;
	if (tmn_begin(ctx, hook))
		return XDP_PASS;
	/* Anew: moving metadata forgets the old ones. */
	udp = (void *)(long)ctx->data + tmn_transport_at(&datagram);
	end = (void *)(long)ctx->data_end;
	if ((void *)(udp + 1) > end)
		return XDP_PASS;
	return tmn_udp(ctx, hook, hints, scratch, &datagram, udp, end, length);
}

char _license[] SEC("license") = "GPL";
