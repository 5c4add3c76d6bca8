/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Link, IP and transport headers in front of ANEP packets. UAPI headers of kernel 6.1 alone.
 */
#ifndef TAMANOIR_NET_H
#define TAMANOIR_NET_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "tamanoir_policy.h"

#define TMN_IP_FRAGMENT 0x3fff	/* more fragments, or an offset */
#define TMN_IPV6_FRAGMENT 44	/* next header */

/*
 * A length that is 1 to most, a power of two, said so that each verifier sees it: up to kernel 6.1
 * they learn nothing from a comparison with 0.
 */
TMN_INLINE __u32 tmn_within(__u32 length, __u32 most)
{
	length--;
	TMN_OPAQUE(length);
	return (length & (most - 1)) + 1;
}

/* A datagram or segment and where its parts are, in octets from the link header. */
struct tmn_datagram {
	__u32 source[4];	/* IPv6, or IPv4 as ::ffff:a.b.c.d; as on the wire */
	__u32 destination[4];
	__be16 source_port;
	__be16 destination_port;
	__u32 protocol;		/* IPPROTO_UDP or IPPROTO_TCP; 0: another, or not to be looked at */
	__u32 is_ipv6;
	__u32 is_fragment;
	__u32 transport_at;
	__u32 ip_octets;	/* from the transport header on */
	__u32 hops;		/* left */
};

TMN_INLINE int tmn_is_port(const __be16 ports[TMN_MAX_PORTS], __u32 count, __be16 port)
{
	__u32 i;

	for (i = 0; i < TMN_MAX_PORTS; i++) {
		if (i >= count)
			break;
		if (ports[i] == port)
			return 1;
	}
	return 0;
}

/*
 * Reads link and IP headers of untagged Ethernet frames.
 *
 * @return below 0 where the headers do not lie in [data, end), which a caller may change
 */
TMN_INLINE int tmn_read_ip(struct tmn_datagram *datagram, void *data, void *end)
{
	struct ethhdr *link = data;
	struct iphdr *ip = data + ETH_HLEN;
	struct ipv6hdr *ip6 = data + ETH_HLEN;
	__u32 octets;

	datagram->protocol = 0;
	datagram->is_fragment = 0;
	if ((void *)(link + 1) > end)
		return -1;
	if (link->h_proto == bpf_htons(ETH_P_IP)) {
		if ((void *)(ip + 1) > end)
			return -1;
		if (ip->protocol != IPPROTO_UDP && ip->protocol != IPPROTO_TCP)
			return 0;
		octets = bpf_ntohs(ip->tot_len);
		if (ip->version != 4 || ip->ihl < 5 || octets < ip->ihl * 4)
			return 0;
		datagram->is_ipv6 = 0;
		datagram->is_fragment = !!(ip->frag_off & bpf_htons(TMN_IP_FRAGMENT));
		datagram->protocol = ip->protocol;
		datagram->transport_at = ETH_HLEN + ip->ihl * 4;
		datagram->ip_octets = octets - ip->ihl * 4;
		datagram->hops = ip->ttl;
		tmn_map_ipv4(datagram->source, ip->saddr);
		tmn_map_ipv4(datagram->destination, ip->daddr);
		return 0;
	}
	if (link->h_proto != bpf_htons(ETH_P_IPV6))
		return 0;
	if ((void *)(ip6 + 1) > end)
		return -1;
	datagram->is_ipv6 = 1;
	datagram->transport_at = ETH_HLEN + sizeof(*ip6);
	datagram->ip_octets = bpf_ntohs(ip6->payload_len);
	datagram->hops = ip6->hop_limit;
	if (ip6->nexthdr == TMN_IPV6_FRAGMENT) {
		__u8 *next = (void *)(ip6 + 1);

		if ((void *)(next + 1) > end)
			return -1;
		datagram->is_fragment = 1;
		datagram->protocol = *next;
		return 0;
	}
	if (ip6->nexthdr != IPPROTO_UDP && ip6->nexthdr != IPPROTO_TCP)
		return 0;
	datagram->protocol = ip6->nexthdr;
	__builtin_memcpy(datagram->source, &ip6->saddr, sizeof(datagram->source));
	__builtin_memcpy(datagram->destination, &ip6->daddr, sizeof(datagram->destination));
	return 0;
}

/* Where the transport header is, with a bound that the verifier sees. */
TMN_INLINE __u32 tmn_transport_at(const struct tmn_datagram *datagram)
{
	__u32 at = datagram->transport_at;

	TMN_OPAQUE(at);
	return at & 127;
}

#endif
