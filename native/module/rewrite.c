// SPDX-License-Identifier: GPL-2.0
/* Changes to packets, and the checksums that have to follow them. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <linux/version.h>
#include <net/checksum.h>
#include <net/dst.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#include "tamanoir.h"

static struct udphdr *udp_of(const struct tmn_crossing *crossing)
{
	return (struct udphdr *)(crossing->skb->data + crossing->transport);
}

/*
 * Whether the datagram has a checksum that follows changes. An IPv4 datagram may come without; what
 * the interface summed up is then not known any more.
 */
static bool has_checksum(struct sk_buff *skb, const struct udphdr *udp)
{
	if (udp->check || skb->ip_summed == CHECKSUM_PARTIAL)
		return true;
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	return false;
}

/* A sum of 0 is sent as 0xffff: 0 says that there is none. */
static void avoid_zero(struct sk_buff *skb, struct udphdr *udp)
{
	if (!udp->check && skb->ip_summed != CHECKSUM_PARTIAL)
		udp->check = CSUM_MANGLED_0;
}

static void put_word(struct sk_buff *skb, struct udphdr *udp, u8 *at, u16 before, u16 after)
{
	put_unaligned(after, (u16 *)at);
	if (!has_checksum(skb, udp))
		return;
	inet_proto_csum_replace2(&udp->check, skb, (__force __be16)before, (__force __be16)after,
				 false);
	avoid_zero(skb, udp);
}

int tmn_mark(struct tmn_crossing *crossing, const struct tmn_packet *packet,
	     const struct tmn_place *place)
{
	u32 anep = crossing->transport + sizeof(struct udphdr);
	u32 octets = max(place->at + 2 * place->words, packet->checksum_at + 2);
	struct sk_buff *skb = crossing->skb;
	struct udphdr *udp;
	u8 *head, *at;
	int error;
	u32 i;

	error = skb_ensure_writable(skb, anep + octets);
	if (error)
		return error;
	udp = udp_of(crossing);
	head = skb->data + anep;
	for (i = 0; i < place->words; i++) {
		u16 before, after, sum;

		at = head + place->at + 2 * i;
		before = get_unaligned((u16 *)at);
		after = tmn_mark_word(place, i, before);
		put_word(skb, udp, at, before, after);
		if (packet->checksum_at) {
			at = head + packet->checksum_at;
			sum = get_unaligned((u16 *)at);
			put_word(skb, udp, at, sum, tmn_checksum_update(sum, before, after));
		}
	}
	return 0;
}

static void set_ipv4(struct sk_buff *skb, struct udphdr *udp, bool sums, __be32 address)
{
	struct iphdr *ip = ip_hdr(skb);

	if (sums)
		inet_proto_csum_replace4(&udp->check, skb, ip->daddr, address, true);
	csum_replace4(&ip->check, ip->daddr, address);
	ip->daddr = address;
}

static void set_ipv6(struct sk_buff *skb, struct udphdr *udp, bool sums, const __be32 address[4])
{
	struct ipv6hdr *ip = ipv6_hdr(skb);

	if (sums)
		inet_proto_csum_replace16(&udp->check, skb, ip->daddr.s6_addr32, address, true);
	memcpy(&ip->daddr, address, sizeof(ip->daddr));
}

int tmn_send_to(struct tmn_crossing *crossing, const struct tmn_policy *policy)
{
	struct sk_buff *skb = crossing->skb;
	__be32 address[4];
	struct udphdr *udp;
	bool sums;
	int error;

	error = skb_ensure_writable(skb, crossing->transport + sizeof(*udp));
	if (error)
		return error;
	udp = udp_of(crossing);
	sums = has_checksum(skb, udp);
	memcpy(address, policy->to_address, sizeof(address));
	if (crossing->is_ipv6)
		set_ipv6(skb, udp, sums, address);
	else
		set_ipv4(skb, udp, sums, address[3]);
	if (policy->to_port) {
		if (sums)
			inet_proto_csum_replace2(&udp->check, skb, udp->dest, policy->to_port,
						 false);
		udp->dest = policy->to_port;
	}
	if (sums)
		avoid_zero(skb, udp);
	/* What came over the loopback interface was routed already, to the old address. */
	skb_dst_drop(skb);
	return 0;
}

bool tmn_checksum_holds(const struct tmn_crossing *crossing, const struct tmn_packet *packet)
{
	u32 anep = crossing->transport + sizeof(struct udphdr);

	return !csum_fold(skb_checksum(crossing->skb, anep, packet->octets, 0));
}
