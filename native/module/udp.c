// SPDX-License-Identifier: GPL-2.0
/* A datagram to a node's port: reads its packet, and does what the policy of its flow says. */
#include <linux/udp.h>

#include "tamanoir.h"

/*
 * A datagram, or several that the kernel joined. It joins what has the same ends; what the first
 * is, the others are taken to be, but for policies: joined ones go up.
 */
struct datagram {
	struct tmn_packet packet;
	u32 count;
	u32 octets;
	enum tmn_met met;
};

static enum tmn_met read_packet(const struct tmn_crossing *crossing, struct datagram *datagram)
{
	u8 copy[TMN_HEADER_OCTETS] TMN_UNFILLED;
	const u8 *head;
	enum tmn_met met;

	head = skb_header_pointer(crossing->skb, crossing->transport + sizeof(struct udphdr),
				  min_t(u32, datagram->octets, sizeof(copy)), copy);
	if (!head)
		return TMN_MET_TRUNCATED;
	met = tmn_parse(&datagram->packet, head, datagram->octets, crossing->hook->type_id);
	if (datagram->packet.checksum_at && !tmn_checksum_holds(crossing, &datagram->packet))
		return TMN_MET_CHECKSUM;
	return met;
}

/* False: its lengths contradict, so that it reaches no socket. */
static bool read_datagram(const struct tmn_crossing *crossing, const struct udphdr *udp,
			  struct datagram *datagram)
{
	const struct sk_buff *skb = crossing->skb;
	u32 there = skb->len - crossing->transport;
	int octets = tmn_datagram_octets(ntohs(udp->len), there);

	datagram->count = 1;
	if (skb_is_gso(skb)) {
		u32 size = skb_shinfo(skb)->gso_size;

		octets = there - sizeof(*udp);
		if (size && size < octets && skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4) {
			datagram->count = DIV_ROUND_UP(octets, size);
			octets = size;
		}
	}
	if (octets < 0)
		return false;
	datagram->octets = octets;
	datagram->met = read_packet(crossing, datagram);
	return true;
}

static const struct tmn_entry *find_policy(const struct tmn_crossing *crossing,
					   const struct tmn_packet *packet)
{
	struct tmn_flow flow;

	tmn_flow_of(&flow, packet, crossing->source, crossing->destination, IPPROTO_UDP);
	return tmn_find(crossing->node, &flow, packet->stream_at);
}

/* To the node; or on, where that is not there. */
static unsigned int send_up(const struct tmn_crossing *crossing, const struct datagram *datagram,
			    const struct tmn_entry *entry)
{
	if (!tmn_has_udp_socket(crossing)) {
		tmn_meet(crossing->node, TMN_MET_ABSENT, datagram->count);
		return NF_ACCEPT;
	}
	if (!entry)
		return tmn_up(crossing, 0);
	atomic64_add(datagram->count, &entry->tally->up);
	tmn_count_up(entry->tally, datagram->count);
	return tmn_up(crossing, entry->policy.slot);
}

static bool is_of_family(const struct tmn_crossing *crossing, const u8 address[16])
{
	return tmn_is_mapped_ipv4(address) != crossing->is_ipv6;
}

static bool goes_up(const struct tmn_crossing *crossing, const struct datagram *datagram,
		    const struct tmn_policy *policy, struct tmn_tally *tally)
{
	u64 seen = 0, settled;

	if (tmn_share_counts(policy))
		seen = atomic64_add_return(datagram->count, &tally->seen);
	if (datagram->met != TMN_OK || tmn_share_up(policy, seen))
		return true;
	settled = smp_load_acquire(&tally->settled);
	if (tmn_is_held(settled) ||
	    (tmn_is_gated(policy, IPPROTO_UDP) &&
	     tmn_gate_up(policy, atomic64_read(&tally->up), settled)))
		return true;
	if (policy->fate == TMN_FATE_TO)
		return !is_of_family(crossing, policy->to_address);
	return policy->fate == TMN_FATE_ON && tmn_is_local(crossing);
}

static void mark(struct tmn_crossing *crossing, const struct tmn_packet *packet,
		 const struct tmn_entry *entry)
{
	struct tmn_place place;

	tmn_mark_place(&place, &entry->policy, packet);
	tmn_count_marked(entry->tally, place.words && !tmn_mark(crossing, packet, &place));
}

/* The level handles the packet itself. */
static unsigned int handle(struct tmn_crossing *crossing, const struct tmn_packet *packet,
			   const struct tmn_entry *entry)
{
	const struct tmn_policy *policy = &entry->policy;
	u32 rule = tmn_rules_end(policy, packet);
	bool is_dropped = rule != TMN_RULES_PASS || policy->fate == TMN_FATE_DROP;

	if (!is_dropped) {
		if (policy->mark != TMN_MARK_NONE)
			mark(crossing, packet, entry);
		if (policy->fate == TMN_FATE_TO)
			is_dropped = tmn_send_to(crossing, policy) != 0;
	}
	tmn_count_handled(entry->tally, packet->octets, rule, is_dropped);
	return is_dropped ? NF_DROP : NF_ACCEPT;
}

static unsigned int without_policy(const struct tmn_crossing *crossing,
				   const struct datagram *datagram)
{
	bool is_plain = datagram->met == TMN_OK;

	tmn_meet(crossing->node, is_plain ? TMN_MET_NO_POLICY : datagram->met, datagram->count);
	if (is_plain && !crossing->hook->unknown_up)
		return NF_ACCEPT;
	return send_up(crossing, datagram, NULL);
}

static unsigned int by_policy(struct tmn_crossing *crossing, const struct datagram *datagram,
			      const struct tmn_entry *entry)
{
	if (entry->policy.level != TMN_LEVEL_MODULE) {
		tmn_meet(crossing->node, TMN_MET_OTHER_LEVEL, datagram->count);
		return NF_ACCEPT;
	}
	tmn_meet(crossing->node, datagram->met == TMN_OK ? TMN_MET_POLICY : datagram->met,
		 datagram->count);
	if (goes_up(crossing, datagram, &entry->policy, entry->tally))
		return send_up(crossing, datagram, entry);
	return handle(crossing, &datagram->packet, entry);
}

unsigned int tmn_udp(struct tmn_crossing *crossing, const struct udphdr *udp)
{
	const struct tmn_entry *entry = NULL;
	struct datagram datagram TMN_UNFILLED;

	if (!read_datagram(crossing, udp, &datagram))
		return NF_ACCEPT;
	tmn_meet(crossing->node, TMN_MET_SEEN, datagram.count);
	if (datagram.met != TMN_OK && datagram.met != TMN_MET_TRAILER &&
	    datagram.met != TMN_MET_COMPLEX) {
		tmn_meet(crossing->node, datagram.met, datagram.count);
		return NF_ACCEPT;
	}
	if (datagram.met != TMN_MET_COMPLEX)
		entry = find_policy(crossing, &datagram.packet);
	if (datagram.count > 1)
		datagram.met = TMN_MET_AGGREGATED;
	return entry ? by_policy(crossing, &datagram, entry) : without_policy(crossing, &datagram);
}
