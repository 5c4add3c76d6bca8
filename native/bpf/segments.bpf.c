// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Writes down when datagrams and TCP segments of one port pass an interface: three tc programs, one for each place on
 * the way from a sender through a router. What becomes of a packet is not theirs: they say TC_ACT_UNSPEC.
 *
 * Experiments alone load this; no node does.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define PLACES 3
#define PLACE_SHIFT 18	/* 262,144 events of each place */
#define PLACE_EVENTS (1u << PLACE_SHIFT)
#define NUMBER_AT 48	/* octet of the ANEP packet where the sender has its sequence number, 8 octets */
#define CLASS_AT 36	/* and its class of service, 1 octet */

struct event {
	__u64 ns;	/* CLOCK_MONOTONIC */
	__u64 number;	/* UDP: sequence number; TCP: of the payload's first octet */
	__u32 octets;	/* of the payload */
	__u8 protocol;
	__u8 class;	/* UDP: class of service */
	__u8 syn;	/* TCP: 1 where the connection begins */
	__u8 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES << PLACE_SHIFT);
	__type(key, __u32);
	__type(value, struct event);
} seg_events SEC(".maps");

/* How many events each place has met, also those that found no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES);
	__type(key, __u32);
	__type(value, __u64);
} seg_met SEC(".maps");

/* Destination port, as on the wire. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} seg_port SEC(".maps");

static __always_inline int tcp(struct __sk_buff *skb, __u32 at, __u32 end, __u16 port, struct event *event)
{
	struct tcphdr tcp;
	__u32 header;

	if (bpf_skb_load_bytes(skb, at, &tcp, sizeof(tcp)) || tcp.dest != port)
		return 0;
	header = at + tcp.doff * 4;
	if (end < header || (end == header && !tcp.syn))
		return 0;
	event->number = bpf_ntohl(tcp.seq) + tcp.syn;
	event->octets = end - header;
	event->syn = tcp.syn;
	return 1;
}

static __always_inline int udp(struct __sk_buff *skb, __u32 at, __u32 end, __u16 port, struct event *event)
{
	struct udphdr udp;
	__u64 number;

	if (bpf_skb_load_bytes(skb, at, &udp, sizeof(udp)) || udp.dest != port)
		return 0;
	at += sizeof(udp);
	if (bpf_skb_load_bytes(skb, at + NUMBER_AT, &number, sizeof(number)) ||
	    bpf_skb_load_bytes(skb, at + CLASS_AT, &event->class, 1))
		return 0;
	event->number = bpf_be64_to_cpu(number);
	event->octets = end - at;
	return 1;
}

static __always_inline void note(struct __sk_buff *skb, __u32 place)
{
	struct event event = { .ns = bpf_ktime_get_ns() };
	__u32 zero = 0, at, end, key;
	__u64 *met, before;
	struct iphdr ip;
	__u32 *port;
	int ours;

	if (skb->protocol != bpf_htons(ETH_P_IP) || bpf_skb_load_bytes(skb, ETH_HLEN, &ip, sizeof(ip)) ||
	    ip.frag_off & bpf_htons(0x1fff))
		return;
	port = bpf_map_lookup_elem(&seg_port, &zero);
	met = bpf_map_lookup_elem(&seg_met, &place);
	if (!port || !met)
		return;
	at = ETH_HLEN + ip.ihl * 4;
	end = ETH_HLEN + bpf_ntohs(ip.tot_len);
	event.protocol = ip.protocol;
	if (ip.protocol == IPPROTO_UDP)
		ours = udp(skb, at, end, *port, &event);
	else if (ip.protocol == IPPROTO_TCP)
		ours = tcp(skb, at, end, *port, &event);
	else
		return;
	if (!ours)
		return;
	before = __sync_fetch_and_add(met, 1);
	if (before >= PLACE_EVENTS)
		return;
	key = place << PLACE_SHIFT | before;
	bpf_map_update_elem(&seg_events, &key, &event, BPF_ANY);
}

/* As packets leave the sender. */
SEC("tc")
int seg_sent(struct __sk_buff *skb)
{
	note(skb, 0);
	return TC_ACT_UNSPEC;
}

/* As they come to the router. */
SEC("tc")
int seg_in(struct __sk_buff *skb)
{
	note(skb, 1);
	return TC_ACT_UNSPEC;
}

/* As they leave it. */
SEC("tc")
int seg_out(struct __sk_buff *skb)
{
	note(skb, 2);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
