// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * For experiments: when each packet of a stream comes in through one interface and leaves through
 * another, by its sequence number (ANEP private option 4). Over TCP packets count that begin with
 * a segment's payload.
 */
#include "tamanoir_net.h"
#include <linux/pkt_cls.h>

#define STAMP_PACKETS (1 << 20)
#define STAMP_HEADERS_OCTETS (ETH_HLEN + 60 + 60) /* in front of ANEP, at most */

/* What to look for. */
struct stamp_filter {
	__u32 type_id;
	__be16 port;		/* destination */
	__u16 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stamp_filter);
} stamp_filters SEC(".maps");

/* bpf_ktime_get_ns() by sequence number; 0 = not yet. The first crossing counts. */
struct stamps {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STAMP_PACKETS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
};
struct stamps stamps_in SEC(".maps");
struct stamps stamps_out SEC(".maps");

struct stamp_scratch {
	__u8 head[TMN_HEADER_OCTETS];
	struct tmn_packet packet;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct stamp_scratch);
} stamp_scratches SEC(".maps");

/* Where ANEP begins in a frame to the port; 0 = another frame. */
TMN_INLINE __u32 stamp_payload_at(struct __sk_buff *skb, __be16 port)
{
	__u32 octets = skb->len < STAMP_HEADERS_OCTETS ? skb->len : STAMP_HEADERS_OCTETS;
	void *data = (void *)(long)skb->data;
	void *end = (void *)(long)skb->data_end;
	struct tmn_datagram datagram;
	struct tcphdr *tcp;
	struct udphdr *udp;
	__u32 at;

	if (data + octets > end) {
		if (bpf_skb_pull_data(skb, octets))
			return 0;
		data = (void *)(long)skb->data;
		end = (void *)(long)skb->data_end;
	}
	if (tmn_read_ip(&datagram, data, end) || datagram.is_fragment)
		return 0;
	at = tmn_transport_at(&datagram);
	if (datagram.protocol == IPPROTO_UDP) {
		udp = data + at;
		return (void *)(udp + 1) <= end && udp->dest == port ? at + sizeof(*udp) : 0;
	}
	if (datagram.protocol != IPPROTO_TCP)
		return 0;
	tcp = data + at;
	return (void *)(tcp + 1) <= end && tcp->dest == port ? at + tcp->doff * 4 : 0;
}

TMN_INLINE void stamp(struct __sk_buff *skb, void *stamps, __u32 which)
{
	struct stamp_filter *filter;
	struct stamp_scratch *scratch;
	__u32 zero = 0, at, octets, met;
	__u64 *place, now;

	filter = bpf_map_lookup_elem(&stamp_filters, &zero);
	scratch = bpf_map_lookup_elem(&stamp_scratches, &which);
	if (!filter || !scratch)
		return;
	at = stamp_payload_at(skb, filter->port);
	if (!at || skb->len <= at)
		return;
	octets = skb->len - at < TMN_HEADER_OCTETS ? skb->len - at : TMN_HEADER_OCTETS;
	octets = tmn_within(octets, TMN_HEADER_OCTETS);
	if (bpf_skb_load_bytes(skb, at, scratch->head, octets))
		return;
	/* A packet may go on in later segments: its length does not matter here. */
	met = tmn_parse(&scratch->packet, scratch->head, 0xffff, filter->type_id);
	if ((met != TMN_OK && met != TMN_MET_TRAILER && met != TMN_MET_NO_KEY) ||
	    scratch->packet.header_octets > octets || !scratch->packet.stream_at)
		return;
	/* The low word of the sequence number behind the stream id. */
	at = tmn_word(scratch->head, scratch->packet.stream_at + 8);
	now = bpf_ktime_get_ns();
	place = bpf_map_lookup_elem(stamps, &at);
	if (place && !*place)
		*place = now;
}

SEC("tc")
int stamp_in(struct __sk_buff *skb)
{
	stamp(skb, &stamps_in, 0);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int stamp_out(struct __sk_buff *skb)
{
	stamp(skb, &stamps_out, 1);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
