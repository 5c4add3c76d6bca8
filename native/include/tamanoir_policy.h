/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What the netfilter module and the BPF programs do alike: read a packet's header by the receive
 * rules of ANEP, name its flow, and decide what a policy wants of it. Functions of their
 * arguments alone, which call nothing: the same code runs in the kernel, under the BPF verifier,
 * and in tests.
 *
 *  octet 0        1        2        3
 *       +--------+--------+--------+--------+
 *     0 |Version | Flags  |     Type ID     |   basic header, 8 octets
 *       +--------+--------+--------+--------+
 *     4 | ANEP Hdr Length | ANEP Pkt Length |   32-bit words | octets
 *       +--------+--------+--------+--------+
 *     8 | options (TLVs), (HdrLen-2)*4 oct. |
 *       +-----------------------------------+
 *   4*H | payload, PktLen - 4*HdrLen octets |
 *       +-----------------------------------+
 *
 *       +--+--------------+-----------------+
 *     0 |FL| Option Type  |  Option Length  |   FL: private, discard if unknown
 *       +--+--------------+-----------------+
 *     4 | option payload, (OptLen-1)*4 oct. |
 *       +-----------------------------------+
 *
 * For the verifier: every access is a 32-bit word at an offset masked by TMN_WORD_MASK, so
 * "head" has to be memory of TMN_HEADER_OCTETS octets there, aligned to 4. Let struct tmn_packet
 * lie in a map: on the stack the verifier would keep apart each combination of what was found.
 * Elsewhere "head" may end with the datagram, wherever it lies.
 */
#ifndef TAMANOIR_POLICY_H
#define TAMANOIR_POLICY_H

#include "tamanoir_abi.h"

#define TMN_INLINE static inline __attribute__((always_inline, unused))

#define TMN_OK TMN_MET_SEEN	/* nothing but the datagram itself was met */

#define TMN_VERSION 1		/* of ANEP */
#define TMN_BASIC_OCTETS 8	/* of the basic header */
#define TMN_WORD_MASK (TMN_HEADER_OCTETS - 4)

#define TMN_OPTION_PRIVATE 0x8000u
#define TMN_OPTION_DISCARD 0x4000u
#define TMN_OPTION_NUMBER 0x3fffu
#define TMN_PUBLIC_OPTIONS 4u
#define TMN_PRIVATE_OPTIONS 10u

#define TMN_SCHEME_IPV4 1u
#define TMN_SCHEME_IPV6 2u
#define TMN_SCHEME_802_3 3u

/* Known options: public ones by their number, private ones behind them. */
enum tmn_slot {
	TMN_SLOT_UNKNOWN = 0,
	TMN_SLOT_SOURCE = 1,
	TMN_SLOT_DESTINATION = 2,
	TMN_SLOT_CHECKSUM = 3,
	TMN_SLOT_SERVICE = 5,
	TMN_SLOT_CLASS = 6,
	TMN_SLOT_PREVIOUS_NODE = 7,
	TMN_SLOT_STREAM = 8,
	TMN_SLOT_IGNORED = 15,	/* an option that does not count, or not a second time */
	TMN_SLOTS = 16,
};

/* Length of each known option in words, 4 bits a slot; 0 = varies. */
#define TMN_OPTION_WORDS 0x02b5244402302000ull

/* What the walk over the options found wrong; which of it counts is decided at its end. */
#define TMN_FLAW_CHECKSUM 1	/* a second one, or one of another length */
#define TMN_FLAW_OPTION 2
#define TMN_FLAW_FORMAT 4

/* What a packet's header says. Offsets are from the packet's first octet; 0 = there is none. */
struct tmn_packet {
	__u32 octets;		/* of the whole packet */
	__u32 header_octets;
	__u32 type_id;
	__u32 present;		/* 1 << slot of each option found */
	__u32 flaws;		/* TMN_FLAW_... */
	__u32 trailer;		/* 1: octets stand behind the packet in its datagram */
	__u32 checksum_at;	/* its 16 bits; the whole packet's sum is still to be verified */
	__u32 class_at;		/* the class octet */
	__u32 class;
	__u32 stream_at;	/* the stream id */
	__u32 stream;
	__u32 has_source;	/* an IPv4 or IPv6 address */
	__u32 has_destination;
	__u32 raw_stream;	/* these as on the wire, addresses as IPv6 or ::ffff:a.b.c.d */
	__u32 service[2];
	__u32 source[4];	/* all from here on: only where there is one */
	__u32 destination[4];
	__u8 at[TMN_SLOTS];	/* where each option that is present begins */
};

/* ---- words ----------------------------------------------------------------------------------- */

/* Keeps the compiler from concluding bounds that the verifier then does not see. */
#define TMN_OPAQUE(value) __asm__ volatile("" : "+r"(value))

/* As on the wire. */
TMN_INLINE __u32 tmn_raw_word(const __u8 *head, __u32 offset)
{
	__u32 word;

#ifdef __bpf__
	TMN_OPAQUE(offset);
	word = *(const __u32 *)(head + (offset & TMN_WORD_MASK));
#else
	__builtin_memcpy(&word, head + (offset & TMN_WORD_MASK), sizeof(word));
#endif
	return word;
}

/* From the wire's order to the host's, and back. */
TMN_INLINE __u32 tmn_swap_word(__u32 word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap32(word);
#else
	return word;
#endif
}

TMN_INLINE __u16 tmn_swap_half(__u16 half)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap16(half);
#else
	return half;
#endif
}

TMN_INLINE __u32 tmn_word(const __u8 *head, __u32 offset)
{
	return tmn_swap_word(tmn_raw_word(head, offset));
}

/*
 * The Internet checksum after one of its 16-bit words changed (RFC 1624, equation 3); all three
 * as on the wire, or all in the host's order.
 */
TMN_INLINE __u16 tmn_checksum_update(__u16 checksum, __u16 before, __u16 after)
{
	__u32 sum = (__u16)~checksum + (__u32)(__u16)~before + after;

	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (__u16)~sum;
}

/* An IPv4 address, as on the wire, as ::ffff:a.b.c.d. */
TMN_INLINE void tmn_map_ipv4(__u32 mapped[4], __u32 raw_address)
{
	mapped[0] = 0;
	mapped[1] = 0;
	mapped[2] = tmn_swap_word(0xffff);
	mapped[3] = raw_address;
}

/* ---- receive rules --------------------------------------------------------------------------- */

/*
 * Octets of a datagram by its UDP header.
 *
 * @param udp_octets the length field, in the host's order
 * @param ip_octets what the IP packet holds from the UDP header on
 * @return below 0 where they contradict: such a datagram reaches no socket
 */
TMN_INLINE int tmn_datagram_octets(__u32 udp_octets, __u32 ip_octets)
{
	return udp_octets < 8 || udp_octets > ip_octets ? -1 : (int)udp_octets - 8;
}

/*
 * Receive rules 1 to 4.
 *
 * @param head the datagram, or its first TMN_HEADER_OCTETS octets
 */
TMN_INLINE __u32 tmn_parse_basic(struct tmn_packet *packet, const __u8 *head, __u32 datagram_octets)
{
	__u32 first, second;

	__builtin_memset(packet, 0, __builtin_offsetof(struct tmn_packet, source));
	if (datagram_octets < TMN_BASIC_OCTETS)
		return TMN_MET_SHORT;
	first = tmn_word(head, 0);
	second = tmn_word(head, 4);
	if (first >> 24 != TMN_VERSION)
		return TMN_MET_VERSION;
	packet->type_id = first & 0xffff;
	packet->header_octets = (second >> 16) * 4;
	packet->octets = second & 0xffff;
	if (packet->header_octets < TMN_BASIC_OCTETS || packet->header_octets > packet->octets)
		return TMN_MET_HEADER_LENGTH;
	if (packet->octets > datagram_octets)
		return TMN_MET_TRUNCATED;
	packet->trailer = packet->octets < datagram_octets;
	return TMN_OK;
}

/* Where a known option of the first 16 bits of its TLV is kept. */
TMN_INLINE __u32 tmn_slot_of(__u32 type, __u32 own)
{
	__u32 number = type & TMN_OPTION_NUMBER;

	if (!(type & TMN_OPTION_PRIVATE))
		return number <= TMN_PUBLIC_OPTIONS ? number : TMN_SLOT_UNKNOWN;
	if (!own)
		return TMN_SLOT_IGNORED;
	if (!number || number > TMN_PRIVATE_OPTIONS)
		return TMN_SLOT_UNKNOWN;
	return number + TMN_PUBLIC_OPTIONS;
}

/* Receive rule 8 for options whose length depends on their scheme. */
TMN_INLINE __u32 tmn_misfits(__u32 slot, __u32 scheme, __u32 words)
{
	words -= slot == TMN_SLOT_PREVIOUS_NODE;
	return (scheme == TMN_SCHEME_IPV4 && words != 3) ||
	       (scheme == TMN_SCHEME_IPV6 && words != 6) ||
	       (scheme == TMN_SCHEME_802_3 && words != 4);
}

/*
 * Looks at one option.
 *
 * @param next where it begins, below packet->header_octets; set to where the one after it does
 */
TMN_INLINE __u32 tmn_parse_option(struct tmn_packet *packet, __u32 *next,
				   const __u8 *head, __u32 own)
{
	__u32 at = *next;
	__u32 word = tmn_word(head, at);
	__u32 words = word & 0xffff;
	__u32 type = word >> 16;
	__u32 end = at + words * 4;
	__u32 flaws = 0;
	__u32 slot, bit, expected;

	if (!words || end > packet->header_octets)
		return TMN_MET_OPTION_LENGTH;
	*next = end;
	slot = tmn_slot_of(type, own);
	bit = 1u << slot;
	if (slot == TMN_SLOT_UNKNOWN) {
		if (type & TMN_OPTION_DISCARD)
			flaws = TMN_FLAW_OPTION;
		slot = TMN_SLOT_IGNORED;
	} else if (packet->present & bit) {
		if (slot == TMN_SLOT_CHECKSUM)
			flaws = TMN_FLAW_CHECKSUM;
		slot = TMN_SLOT_IGNORED;
	} else if (slot != TMN_SLOT_IGNORED) {
		packet->present |= bit;
		expected = (TMN_OPTION_WORDS >> (slot * 4)) & 15;
		if (expected) {
			if (words != expected)
				flaws = slot == TMN_SLOT_CHECKSUM ? TMN_FLAW_CHECKSUM :
								    TMN_FLAW_FORMAT;
		} else if (slot == TMN_SLOT_SOURCE || slot == TMN_SLOT_DESTINATION ||
			   slot == TMN_SLOT_PREVIOUS_NODE) {
			if (words < 2 || tmn_misfits(slot, tmn_word(head, at + 4), words))
				flaws = TMN_FLAW_FORMAT;
		}
	}
	packet->flaws |= flaws;
	TMN_OPAQUE(slot);
	packet->at[slot & (TMN_SLOTS - 1)] = (__u8)at;
	return TMN_OK;
}

/* The address of a source or destination option that fits its scheme. */
TMN_INLINE __u32 tmn_identifier(__u32 address[4], const __u8 *head, __u32 at)
{
	__u32 scheme = tmn_word(head, at + 4);

	if (scheme == TMN_SCHEME_IPV4) {
		tmn_map_ipv4(address, tmn_raw_word(head, at + 8));
		return 1;
	}
	if (scheme != TMN_SCHEME_IPV6)
		return 0;
	address[0] = tmn_raw_word(head, at + 8);
	address[1] = tmn_raw_word(head, at + 12);
	address[2] = tmn_raw_word(head, at + 16);
	address[3] = tmn_raw_word(head, at + 20);
	return 1;
}

/* Receive rules 6 to 9 after all options, rule 6 without the sum. */
TMN_INLINE __u32 tmn_parse_end(struct tmn_packet *packet, const __u8 *head, __u32 own)
{
	__u32 present = packet->present;
	__u32 at;

	if (packet->flaws & TMN_FLAW_CHECKSUM)
		return TMN_MET_CHECKSUM;
	if (present & 1u << TMN_SLOT_CHECKSUM)
		packet->checksum_at = packet->at[TMN_SLOT_CHECKSUM] + 4;
	if (packet->flaws & TMN_FLAW_OPTION)
		return TMN_MET_OPTION;
	if (packet->flaws & TMN_FLAW_FORMAT)
		return TMN_MET_OPTION_FORMAT;
	if (!own)
		return TMN_MET_TYPE_ID;
	if (present & 1u << TMN_SLOT_SOURCE)
		packet->has_source =
			tmn_identifier(packet->source, head, packet->at[TMN_SLOT_SOURCE]);
	if (present & 1u << TMN_SLOT_DESTINATION)
		packet->has_destination =
			tmn_identifier(packet->destination, head, packet->at[TMN_SLOT_DESTINATION]);
	if (present & 1u << TMN_SLOT_CLASS) {
		at = packet->at[TMN_SLOT_CLASS] + 4;
		packet->class_at = at;
		packet->class = tmn_word(head, at) >> 24;
	}
	if (present & 1u << TMN_SLOT_STREAM) {
		at = packet->at[TMN_SLOT_STREAM] + 4;
		packet->stream_at = at;
		packet->raw_stream = tmn_raw_word(head, at);
		packet->stream = tmn_swap_word(packet->raw_stream);
	}
	if (!(present & 1u << TMN_SLOT_SERVICE))
		return TMN_MET_NO_KEY;
	at = packet->at[TMN_SLOT_SERVICE] + 4;
	packet->service[0] = tmn_raw_word(head, at);
	packet->service[1] = tmn_raw_word(head, at + 4);
	if (!(packet->service[0] | packet->service[1]))
		return TMN_MET_NO_KEY;
	return packet->trailer ? TMN_MET_TRAILER : TMN_OK;
}

/*
 * Reads a datagram's packet by receive rules 1 to 9.
 *
 * Where packet->checksum_at is not 0, the sum over the whole packet comes before the answer:
 * does it not hold, the answer is TMN_MET_CHECKSUM in its place.
 *
 * @param head the datagram, or its first TMN_HEADER_OCTETS octets
 * @param own_type_id under which private options count
 * @return TMN_OK, TMN_MET_TRAILER or TMN_MET_COMPLEX for packets of services, else why it is
 * none
 */
TMN_INLINE __u32 tmn_parse(struct tmn_packet *packet, const __u8 *head, __u32 datagram_octets,
			   __u32 own_type_id)
{
	__u32 met = tmn_parse_basic(packet, head, datagram_octets);
	__u32 own = packet->type_id == own_type_id;
	__u32 next = TMN_BASIC_OCTETS;
	__u32 i;

	if (met != TMN_OK)
		return met;
	if (packet->header_octets > TMN_HEADER_OCTETS)
		return own ? TMN_MET_COMPLEX : TMN_MET_TYPE_ID;
	for (i = 0; i < TMN_MAX_OPTIONS && next < packet->header_octets; i++) {
		met = tmn_parse_option(packet, &next, head, own);
		if (met != TMN_OK)
			return met;
	}
	if (next < packet->header_octets)
		return own ? TMN_MET_COMPLEX : TMN_MET_TYPE_ID;
	return tmn_parse_end(packet, head, own);
}

/* ---- flows ----------------------------------------------------------------------------------- */

/* The key with nothing wild; source and destination are of the IP header. */
TMN_INLINE void tmn_flow_of(struct tmn_flow *flow, const struct tmn_packet *packet,
			    const __u32 source[4], const __u32 destination[4], __u8 protocol)
{
	__builtin_memset(flow, 0, sizeof(*flow));
	__builtin_memcpy(flow->service, packet->service, sizeof(flow->service));
	__builtin_memcpy(flow->source, source, sizeof(flow->source));
	__builtin_memcpy(flow->destination, destination, sizeof(flow->destination));
	__builtin_memcpy(&flow->stream, &packet->raw_stream, sizeof(flow->stream));
	flow->protocol = protocol;
}

/*
 * Which of a service's combinations of wildcards (bit w: there are policies with wild == w) a
 * packet can meet.
 */
TMN_INLINE __u32 tmn_wilds(__u32 of_service, __u32 has_stream)
{
	return has_stream ? of_service & 0xff : of_service & 0xf0;
}

/* The key to look up for one combination. */
TMN_INLINE void tmn_flow_widen(struct tmn_flow *key, const struct tmn_flow *flow, __u32 wild)
{
	__builtin_memcpy(key, flow, sizeof(*key));
	if (wild & TMN_WILD_SOURCE)
		__builtin_memset(key->source, 0, sizeof(key->source));
	if (wild & TMN_WILD_DESTINATION)
		__builtin_memset(key->destination, 0, sizeof(key->destination));
	if (wild & TMN_WILD_STREAM)
		key->stream = 0;
	key->wild = (__u8)wild;
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* Whether state.seen is needed. */
TMN_INLINE int tmn_share_counts(const struct tmn_policy *policy)
{
	return policy->share == TMN_SHARE_EVERY || policy->share == TMN_SHARE_FIRST;
}

/*
 * Whether the share sends a packet up.
 *
 * @param seen packets of the flow with this one, where tmn_share_counts
 */
TMN_INLINE int tmn_share_up(const struct tmn_policy *policy, __u64 seen)
{
	switch (policy->share) {
	case TMN_SHARE_ALL:
		return 1;
	case TMN_SHARE_EVERY:
		return !policy->number || seen % policy->number == 0;
	case TMN_SHARE_FIRST:
		return seen <= policy->number;
	default:
		return 0;
	}
}

/*
 * Whether tmn_gate_up is to be asked for a packet that the share leaves to the level. Not where
 * every k-th goes up: those are overtaken anyway. Not for connections: nothing of theirs is on
 * its way when they begin.
 */
TMN_INLINE int tmn_is_gated(const struct tmn_policy *policy, __u8 protocol)
{
	if (protocol != 17 || policy->share == TMN_SHARE_EVERY)
		return 0;
	return policy->share == TMN_SHARE_FIRST || policy->ordered;
}

/*
 * Whether the packet goes up because it would overtake others. Read settled before up: in the
 * other order a packet that goes up between both would not be seen.
 */
TMN_INLINE int tmn_gate_up(const struct tmn_policy *policy, __u64 up, __u64 settled)
{
	return up != settled || (policy->ordered && !up);
}

/* Whether the node has all packets of the slot go up. Of UDP. */
TMN_INLINE int tmn_is_held(__u64 settled)
{
	return (__s64)settled < 0;
}

/* ---- rules ----------------------------------------------------------------------------------- */

#define TMN_RULES_PASS (TMN_MAX_RULES + 1)

TMN_INLINE int tmn_compares(__u8 comparison, __u32 number, __u32 with)
{
	switch (comparison) {
	case TMN_EQUAL:
		return number == with;
	case TMN_BELOW:
		return number < with;
	case TMN_ABOVE:
		return number > with;
	default:
		return 0;
	}
}

/* Whether the first bits of both are alike. */
TMN_INLINE int tmn_in_prefix(const __u32 address[4], const __u8 prefix[16], __u32 bits)
{
	__u32 different = 0;
	__u32 word, mask, i;

	for (i = 0; i < 4; i++) {
		mask = 0;
		if (bits >= 32 * i + 32)
			mask = 0xffffffffu;
		else if (bits > 32 * i)
			mask = tmn_swap_word(0xffffffffu << ((32 - bits) & 31));
		__builtin_memcpy(&word, prefix + 4 * i, sizeof(word));
		different |= (address[i] ^ word) & mask;
	}
	return !different;
}

TMN_INLINE int tmn_rule_meets(const struct tmn_rule *rule, const struct tmn_packet *packet)
{
	switch (rule->subject) {
	case TMN_RULE_ALL:
		return 1;
	case TMN_RULE_SOURCE:
		return packet->has_source &&
		       tmn_in_prefix(packet->source, rule->address, rule->prefix);
	case TMN_RULE_DESTINATION:
		return packet->has_destination &&
		       tmn_in_prefix(packet->destination, rule->address, rule->prefix);
	case TMN_RULE_CLASS:
		return packet->class_at &&
		       tmn_compares(rule->comparison, packet->class, rule->number);
	case TMN_RULE_STREAM:
		return packet->stream_at &&
		       tmn_compares(rule->comparison, packet->stream, rule->number);
	case TMN_RULE_SIZE:
		return tmn_compares(rule->comparison, packet->octets, rule->number);
	default:
		return 0;
	}
}

/*
 * The rule that ends the packet: its index in tmn_counters.rules, TMN_MAX_RULES for the default;
 * or TMN_RULES_PASS.
 */
TMN_INLINE __u32 tmn_rules_end(const struct tmn_policy *policy, const struct tmn_packet *packet)
{
	__u32 i;

	for (i = 0; i < TMN_MAX_RULES; i++) {
		if (i >= policy->rule_count)
			break;
		if (tmn_rule_meets(&policy->rules[i], packet))
			return policy->rules[i].drops ? i : TMN_RULES_PASS;
	}
	return policy->default_drops ? TMN_MAX_RULES : TMN_RULES_PASS;
}

/* ---- marks ----------------------------------------------------------------------------------- */

/*
 * What tmn_mark_word changes: one or two 16-bit words, at an even offset below
 * TMN_HEADER_OCTETS.
 */
struct tmn_place {
	__u32 at;	/* of the first word */
	__u32 words;	/* 0: the packet has no room for the mark */
	__u32 mask;	/* bits that the mark replaces, host's order; one word: low half */
	__u32 value;	/* the new ones */
};

/* Where a policy's mark goes. The checksum's own octets are no room: they follow from the rest. */
TMN_INLINE void tmn_mark_place(struct tmn_place *place, const struct tmn_policy *policy,
			       const struct tmn_packet *packet)
{
	__u32 at = 0, octets = 1;

	place->at = 0;
	place->words = 0;
	place->mask = 0;
	place->value = 0;
	if (policy->mark == TMN_MARK_CLASS) {
		at = packet->class_at;
	} else if (policy->mark == TMN_MARK_OCTETS) {
		at = policy->mark_offset;
		octets = policy->mark_octets;
		if (at + octets > packet->header_octets)
			return;
		if (packet->checksum_at && at < packet->checksum_at + 2 &&
		    at + octets > packet->checksum_at)
			return;
	}
	if (at < TMN_BASIC_OCTETS)
		return;
	place->at = at & (TMN_HEADER_OCTETS - 2);
	if (octets == 4) {
		place->words = 2;
		place->mask = 0xffffffffu;
		place->value = policy->mark_value;
	} else if (octets == 2) {
		place->words = 1;
		place->mask = 0xffff;
		place->value = policy->mark_value & 0xffff;
	} else {
		place->words = 1;
		place->mask = at & 1 ? 0xff : 0xff00;
		place->value = (policy->mark_value & 0xff) << (at & 1 ? 0 : 8);
	}
}

/* Word i of the place (at + 2 * i) after marking; both as on the wire. */
TMN_INLINE __u16 tmn_mark_word(const struct tmn_place *place, __u32 i, __u16 before)
{
	__u32 shift = place->words == 2 && !i ? 16 : 0;
	__u16 mask = tmn_swap_half((__u16)(place->mask >> shift));
	__u16 value = tmn_swap_half((__u16)(place->value >> shift));

	return (__u16)((before & (__u16)~mask) | value);
}

#endif
