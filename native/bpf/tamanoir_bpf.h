/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What the tc and XDP programs share: the maps of tamanoir_abi.h, reading a datagram's headers,
 * finding its policy, and counting. Whoever includes it defines before
 *
 *   TMN_LEVEL	the program's own, enum tmn_level
 *   tmn_load(ctx, offset, to, octets)	copies from the packet, wherever it lies; 0 = done
 *
 * Runs without preemption by another packet on the same processor, so that scratch memory is one
 * packet's. Uses UAPI headers and helpers of kernel 6.1 alone.
 */
#ifndef TAMANOIR_BPF_H
#define TAMANOIR_BPF_H

#include "tamanoir_net.h"

#define TMN_CHUNK 512		/* most octets that bpf_csum_diff takes */
#define TMN_CHUNKS (TMN_MAX_CHECKED_OCTETS / TMN_CHUNK)

/*
 * What XDP did with a datagram to the node's ports goes with it, in a word of metadata in front of the frame. Traffic
 * control's program goes by it, since policies may change between the two. The word is laid out as the mark of packets
 * that go up (tamanoir_abi.h), with one of these in the bits that are zero there:
 *
 * NONE    XDP found no policy of its own, or could not do what it says: traffic control's program decides
 * DONE    XDP did what the policy says: nothing is left to be done
 * LIFTED  goes up under the slot's policy, as XDP can send nothing up
 */
#define TMN_XDP_BITS 0x000f0000u
#define TMN_XDP_NONE 0x00010000u
#define TMN_XDP_DONE 0x00020000u
#define TMN_XDP_LIFTED 0x00030000u

/*
 * The metadata, as XDP's program writes it: the word is the last before the frame. Where traffic control gets a frame
 * without its link header (tmn_make_whole), the kernel still counts metadata back from where the frame begins: what it
 * takes for the metadata begins ETH_HLEN octets late. The word lies in it there too, where else are zeros.
 */
struct tmn_meta {
	__u16 zero;
	__u16 late[2];		/* the word's halves, if the frame lacks its link header */
	__u16 zeros[5];
	__u32 word;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tmn_hook);
} tmn_hooks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TMN_MAX_SERVICES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u32);
} tmn_services SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TMN_MAX_POLICIES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct tmn_flow);
	__type(value, struct tmn_policy);
} tmn_policies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TMN_MAX_LOCALS);
	__type(key, struct in6_addr);
	__type(value, __u32);
} tmn_locals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TMN_MAX_POLICIES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct tmn_state);
} tmn_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TMN_MAX_POLICIES);
	__type(key, __u32);
	__type(value, struct tmn_counters);
} tmn_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, (TMN_LEVEL_XDP + 1) * TMN_MET_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} tmn_mets SEC(".maps");

/*
 * What spares look-ups, kept by who fills the maps: set no later than what it hints at.
 *
 * wilds	combinations of wildcards of all services, as in tmn_services
 * only	1 + the combination, if there is just one
 * epoch	another one after each change of hook and policies, 0 meanwhile: see struct tmn_memo
 * front	0: XDP's program is not attached to all interfaces: no word in front of a frame is its own
 *		TMN_FRONT_TRIES: it decides nothing, and puts a word in front of each frame, so that
 *		traffic control's program finds out through which interfaces words come to it
 *		TMN_FRONT_DECIDES: through all
 * locals	bit tmn_local_bit() of each of tmn_locals
 */
#define TMN_LOCAL_WORDS 16
#define TMN_FRONT_TRIES 1u
#define TMN_FRONT_DECIDES 2u

struct tmn_hints {
	__u32 wilds;
	__u32 only;
	__u32 epoch;
	__u32 front;
	__u64 locals[TMN_LOCAL_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tmn_hints);
} tmn_hints SEC(".maps");

/* Combinations of wildcards in which the stream, or an end of the IP header, counts. */
#define TMN_WILDS_WITH_STREAM 0x0fu
#define TMN_WILDS_WITH_ENDS 0x77u

#define TMN_MEMOS 16		/* of each processor; a power of two */
#define TMN_MEMO_OCTETS 128	/* longest header that is remembered */
#define TMN_MEMO_PATIENCE 8	/* misses after which a memo gives way; a power of two */

/*
 * What was found out about a packet, for those alike: without ANEP checksum or octets behind it,
 * and its header the same wherever the answer depends on it. It holds in the epoch of the hints
 * in which it was made: no epoch is 0, so that while policies change packets look for themselves.
 * Both programs share memos: behind XDP, traffic control does not read a packet again.
 */
struct tmn_memo {
	__u32 epoch;
	__u32 missed;		/* packets that were not alike */
	__u32 ends;		/* 1: source and destination of the IP header count */
	__u32 zero;
	struct tmn_packet packet; /* octets are the latest one's; without rules only offsets count */
	__u64 head[TMN_MEMO_OCTETS / 8];
	__u64 mask[TMN_MEMO_OCTETS / 8]; /* bits that count */
	__u64 source[2];
	__u64 destination[2];
	struct tmn_policy policy; /* slot 0: there is none; rules: as many as there are */
};

/* Of the packet that this processor is at. Room behind chunk is for padding sums. */
struct tmn_scratch {
	__u8 head[TMN_HEADER_OCTETS];
	__u8 chunk[TMN_CHUNK + 8];
	struct tmn_packet packet;
	struct tmn_flow key;
	__u32 word;		/* of XDP, as tmn_tc_word found it */
	__u32 zero;
	struct tmn_memo memos[TMN_MEMOS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tmn_scratch);
} tmn_scratches SEC(".maps");

/* ---- counting -------------------------------------------------------------------------------- */

TMN_INLINE void tmn_count(__u32 met, __u32 datagrams)
{
	__u32 index = TMN_LEVEL * TMN_MET_COUNT + met;
	__u64 *counter = bpf_map_lookup_elem(&tmn_mets, &index);

	if (counter)
		*counter += datagrams;
}

TMN_INLINE void tmn_count_octets(struct tmn_counters *counters, __u64 octets)
{
	counters->octets += octets;
	if (!counters->smallest || octets < counters->smallest)
		counters->smallest = octets;
	if (octets > counters->largest)
		counters->largest = octets;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* 10 bits of an address, as on the wire. */
TMN_INLINE __u32 tmn_local_bit(const __u32 address[4])
{
	__u32 mixed = address[0] ^ address[1] ^ address[2] ^ address[3];

	mixed ^= mixed >> 16;
	mixed ^= mixed >> 8;
	return mixed & (TMN_LOCAL_WORDS * 64 - 1);
}

TMN_INLINE int tmn_is_local(const struct tmn_hints *hints, const struct tmn_datagram *datagram)
{
	__u32 bit = tmn_local_bit(datagram->destination);

	if (!(hints->locals[bit / 64] >> (bit & 63) & 1))
		return 0;
	return bpf_map_lookup_elem(&tmn_locals, datagram->destination) != NULL;
}

/* ---- the ANEP packet ------------------------------------------------------------------------- */

/* One's complement sum of octets in scratch memory, which are padded there. */
TMN_INLINE __u32 tmn_sum(__u8 *from, __u32 octets, __u32 sum)
{
	*(__u8 *)(from + octets) = 0;
	*(__u8 *)(from + octets + 1) = 0;
	*(__u8 *)(from + octets + 2) = 0;
	return (__u32)bpf_csum_diff(NULL, 0, (__be32 *)from, (octets + 3) & ~3u, sum);
}

/* Whether the sum over the whole packet holds. */
TMN_INLINE int tmn_sum_holds(void *ctx, struct tmn_scratch *scratch, __u32 at)
{
	__u32 left = scratch->packet.octets;
	__u32 sum = 0;
	__u32 octets, i;

	for (i = 0; i < TMN_CHUNKS; i++) {
		octets = left < TMN_CHUNK ? left : TMN_CHUNK;
		if (!octets)
			break;
		octets = tmn_within(octets, TMN_CHUNK);
		if (tmn_load(ctx, at + i * TMN_CHUNK, scratch->chunk, octets))
			return 0;
		sum = tmn_sum(scratch->chunk, octets, sum);
		left -= octets;
	}
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return sum == 0xffff;
}

/*
 * Copies a packet's header to scratch->head, 32 octets at a time where they lie in place: a call
 * costs more.
 *
 * @param packet in [packet, end) are its first octets, or fewer
 */
TMN_INLINE int tmn_load_head(void *ctx, struct tmn_scratch *scratch, void *packet, void *end,
			     __u32 at, __u32 octets)
{
	const __u64 *from = packet;
	__u64 *to = (__u64 *)scratch->head;
	__u32 done = 0, i;

	if (octets > TMN_HEADER_OCTETS)
		octets = TMN_HEADER_OCTETS;
	if (packet + TMN_BASIC_OCTETS <= end) {
		i = bpf_ntohs(((const __be16 *)packet)[2]) * 4;
		if (i < octets)
			octets = i < TMN_BASIC_OCTETS ? TMN_BASIC_OCTETS : i;
	}
#pragma unroll
	for (i = 0; i < TMN_HEADER_OCTETS / 32; i++) {
		if (done >= octets)
			return 0;
		if ((void *)(from + 4) > end)
			break;
		to[0] = from[0];
		to[1] = from[1];
		to[2] = from[2];
		to[3] = from[3];
		from += 4;
		to += 4;
		done += 32;
	}
	if (done >= octets)
		return 0;
	octets -= done;
	TMN_OPAQUE(done);
	/* What is left is less than 32 octets, or nothing of it lies in place. */
	if (octets > 32 || done > TMN_HEADER_OCTETS - 32)
		return tmn_load(ctx, at, scratch->head, tmn_within(octets + done, 256));
	return tmn_load(ctx, at + done, scratch->head + done, tmn_within(octets, 32));
}

/* Not static: the verifier looks at it once, by itself, in place of once for each way to it. */
__noinline __u32 tmn_parse_head(struct tmn_scratch *scratch, __u32 octets, __u32 type_id)
{
	return scratch ? tmn_parse(&scratch->packet, scratch->head, octets, type_id) :
			 TMN_MET_SHORT;
}

/*
 * Reads the packet in scratch->head into scratch->packet.
 *
 * @param at of its first octet in the frame
 * @return as tmn_parse, after its sum was verified
 */
TMN_INLINE __u32 tmn_read(void *ctx, struct tmn_scratch *scratch, const struct tmn_hook *hook,
			  __u32 at, __u32 octets)
{
	__u32 met;

	met = tmn_parse_head(scratch, octets, hook->type_id);
	if (!scratch->packet.checksum_at)
		return met;
	if (scratch->packet.octets > TMN_MAX_CHECKED_OCTETS)
		return met == TMN_OK || met == TMN_MET_TRAILER ? TMN_MET_COMPLEX : met;
	return tmn_sum_holds(ctx, scratch, at) ? met : TMN_MET_CHECKSUM;
}

/* ---- policies -------------------------------------------------------------------------------- */

/* The policy of the flow for one combination of wildcards. */
TMN_INLINE struct tmn_policy *tmn_look_up(struct tmn_scratch *scratch,
					  const struct tmn_datagram *datagram, __u32 wild)
{
	struct tmn_flow *key = &scratch->key;
	__u64 *source = (__u64 *)key->source;
	__u64 *destination = (__u64 *)key->destination;
	const __u64 *from = (const __u64 *)datagram->source;
	const __u64 *to = (const __u64 *)datagram->destination;

	/* All bits where the part counts. */
	__u64 source_mask = (__u64)(wild & TMN_WILD_SOURCE) - 1;
	__u64 destination_mask = (__u64)((wild & TMN_WILD_DESTINATION) >> 1) - 1;
	__u32 stream_mask = ((wild & TMN_WILD_STREAM) >> 2) - 1;

	*(__u64 *)key->service = *(__u64 *)scratch->packet.service;
	source[0] = from[0] & source_mask;
	source[1] = from[1] & source_mask;
	destination[0] = to[0] & destination_mask;
	destination[1] = to[1] & destination_mask;
	key->stream = scratch->packet.raw_stream & stream_mask;
	key->wild = (__u8)wild;
	key->protocol = (__u8)datagram->protocol;
	key->zero[0] = 0;
	key->zero[1] = 0;
	return bpf_map_lookup_elem(&tmn_policies, key);
}

/*
 * The policy of a packet's flow: of those that fit, the one with the least wild. Where one
 * combination is in use its look-up alone tells whether the service has any.
 */
TMN_INLINE struct tmn_policy *tmn_find(struct tmn_scratch *scratch, const struct tmn_hints *hints,
				       const struct tmn_datagram *datagram, __u32 has_stream)
{
	struct tmn_policy *policy;
	__u32 wilds, wild;
	__u32 *of_service;

	wild = hints->only - 1;
	if (wild < TMN_WILDS)
		return has_stream || wild & TMN_WILD_STREAM ?
			       tmn_look_up(scratch, datagram, wild) : NULL;
	of_service = bpf_map_lookup_elem(&tmn_services, scratch->packet.service);
	if (!of_service)
		return NULL;
	wilds = tmn_wilds(*of_service, has_stream);
	for (wild = 0; wild < TMN_WILDS; wild++) {
		if (!(wilds & 1u << wild))
			continue;
		policy = tmn_look_up(scratch, datagram, wild);
		if (policy)
			return policy;
	}
	return NULL;
}

/* tmn_rules_end, which the verifier looks at once too. */
__noinline __u32 tmn_rule_of(const struct tmn_policy *policy, const struct tmn_packet *packet)
{
	return policy && packet ? tmn_rules_end(policy, packet) : TMN_RULES_PASS;
}

/* Whether the fate sends the packet up: for this host, or for an address of another family. */
TMN_INLINE int tmn_fate_up(const struct tmn_policy *policy, const struct tmn_hints *hints,
			   const struct tmn_datagram *datagram)
{
	const __u32 *to = (const __u32 *)policy->to_address;

	if (policy->fate == TMN_FATE_ON)
		return tmn_is_local(hints, datagram);
	if (policy->fate != TMN_FATE_TO)
		return 0;
	return (to[0] || to[1] || to[2] != tmn_swap_word(0xffff)) != datagram->is_ipv6;
}

/* ---- packets that are alike ------------------------------------------------------------------ */

/* Any choice is right; ends, and the service key where it mostly stands, keep flows apart. */
TMN_INLINE struct tmn_memo *tmn_memo_of(struct tmn_scratch *scratch,
					const struct tmn_datagram *datagram)
{
	__u64 mixed = *(__u64 *)(scratch->head + 16) ^ *(__u64 *)(scratch->head + 24);
	__u32 index = (__u32)mixed ^ datagram->source[3] ^ datagram->destination[3] ^
		      datagram->source_port;

	index ^= index >> 16;
	index ^= index >> 8;
	index ^= index >> 4;
	TMN_OPAQUE(index);
	return &scratch->memos[index & (TMN_MEMOS - 1)];
}

/*
 * Whether the memo is of a packet like that in scratch->head, for which reading and looking up
 * would give the same again.
 */
TMN_INLINE int tmn_is_alike(const struct tmn_memo *memo, const struct tmn_scratch *scratch,
			    const struct tmn_hints *hints, const struct tmn_datagram *datagram,
			    __u32 octets)
{
	const __u64 *head = (const __u64 *)scratch->head;
	const __u64 *from = (const __u64 *)datagram->source;
	const __u64 *to = (const __u64 *)datagram->destination;
	__u64 different = 0;
	__u32 epoch = *(volatile const __u32 *)&hints->epoch;
	__u32 i;

	if (!epoch || memo->epoch != epoch || octets < memo->packet.header_octets ||
	    octets != (tmn_word(scratch->head, 4) & 0xffff))
		return 0;
#pragma unroll
	for (i = 0; i < TMN_MEMO_OCTETS / 8; i += 4) {
		if (i * 8 >= memo->packet.header_octets)
			break;
		different |= (head[i] ^ memo->head[i]) & memo->mask[i];
		different |= (head[i + 1] ^ memo->head[i + 1]) & memo->mask[i + 1];
		different |= (head[i + 2] ^ memo->head[i + 2]) & memo->mask[i + 2];
		different |= (head[i + 3] ^ memo->head[i + 3]) & memo->mask[i + 3];
	}
	if (memo->ends)
		different |= (from[0] ^ memo->source[0]) | (from[1] ^ memo->source[1]) |
			     (to[0] ^ memo->destination[0]) | (to[1] ^ memo->destination[1]);
	return !different;
}

/*
 * Empties the memo if a packet that is not alike shall have it. Before the packet's policy is
 * looked up: an exchange is a barrier, so that the policy is at least as new as the epoch.
 *
 * @return the epoch for tmn_remember; 0: the memo stays
 */
TMN_INLINE __u32 tmn_forget(struct tmn_memo *memo, const struct tmn_packet *packet,
			    const struct tmn_hints *hints)
{
	__u32 epoch = *(volatile const __u32 *)&hints->epoch;

	if (packet->checksum_at || packet->header_octets > TMN_MEMO_OCTETS || !epoch ||
	    (memo->epoch == epoch && ++memo->missed % TMN_MEMO_PATIENCE))
		return 0;
	__sync_lock_test_and_set(&memo->epoch, 0);
	return epoch;
}

/* Lets words of the header not count. */
TMN_INLINE void tmn_ignore(struct tmn_memo *memo, __u32 at, __u32 words)
{
	__u32 *mask = (__u32 *)memo->mask;
	__u32 i;

	at /= 4;
	for (i = 0; i < 16; i++) {
		__u32 word = at + i;

		if (i >= words)
			break;
		TMN_OPAQUE(word);
		mask[word & (TMN_MEMO_OCTETS / 4 - 1)] = 0;
	}
}

/* Lets the address of an identifier not count; its scheme does. */
TMN_INLINE void tmn_ignore_address(struct tmn_memo *memo, const __u8 *head, __u32 at)
{
	tmn_ignore(memo, at + 8, tmn_word(head, at + 4) == TMN_SCHEME_IPV4 ? 1 : 4);
}

/*
 * Makes the packet's memo. What of its header counts: all but its length, options that a level does
 * not read, and what neither rules nor any policy's flow look at.
 *
 * @param epoch of tmn_forget
 */
__noinline int tmn_remember(struct tmn_memo *memo, const struct tmn_scratch *scratch,
			    const struct tmn_datagram *datagram, const struct tmn_policy *policy,
			    __u32 epoch)
{
	const struct tmn_packet *packet;
	struct tmn_hints *hints;
	__u32 i, header, has_rules, slot, zero = 0;

	hints = bpf_map_lookup_elem(&tmn_hints, &zero);
	if (!memo || !scratch || !datagram || !hints)
		return 0;
	packet = &scratch->packet;
	header = packet->header_octets;
	for (i = 0; i < TMN_MEMO_OCTETS / 8; i++) {
		memo->head[i] = ((const __u64 *)scratch->head)[i];
		memo->mask[i] = i * 8 < header ? ~0ull : 0;
	}
	if (header & 4)
		tmn_ignore(memo, header, 1);
	((__u32 *)memo->mask)[1] = tmn_swap_word(0xffff0000);
	for (slot = TMN_SLOT_STREAM; slot < TMN_SLOT_IGNORED; slot++) {
		if (packet->present & 1u << slot)
			tmn_ignore(memo, packet->at[slot] + 4,
				   ((TMN_OPTION_WORDS >> (slot * 4)) & 15) - 1);
	}
	has_rules = policy && policy->rule_count;
	if (packet->stream_at && (has_rules || hints->wilds & TMN_WILDS_WITH_STREAM))
		((__u32 *)memo->mask)[packet->stream_at / 4 & (TMN_MEMO_OCTETS / 4 - 1)] = ~0u;
	if (!has_rules) {
		if (packet->class_at)
			tmn_ignore(memo, packet->class_at, 1);
		if (packet->has_source)
			tmn_ignore_address(memo, scratch->head, packet->at[TMN_SLOT_SOURCE]);
		if (packet->has_destination)
			tmn_ignore_address(memo, scratch->head, packet->at[TMN_SLOT_DESTINATION]);
	}
	memo->ends = !!(hints->wilds & TMN_WILDS_WITH_ENDS);
	__builtin_memcpy(memo->source, datagram->source, sizeof(memo->source));
	__builtin_memcpy(memo->destination, datagram->destination, sizeof(memo->destination));
	__builtin_memcpy(&memo->packet, packet, sizeof(memo->packet));
	memo->policy.slot = 0;
	if (policy) {
		__builtin_memcpy(&memo->policy, policy, offsetof(struct tmn_policy, rules));
		for (i = 0; i < TMN_MAX_RULES && i < policy->rule_count; i++)
			__builtin_memcpy(&memo->policy.rules[i], &policy->rules[i],
					 sizeof(memo->policy.rules[i]));
	}
	memo->epoch = epoch;
	return 0;
}

struct tmn_found {
	const struct tmn_packet *packet;
	const struct tmn_policy *policy; /* NULL: there is none */
};

/*
 * Reads a datagram's packet and finds its policy.
 *
 * @param payload of the datagram, as far as it lies before end
 * @return as tmn_parse, after its sum was verified; of what is no packet of a service, no policy
 */
TMN_INLINE __u32 tmn_look_at(void *ctx, struct tmn_scratch *scratch, const struct tmn_hook *hook,
			     const struct tmn_hints *hints, const struct tmn_datagram *datagram,
			     void *payload, void *end, __u32 octets, struct tmn_found *found)
{
	__u32 at = datagram->transport_at + sizeof(struct udphdr);
	struct tmn_memo *memo;
	__u32 met, epoch = 0;

	found->packet = &scratch->packet;
	found->policy = NULL;
	if (octets < TMN_BASIC_OCTETS)
		return TMN_MET_SHORT;
	if (tmn_load_head(ctx, scratch, payload, end, at, octets))
		return TMN_MET_TRUNCATED;
	memo = tmn_memo_of(scratch, datagram);
	if (tmn_is_alike(memo, scratch, hints, datagram, octets)) {
		memo->packet.octets = octets;
		found->packet = &memo->packet;
		if (memo->policy.slot)
			found->policy = &memo->policy;
		return TMN_OK;
	}
	met = tmn_read(ctx, scratch, hook, at, octets);
	if (met != TMN_OK && met != TMN_MET_TRAILER && met != TMN_MET_COMPLEX)
		return met;
	if (met == TMN_OK)
		epoch = tmn_forget(memo, &scratch->packet, hints);
	found->policy = tmn_find(scratch, hints, datagram, scratch->packet.stream_at);
	if (epoch)
		tmn_remember(memo, scratch, datagram, found->policy, epoch);
	return met;
}

/* ---- marks ----------------------------------------------------------------------------------- */

/* Both parts of what marking writes, as on the wire, and the packet's checksum after it. */
struct tmn_written {
	__u16 before[2];
	__u16 after[2];
	__u16 checksum;
};

TMN_INLINE __u16 tmn_head_half(const struct tmn_scratch *scratch, __u32 at)
{
	TMN_OPAQUE(at);
	return *(const __u16 *)(scratch->head + (at & (TMN_HEADER_OCTETS - 2)));
}

/*
 * What a mark changes in the packet.
 *
 * @param place as of tmn_mark_place, with one word or two
 * @return whether anything
 */
TMN_INLINE int tmn_write(struct tmn_written *written, const struct tmn_place *place,
			 const struct tmn_scratch *scratch, const struct tmn_packet *packet)
{
	__u32 i;

	written->checksum = tmn_head_half(scratch, packet->checksum_at);
	for (i = 0; i < 2; i++) {
		written->before[i] = tmn_head_half(scratch, place->at + 2 * i);
		written->after[i] = written->before[i];
		if (i >= place->words)
			continue;
		written->after[i] = tmn_mark_word(place, i, written->before[i]);
		written->checksum = tmn_checksum_update(written->checksum, written->before[i],
							written->after[i]);
	}
	return written->before[0] != written->after[0] || written->before[1] != written->after[1];
}

/* Where the packet's octet at an offset below TMN_HEADER_OCTETS lies; NULL: not before end. */
TMN_INLINE void *tmn_in_place(void *packet, void *end, __u32 offset, __u32 octets)
{
	void *at;

	TMN_OPAQUE(offset);
	at = packet + (offset & (TMN_HEADER_OCTETS - 1));
	return at + octets <= end ? at : NULL;
}

/* UDP's checksum, where there is one, after a 16-bit word changed. */
TMN_INLINE void tmn_udp_checksum(__u16 *checksum, __u16 before, __u16 after)
{
	__u16 updated;

	if (!*checksum)
		return;
	updated = tmn_checksum_update(*checksum, before, after);
	*checksum = updated ? updated : 0xffff;
}

/*
 * Writes a mark where the packet lies, with the checksums. ANEP's own checksum, where there is
 * one, keeps the sum over the packet, and with it UDP's.
 *
 * @return whether the packet lies in place
 */
TMN_INLINE int tmn_write_in_place(struct udphdr *udp, void *end, const struct tmn_written *written,
				  const struct tmn_place *place, __u32 checksum_at)
{
	void *packet = udp + 1;
	__u16 *checksum, *first, *second;

	first = tmn_in_place(packet, end, place->at, sizeof(*first));
	if (!first)
		return 0;
	if (place->words == 2) {
		second = tmn_in_place(packet, end, place->at + 2, sizeof(*second));
		if (!second)
			return 0;
		*second = written->after[1];
	}
	*first = written->after[0];
	if (checksum_at) {
		checksum = tmn_in_place(packet, end, checksum_at, sizeof(*checksum));
		if (!checksum)
			return 0;
		*checksum = written->checksum;
		return 1;
	}
	tmn_udp_checksum(&udp->check, written->before[0], written->after[0]);
	if (place->words == 2)
		tmn_udp_checksum(&udp->check, written->before[1], written->after[1]);
	return 1;
}

#endif
