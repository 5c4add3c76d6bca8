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

/* In front of a packet that XDP cannot send up: tc does, see TMN_LEVEL_XDP in tamanoir_tc.bpf.c. */
#define TMN_META_UP 0x544d5550u

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

/* Of the packet that this processor is at. Room behind head and chunk is for padding sums. */
struct tmn_scratch {
	__u8 head[TMN_HEADER_OCTETS + 4];
	__u8 chunk[TMN_CHUNK + 4];
	struct tmn_packet packet;
	struct tmn_flow flow;
	struct tmn_flow key;
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

TMN_INLINE int tmn_is_local(const struct tmn_datagram *datagram)
{
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

/* Whether the sum over the whole packet holds; its first octets are in scratch->head. */
TMN_INLINE int tmn_sum_holds(void *ctx, struct tmn_scratch *scratch, __u32 at)
{
	__u32 left = scratch->packet.octets;
	__u32 sum = 0;
	__u32 octets, i;

	if (left <= TMN_HEADER_OCTETS) {
		sum = tmn_sum(scratch->head, left, 0);
	} else {
		for (i = 0; i < TMN_CHUNKS; i++) {
			octets = left < TMN_CHUNK ? left : TMN_CHUNK;
			TMN_OPAQUE(octets);
			if (octets < 1 || octets > TMN_CHUNK)
				break;
			if (tmn_load(ctx, at + i * TMN_CHUNK, scratch->chunk, octets))
				return 0;
			sum = tmn_sum(scratch->chunk, octets, sum);
			left -= octets;
		}
	}
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return sum == 0xffff;
}

/*
 * Reads the packet of a datagram into scratch->head and scratch->packet.
 *
 * @param at of the packet's first octet
 * @return as tmn_parse, after its sum was verified
 */
TMN_INLINE __u32 tmn_read(void *ctx, struct tmn_scratch *scratch, const struct tmn_hook *hook,
			  __u32 at, __u32 octets)
{
	__u32 head = octets < TMN_HEADER_OCTETS ? octets : TMN_HEADER_OCTETS;
	__u32 met;

	TMN_OPAQUE(head);
	if (head < 1 || head > TMN_HEADER_OCTETS)
		return TMN_MET_SHORT;
	if (tmn_load(ctx, at, scratch->head, head))
		return TMN_MET_TRUNCATED;
	met = tmn_parse(&scratch->packet, scratch->head, octets, hook->type_id);
	if (!scratch->packet.checksum_at)
		return met;
	if (scratch->packet.octets > TMN_MAX_CHECKED_OCTETS)
		return met == TMN_OK || met == TMN_MET_TRAILER ? TMN_MET_COMPLEX : met;
	return tmn_sum_holds(ctx, scratch, at) ? met : TMN_MET_CHECKSUM;
}

/* ---- policies -------------------------------------------------------------------------------- */

/* The policy of the flow in scratch->flow: of those that fit, the one with the least wild. */
TMN_INLINE struct tmn_policy *tmn_find(struct tmn_scratch *scratch, __u32 has_stream)
{
	__u32 *of_service = bpf_map_lookup_elem(&tmn_services, scratch->flow.service);
	struct tmn_policy *policy;
	__u32 wilds, wild;

	if (!of_service)
		return NULL;
	wilds = tmn_wilds(*of_service, has_stream);
	for (wild = 0; wild < TMN_WILDS; wild++) {
		if (!(wilds & 1u << wild))
			continue;
		tmn_flow_widen(&scratch->key, &scratch->flow, wild);
		policy = bpf_map_lookup_elem(&tmn_policies, &scratch->key);
		if (policy)
			return policy;
	}
	return NULL;
}

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
			 const struct tmn_scratch *scratch)
{
	__u32 i;

	written->checksum = tmn_head_half(scratch, scratch->packet.checksum_at);
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

#endif
