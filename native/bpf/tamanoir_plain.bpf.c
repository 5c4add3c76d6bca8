// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Plain IP that asks for services: finds the datagrams, connections and ICMP messages on their way to other
 * hosts that a rule is for, and has them delivered to the node's sockets, whatever their destination. All else goes on,
 * untouched, as does everything while the node is not there or not alive.
 */
#include "tamanoir_net.h"
#include "tamanoir_plain.h"
#include <linux/icmpv6.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>

#define TMN_ON TC_ACT_UNSPEC
#define TMN_PLAIN_OPTION 8 /* longest option or extension header that is read */
#define TMN_PLAIN_HEADERS (ETH_HLEN + sizeof(struct ipv6hdr) + TMN_PLAIN_OPTION + sizeof(struct tcphdr))
#define TMN_ICMP_HEADER 8 /* octets, of any type that is read: as many as of UDP */
#define TMN_LOOPBACK4 0x7f000001u
#define TMN_HOP_BY_HOP 0
#define TMN_AF_INET 2
#define TMN_AF_INET6 10
#define TMN_PLAIN_CHUNK 512 /* octets: the most that bpf_csum_diff takes */

struct tmn_plain_hook_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tmn_plain_hook);
} tmn_plain_hook0 SEC(".maps"), tmn_plain_hook1 SEC(".maps");

/* The kernel lets an update of it return when no program uses the hook any more that was there: kernel/bpf/syscall.c. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct tmn_plain_hook_map);
} tmn_plain_hooks SEC(".maps") = { .values = { &tmn_plain_hook0 } };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct tmn_plain_beat);
} tmn_plain_beats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64[TMN_PLAIN_BUFFERS]);
} tmn_plain_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536 / 64);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
} tmn_plain_held SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, TMN_PLAIN_BUFFERS * TMN_PLAIN_RULES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct tmn_plain_prefix);
	__type(value, __u64);
} tmn_plain_sources SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, TMN_PLAIN_BUFFERS * TMN_PLAIN_RULES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct tmn_plain_prefix);
	__type(value, __u64);
} tmn_plain_destinations SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TMN_PLAIN_BUFFERS * TMN_PLAIN_RULES);
	__type(key, struct tmn_plain_asked);
	__type(value, __u64);
} tmn_plain_marks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TMN_MAX_LOCALS);
	__type(key, struct in6_addr);
	__type(value, __u32);
} tmn_plain_locals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TMN_PLAIN_INTERFACES);
	__type(key, __u32);
	__type(value, __u32);
} tmn_plain_interfaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TMN_PLAIN_COUNTS);
	__type(key, __u32);
	__type(value, struct tmn_plain_count);
} tmn_plain_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TMN_PLAIN_MET_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} tmn_plain_mets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32[TMN_PLAIN_CHUNK / 4 + 1]); /* a word more, for a verifier that does not see the rounding */
} tmn_plain_chunks SEC(".maps");

/* What of a datagram, segment or message its rule depends on. */
struct tmn_plain {
	__u32 source[4];	/* IPv6, or IPv4 as ::ffff:a.b.c.d; as on the wire */
	__u32 destination[4];
	__u32 is_ipv6;
	__u32 alert;		/* 1: it has a Router Alert */
	__u32 datagrams;	/* several that the kernel joined */
	__u32 protocol;		/* IPPROTO_UDP, IPPROTO_TCP, or IPPROTO_ICMP, also of ICMPv6 */
	__u32 total;		/* octets of the longest IP packet; of UDP and ICMP alone */
	__u32 octets;		/* this and what follows of ICMP messages alone */
	__u32 type;		/* as on the wire */
	__u32 code;
	__u32 dscp;
	__u32 hops;
};

TMN_INLINE int tmn_met(__u32 met, __u32 datagrams)
{
	__u64 *counter = bpf_map_lookup_elem(&tmn_plain_mets, &met);

	if (counter)
		*counter += datagrams;
	return TMN_ON;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Whether connections are looked at: rules are for them, or were. */
TMN_INLINE int tmn_has_tcp(const struct tmn_plain_hook *hook)
{
	return hook->tcp || hook->held;
}

/* The rules that ask for a port. */
TMN_INLINE __u64 tmn_asking(const struct tmn_plain_hook *hook, __u32 port)
{
	__u64 *rules = bpf_map_lookup_elem(&tmn_plain_ports, &port);

	return rules ? rules[hook->buffer & (TMN_PLAIN_BUFFERS - 1)] : 0;
}

/* Whether a rule for TCP asked for a port that has left. */
TMN_INLINE int tmn_was_asked(__u32 port)
{
	__u32 word = port / 64;
	__u64 *ports = bpf_map_lookup_elem(&tmn_plain_held, &word);

	return ports && *ports >> (port & 63) & 1;
}

/* The rules that an address leaves of some; "any" do not ask for one. */
TMN_INLINE __u64 tmn_fitting(void *prefixes, const struct tmn_plain_hook *hook, const __u32 address[4], __u64 rules,
			     __u64 any)
{
	struct tmn_plain_prefix key = { .bits = 32 + 128, .buffer = hook->buffer };
	__u64 *covering;

	if (!(rules & ~any))
		return rules;
	__builtin_memcpy(key.address, address, sizeof(key.address));
	covering = bpf_map_lookup_elem(prefixes, &key);
	return rules & (covering ? *covering | any : any);
}

TMN_INLINE __u64 tmn_fitting_mark(const struct tmn_plain_hook *hook, __u32 mark, __u64 rules)
{
	struct tmn_plain_asked key = { .mark = mark, .buffer = hook->buffer };
	__u64 any = hook->any_mark, *asking;

	if (!(rules & ~any))
		return rules;
	asking = bpf_map_lookup_elem(&tmn_plain_marks, &key);
	return rules & (asking ? *asking | any : any);
}

/*
 * The number of the lowest bit: how many are below it, as Warren, Hacker's Delight, 5-1, counts. Without branches, or
 * the verifier would go through all that follows for each number.
 */
TMN_INLINE __u32 tmn_lowest(__u64 rules)
{
	__u64 below = (rules & -rules) - 1;

	below -= below >> 1 & 0x5555555555555555;
	below = (below & 0x3333333333333333) + (below >> 2 & 0x3333333333333333);
	below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (below * 0x0101010101010101) >> 56 & TMN_PLAIN_RULE;
}

/* ---- up -------------------------------------------------------------------------------------- */

/* Whether no router sends on what has this address: RFC 1122, 3.2.1.3, RFC 3927, 2.7, RFC 4291, 2.5.6. */
TMN_INLINE int tmn_stays(const __u32 address[4], __u32 is_ipv6)
{
	__u32 word = bpf_ntohl(address[is_ipv6 ? 0 : 3]);

	if (is_ipv6)
		return word >> 24 == 0xff || word >> 22 == 0xfe80u >> 6 ||
		       !(address[0] | address[1] | address[2] | (address[3] & bpf_htonl(~1u)));
	return word >> 28 >= 0xe || word >> 24 == 127 || word >> 24 == 0 || word >> 16 == 0xa9fe;
}

/* Whether one more Router Alert may come now; the times of processors that race are one gap off at most. */
TMN_INLINE int tmn_may_alert(struct tmn_plain_beat *beat, const struct tmn_plain_hook *hook, __u64 now,
			     __u32 datagrams)
{
	__u64 due = beat->alert_ns;

	if ((__s64)(due - now) < 0)
		due = now;
	due += hook->alert_gap_ns * datagrams;
	if ((__s64)(due - now) > (__s64)hook->alert_burst_ns)
		return 0;
	beat->alert_ns = due;
	return 1;
}

/* Octets of the IP header, with a Router Alert. */
TMN_INLINE __u32 tmn_ip_octets(const struct tmn_plain *plain)
{
	if (plain->is_ipv6)
		return sizeof(struct ipv6hdr) + plain->alert * 8;
	return sizeof(struct iphdr) + plain->alert * 4;
}

/* Where an ICMP message begins, in octets from the link header; such with a Router Alert are not read. */
TMN_INLINE __u32 tmn_icmp_at(const struct tmn_plain *plain)
{
	return ETH_HLEN + (plain->is_ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
}

/* Whether an ICMP message has the checksum that it should have: RFC 792, and RFC 4443, 2.3. */
static __noinline int tmn_is_sound(struct __sk_buff *skb, const struct tmn_plain *plain)
{
	__u32 octets, at, zero = 0, i;
	__u64 sum = 0;
	__u32 *chunk;

	chunk = bpf_map_lookup_elem(&tmn_plain_chunks, &zero);
	if (!chunk || !plain)
		return 0;
	octets = plain->octets;
	at = tmn_icmp_at(plain);
	if (plain->is_ipv6) {
		sum = bpf_csum_diff(0, 0, (void *)plain->source, sizeof(plain->source), 0);
		sum = bpf_csum_diff(0, 0, (void *)plain->destination, sizeof(plain->destination), sum);
		sum = (sum & 0xffff) + (sum >> 16) + bpf_htons(octets) + bpf_htons(IPPROTO_ICMPV6);
	}
	for (i = 1; i < TMN_PLAIN_MESSAGE / TMN_PLAIN_CHUNK && octets > TMN_PLAIN_CHUNK; i++) {
		if (bpf_skb_load_bytes(skb, at, chunk, TMN_PLAIN_CHUNK))
			return 0;
		sum = bpf_csum_diff(0, 0, chunk, TMN_PLAIN_CHUNK, sum);
		at += TMN_PLAIN_CHUNK;
		octets -= TMN_PLAIN_CHUNK;
	}
	if (octets > TMN_PLAIN_CHUNK)
		return 0;
	octets = tmn_within(octets, TMN_PLAIN_CHUNK);
	chunk[(octets - 1) / 4 & (TMN_PLAIN_CHUNK / 4 - 1)] = 0;
	if (bpf_skb_load_bytes(skb, at, chunk, octets))
		return 0;
	sum = bpf_csum_diff(0, 0, chunk, (octets + 3) & ~3u, sum);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/*
 * Writes the headers of the datagram that stands for an ICMP message, around the room that was made behind the IP
 * header. The message is sound, so its sum is known: of IPv6 it is that of the pseudo-header, inverted. A datagram of
 * IPv4 needs no checksum. The header is writable, see tmn_assign.
 */
TMN_INLINE void tmn_dress(struct __sk_buff *skb, const struct tmn_plain *plain)
{
	__u32 octets = plain->octets + sizeof(struct udphdr), sum;
	struct udphdr udp = { .dest = bpf_htons(plain->type), .len = bpf_htons(octets) };

	if (plain->is_ipv6) {
		__be32 word = bpf_htonl(octets << 16 | IPPROTO_UDP << 8 | plain->hops);

		sum = 0xffff - IPPROTO_ICMPV6 + IPPROTO_UDP + sizeof(udp) + plain->type + octets;
		sum = (sum & 0xffff) + (sum >> 16);
		sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
		udp.check = bpf_htons(sum ? sum : 0xffff);
		bpf_skb_store_bytes(skb, ETH_HLEN + 4, &word, sizeof(word), BPF_F_RECOMPUTE_CSUM);
	} else {
		__be16 total = bpf_htons(sizeof(struct iphdr) + octets);
		__be16 hops = bpf_htons(plain->hops << 8 | IPPROTO_UDP);
		__u32 sum_at = ETH_HLEN + offsetof(struct iphdr, check);

		bpf_l3_csum_replace(skb, sum_at, bpf_htons(sizeof(struct iphdr) + plain->octets), total, sizeof(total));
		bpf_l3_csum_replace(skb, sum_at, bpf_htons(plain->hops << 8 | IPPROTO_ICMP), hops, sizeof(hops));
		bpf_skb_store_bytes(skb, ETH_HLEN + offsetof(struct iphdr, tot_len), &total, sizeof(total), 0);
		bpf_skb_store_bytes(skb, ETH_HLEN + offsetof(struct iphdr, ttl), &hops, sizeof(hops), 0);
	}
	bpf_skb_store_bytes(skb, tmn_icmp_at(plain), &udp, sizeof(udp), BPF_F_RECOMPUTE_CSUM);
}

/*
 * Has the node's socket at this port of loopback take the packet; of TCP one that listens, and of ICMP that for UDP,
 * with room for a header of UDP in front of the message. Returns what the packet met; all but "up" are as they were.
 */
static __noinline int tmn_assign(struct __sk_buff *skb, const struct tmn_plain *plain, __be16 port)
{
	struct bpf_sock_tuple tuple = {};
	__u32 octets = sizeof(tuple.ipv4);
	struct bpf_sock *sk;
	int met = TMN_PLAIN_ABSENT, takes = 1;

	if (!plain)
		return met;
	if (plain->is_ipv6) {
		octets = sizeof(tuple.ipv6);
		tuple.ipv6.saddr[3] = bpf_htonl(1);
		tuple.ipv6.daddr[3] = bpf_htonl(1);
		tuple.ipv6.dport = port;
	} else {
		tuple.ipv4.saddr = bpf_htonl(TMN_LOOPBACK4);
		tuple.ipv4.daddr = bpf_htonl(TMN_LOOPBACK4);
		tuple.ipv4.dport = port;
	}
	if (plain->protocol == IPPROTO_TCP) {
		sk = bpf_skc_lookup_tcp(skb, &tuple, octets, BPF_F_CURRENT_NETNS, 0);
		takes = sk && sk->state == BPF_TCP_LISTEN;
	} else {
		sk = bpf_sk_lookup_udp(skb, &tuple, octets, BPF_F_CURRENT_NETNS, 0);
	}
	if (!sk)
		return met;
	if (plain->protocol == IPPROTO_ICMP) {
		/* What is written behind the link header is the packet's own from here on. */
		if (bpf_skb_pull_data(skb, tmn_icmp_at(plain) + TMN_ICMP_HEADER) ||
		    bpf_skb_adjust_room(skb, sizeof(struct udphdr), BPF_ADJ_ROOM_NET, 0))
			met = TMN_PLAIN_LENGTH;
		else if (!bpf_sk_assign(skb, sk, 0))
			met = TMN_PLAIN_UP;
		else
			bpf_skb_adjust_room(skb, -(__s32)sizeof(struct udphdr), BPF_ADJ_ROOM_NET, 0);
	} else if (takes && !bpf_sk_assign(skb, sk, 0)) {
		met = TMN_PLAIN_UP;
	}
	bpf_sk_release(sk);
	return met;
}

/*
 * The number of the interface by which an IP packet of so many octets leaves; 0 octets = whatever its length. 0 when
 * there is no way, TMN_WAY_NARROW when it takes no such length.
 */
#define TMN_WAY_NARROW (~0u)
static __noinline __u32 tmn_way(struct __sk_buff *skb, const struct tmn_plain *plain, __u32 octets)
{
	struct bpf_fib_lookup way = {};
	long found;

	if (!plain)
		return 0;
	way.ifindex = skb->ifindex;
	way.tot_len = octets;
	if (plain->is_ipv6) {
		way.family = TMN_AF_INET6;
		__builtin_memcpy(way.ipv6_src, plain->source, sizeof(way.ipv6_src));
		__builtin_memcpy(way.ipv6_dst, plain->destination, sizeof(way.ipv6_dst));
	} else {
		way.family = TMN_AF_INET;
		way.ipv4_src = plain->source[3];
		way.ipv4_dst = plain->destination[3];
	}
	found = bpf_fib_lookup(skb, &way, sizeof(way), 0);
	if (found == BPF_FIB_LKUP_RET_FRAG_NEEDED)
		return TMN_WAY_NARROW;
	return found == BPF_FIB_LKUP_RET_SUCCESS || found == BPF_FIB_LKUP_RET_NO_NEIGH ? way.ifindex : 0;
}

/*
 * Whether the way to the destination leaves by an interface that has the program: what comes back mostly comes in by
 * the same, and would else pass the socket that it is for.
 */
TMN_INLINE int tmn_comes_back(struct __sk_buff *skb, const struct tmn_plain *plain)
{
	__u32 interface = tmn_way(skb, plain, 0);

	return interface && bpf_map_lookup_elem(&tmn_plain_interfaces, &interface);
}

/* The state of the socket here that a connection has; 0 when it has none. */
TMN_INLINE __u32 tmn_state_of(struct __sk_buff *skb, struct bpf_sock_tuple *tuple, __u32 octets)
{
	struct bpf_sock *sk = bpf_skc_lookup_tcp(skb, tuple, octets, BPF_F_CURRENT_NETNS, 0);
	__u32 state;

	if (!sk)
		return 0;
	state = sk->state;
	bpf_sk_release(sk);
	return state == BPF_TCP_LISTEN ? 0 : state;
}

/* The state of the socket here that a segment's connection has; 0 when it has none. */
static __noinline __u32 tmn_state(struct __sk_buff *skb, const struct tmn_plain *plain, __be16 from, __be16 to)
{
	struct bpf_sock_tuple tuple = {};
	__u32 octets = sizeof(tuple.ipv4);

	if (!plain)
		return 0;
	if (plain->is_ipv6) {
		octets = sizeof(tuple.ipv6);
		__builtin_memcpy(tuple.ipv6.saddr, plain->source, sizeof(tuple.ipv6.saddr));
		__builtin_memcpy(tuple.ipv6.daddr, plain->destination, sizeof(tuple.ipv6.daddr));
		tuple.ipv6.sport = from;
		tuple.ipv6.dport = to;
	} else {
		tuple.ipv4.saddr = plain->source[3];
		tuple.ipv4.daddr = plain->destination[3];
		tuple.ipv4.sport = from;
		tuple.ipv4.dport = to;
	}
	return tmn_state_of(skb, &tuple, octets);
}

/*
 * Whether a segment without a socket ends a handshake of which the socket at this port of loopback has kept nothing, since
 * too many had begun (SYN cookies, RFC 4987, 3.6): it knows the number that it gave; has it take the segment then.
 */
static __noinline int tmn_ends_handshake(struct __sk_buff *skb, const struct tmn_plain *plain, struct tcphdr *tcp,
					 __be16 port)
{
	struct bpf_sock_tuple tuple = {};
	__u32 octets = sizeof(tuple.ipv4);
	struct bpf_sock *sk;
	long result = -1;

	if (!plain || !tcp)
		return 0;
	if (plain->is_ipv6) {
		octets = sizeof(tuple.ipv6);
		tuple.ipv6.saddr[3] = bpf_htonl(1);
		tuple.ipv6.daddr[3] = bpf_htonl(1);
		tuple.ipv6.dport = port;
	} else {
		tuple.ipv4.saddr = bpf_htonl(TMN_LOOPBACK4);
		tuple.ipv4.daddr = bpf_htonl(TMN_LOOPBACK4);
		tuple.ipv4.dport = port;
	}
	sk = bpf_skc_lookup_tcp(skb, &tuple, octets, BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return 0;
	if (sk->state == BPF_TCP_LISTEN && plain->is_ipv6) {
		struct ipv6hdr ip = { .version = 6 };

		__builtin_memcpy(&ip.saddr, plain->source, sizeof(ip.saddr));
		__builtin_memcpy(&ip.daddr, plain->destination, sizeof(ip.daddr));
		result = bpf_tcp_check_syncookie(sk, &ip, sizeof(ip), tcp, sizeof(*tcp));
	} else if (sk->state == BPF_TCP_LISTEN) {
		struct iphdr ip = { .version = 4, .saddr = plain->source[3], .daddr = plain->destination[3] };

		result = bpf_tcp_check_syncookie(sk, &ip, sizeof(ip), tcp, sizeof(*tcp));
	}
	if (!result)
		result = bpf_sk_assign(skb, sk, 0);
	bpf_sk_release(sk);
	return !result;
}

/* A rule is for the datagram: up, if the node is there to take it. */
TMN_INLINE int tmn_lift(struct __sk_buff *skb, const struct tmn_plain_hook *hook, const struct tmn_plain *plain,
			__u32 rule)
{
	__u32 place = hook->count[rule & TMN_PLAIN_RULE];
	struct tmn_plain_count *count = bpf_map_lookup_elem(&tmn_plain_counts, &place);
	int is_tcp = plain->protocol == IPPROTO_TCP, is_icmp = plain->protocol == IPPROTO_ICMP;
	struct tmn_plain_beat *beat;
	__u32 zero = 0;
	__be16 port;
	__u64 now;
	int met;

	beat = bpf_map_lookup_elem(&tmn_plain_beats, &zero);
	if (!count || !beat)
		return TMN_ON;
	count->fits += plain->datagrams;
	now = bpf_ktime_get_ns();
	if ((__s64)(now - *(volatile __u64 *)&beat->node_ns) > (__s64)TMN_PLAIN_STALE_NS)
		return tmn_met(TMN_PLAIN_STALE, plain->datagrams);
	if (tmn_stays(plain->destination, plain->is_ipv6) || tmn_stays(plain->source, plain->is_ipv6) ||
	    bpf_map_lookup_elem(&tmn_plain_locals, plain->destination))
		return tmn_met(TMN_PLAIN_LOCAL, plain->datagrams);
	if (plain->alert && !tmn_may_alert(beat, hook, now, plain->datagrams))
		return tmn_met(TMN_PLAIN_LIMITED, plain->datagrams);
	if (is_tcp && !tmn_comes_back(skb, plain))
		return tmn_met(TMN_PLAIN_ONE_WAY, 1);
	if (!is_tcp && tmn_way(skb, plain, plain->total) == TMN_WAY_NARROW)
		return tmn_met(TMN_PLAIN_WAY, plain->datagrams);
	if (is_icmp && !tmn_is_sound(skb, plain))
		return tmn_met(TMN_PLAIN_CHECKSUM, 1);
	if (is_tcp)
		port = plain->is_ipv6 ? hook->tcp6[rule & TMN_PLAIN_RULE] : hook->tcp4[rule & TMN_PLAIN_RULE];
	else
		port = plain->is_ipv6 ? hook->port6 : hook->port4;
	met = tmn_assign(skb, plain, port);
	if (met != TMN_PLAIN_UP)
		return tmn_met(met, plain->datagrams);
	if (is_icmp)
		tmn_dress(skb, plain);
	skb->mark = hook->mark | rule | (plain->alert ? TMN_PLAIN_ALERT : 0) | (is_icmp ? TMN_PLAIN_ICMP : 0);
	count->up += plain->datagrams;
	return tmn_met(TMN_PLAIN_UP, plain->datagrams);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Looks for the datagram's rule, what costs least first. */
TMN_INLINE int tmn_udp(struct __sk_buff *skb, const struct tmn_plain_hook *hook, struct tmn_plain *plain,
		       const struct udphdr *udp, __u32 ip_octets, __u32 dscp, __u32 hops)
{
	__u32 octets = bpf_ntohs(udp->len), port = bpf_ntohs(udp->dest);
	__u64 rules = hook->udp & hook->dscp[dscp & 63] & (plain->alert ? hook->alert : hook->no_alert);

	rules &= tmn_asking(hook, port);
	if (!rules)
		return tmn_met(TMN_PLAIN_NO_RULE, 1);
	plain->datagrams = 1;
	plain->protocol = IPPROTO_UDP;
	if (octets != ip_octets || octets < sizeof(*udp) || octets > TMN_PLAIN_LONGEST)
		return tmn_met(TMN_PLAIN_LENGTH, 1);
	plain->total = tmn_ip_octets(plain) + octets;
	if (skb->gso_size && skb->gso_size < octets) {
		plain->datagrams = (octets - sizeof(*udp) + skb->gso_size - 1) / skb->gso_size;
		plain->total = tmn_ip_octets(plain) + sizeof(*udp) + skb->gso_size;
	}
	rules = tmn_fitting(&tmn_plain_destinations, hook, plain->destination, rules, hook->any_destination);
	rules = tmn_fitting(&tmn_plain_sources, hook, plain->source, rules, hook->any_source);
	rules = tmn_fitting_mark(hook, skb->mark, rules);
	if (!rules)
		return tmn_met(TMN_PLAIN_NO_RULE, plain->datagrams);
	if (hops <= 1)
		return tmn_met(TMN_PLAIN_HOPS, plain->datagrams);
	return tmn_lift(skb, hook, plain, tmn_lowest(rules));
}

/*
 * A segment goes up where its connection has a socket here, which the mark alone finds; or it begins a connection that a
 * rule is for. What comes back is known by the ports and addresses of rules, the other way round. Connections of rules that
 * have left are known by their ports.
 */
TMN_INLINE int tmn_tcp(struct __sk_buff *skb, const struct tmn_plain_hook *hook, struct tmn_plain *plain,
		       const struct tcphdr *tcp, __u32 dscp, __u32 hops)
{
	__u32 to = bpf_ntohs(tcp->dest), from = bpf_ntohs(tcp->source), state;
	__be16 source = tcp->source, destination = tcp->dest;
	int begins = tcp->syn && !tcp->ack, is_held = 0;
	__u64 forth, back = 0;

	plain->datagrams = 1;
	plain->protocol = IPPROTO_TCP;
	forth = tmn_asking(hook, to) & hook->tcp;
	if (!begins)
		back = tmn_asking(hook, from) & hook->tcp;
	if (hook->held)
		is_held = tmn_was_asked(to) || tmn_was_asked(from);
	if (begins)
		forth &= hook->dscp[dscp & 63] & (plain->alert ? hook->alert : hook->no_alert);
	if (!(forth | back) && !is_held)
		return tmn_met(TMN_PLAIN_NO_RULE, 1);
	forth = tmn_fitting(&tmn_plain_destinations, hook, plain->destination, forth, hook->any_destination);
	forth = tmn_fitting(&tmn_plain_sources, hook, plain->source, forth, hook->any_source);
	if (begins)
		forth = tmn_fitting_mark(hook, skb->mark, forth);
	if (!forth) {
		back = tmn_fitting(&tmn_plain_destinations, hook, plain->source, back, hook->any_destination);
		back = tmn_fitting(&tmn_plain_sources, hook, plain->destination, back, hook->any_source);
		if (!back && !is_held)
			return tmn_met(TMN_PLAIN_NO_RULE, 1);
	}
	state = tmn_state(skb, plain, source, destination);
	/* This host's own connections have sockets, too, and a mark would lead them, and no rule, to the node. */
	if ((state || !begins) && bpf_map_lookup_elem(&tmn_plain_locals, plain->destination))
		return tmn_met(TMN_PLAIN_LOCAL, 1);
	if (state && !(begins && state == BPF_TCP_TIME_WAIT)) {
		skb->mark = hook->mark;
		return tmn_met(TMN_PLAIN_UP, 1);
	}
	if (!(forth | back))
		return tmn_met(TMN_PLAIN_NO_RULE, 1);
	if (!begins) {
		struct tcphdr ack = *tcp;
		__u32 rule;

		/* By what its first segment most likely had, and with it the rule. */
		forth &= hook->dscp[dscp & 63] & (plain->alert ? hook->alert : hook->no_alert);
		forth = tmn_fitting_mark(hook, skb->mark, forth);
		rule = tmn_lowest(forth);
		if (!forth || !ack.ack || ack.syn || ack.rst ||
		    !tmn_ends_handshake(skb, plain, &ack, plain->is_ipv6 ? hook->tcp6[rule] : hook->tcp4[rule]))
			return tmn_met(TMN_PLAIN_BEGUN, 1);
		skb->mark = hook->mark | rule;
		return tmn_met(TMN_PLAIN_UP, 1);
	}
	if (hops <= 1)
		return tmn_met(TMN_PLAIN_HOPS, 1);
	return tmn_lift(skb, hook, plain, tmn_lowest(forth));
}

/* What a message is to rules: enum tmn_plain_icmp; its count where none is for such, as for neighbour discovery. */
TMN_INLINE __u32 tmn_icmp_type(__u32 is_ipv6, __u32 type, __u32 code)
{
	if (is_ipv6) {
		switch (type) {
		case ICMPV6_ECHO_REQUEST: return TMN_PLAIN_ECHO_REQUEST;
		case ICMPV6_ECHO_REPLY: return TMN_PLAIN_ECHO_REPLY;
		case ICMPV6_DEST_UNREACH: return TMN_PLAIN_UNREACHABLE;
		case ICMPV6_PKT_TOOBIG: return TMN_PLAIN_TOO_BIG;
		case ICMPV6_TIME_EXCEED: return TMN_PLAIN_TIME_EXCEEDED;
		case ICMPV6_PARAMPROB: return TMN_PLAIN_PARAMETER;
		default: return TMN_PLAIN_ICMP_COUNT;
		}
	}
	switch (type) { /* RFC 792; its header cannot be included here */
	case 8: return TMN_PLAIN_ECHO_REQUEST;
	case 0: return TMN_PLAIN_ECHO_REPLY;
	case 3: return code == 4 ? TMN_PLAIN_TOO_BIG : TMN_PLAIN_UNREACHABLE;
	case 11: return TMN_PLAIN_TIME_EXCEEDED;
	case 12: return TMN_PLAIN_PARAMETER;
	default: return TMN_PLAIN_ICMP_COUNT;
	}
}

/* Whether a connection with these ports may be the node's: a rule for TCP is, or was, for one of them. */
TMN_INLINE int tmn_has_rule(const struct tmn_plain_hook *hook, __be16 one, __be16 other)
{
	__u32 port = bpf_ntohs(one), other_port = bpf_ntohs(other);

	return (tmn_asking(hook, port) | tmn_asking(hook, other_port)) & hook->tcp ||
	       (hook->held && (tmn_was_asked(port) || tmn_was_asked(other_port)));
}

/*
 * Whether a message says of a segment of the node's that it did not arrive, as when a link behind takes less: then it is
 * for the node's socket, which the mark finds. Its destination is where that segment came from, the other end's address.
 */
static __noinline int tmn_is_of_connection(struct __sk_buff *skb, const struct tmn_plain_hook *hook,
					   const struct tmn_plain *plain)
{
	struct bpf_sock_tuple tuple = {};
	__u32 at, octets;
	__be16 ports[2];

	if (!hook || !plain)
		return 0;
	at = tmn_icmp_at(plain) + TMN_ICMP_HEADER;
	if (plain->is_ipv6) {
		struct ipv6hdr ip;

		if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)) || ip.version != 6 || ip.nexthdr != IPPROTO_TCP ||
		    bpf_skb_load_bytes(skb, at + sizeof(ip), ports, sizeof(ports)))
			return 0;
		octets = sizeof(tuple.ipv6);
		__builtin_memcpy(tuple.ipv6.saddr, &ip.daddr, sizeof(tuple.ipv6.saddr));
		__builtin_memcpy(tuple.ipv6.daddr, &ip.saddr, sizeof(tuple.ipv6.daddr));
		tuple.ipv6.sport = ports[1];
		tuple.ipv6.dport = ports[0];
		if (tuple.ipv6.daddr[0] != plain->destination[0] || tuple.ipv6.daddr[1] != plain->destination[1] ||
		    tuple.ipv6.daddr[2] != plain->destination[2] || tuple.ipv6.daddr[3] != plain->destination[3])
			return 0;
	} else {
		struct iphdr ip;

		if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)) || ip.version != 4 || ip.ihl != 5 ||
		    ip.protocol != IPPROTO_TCP || ip.frag_off & bpf_htons(TMN_IP_FRAGMENT) ||
		    ip.saddr != plain->destination[3] ||
		    bpf_skb_load_bytes(skb, at + sizeof(ip), ports, sizeof(ports)))
			return 0;
		octets = sizeof(tuple.ipv4);
		tuple.ipv4.saddr = ip.daddr;
		tuple.ipv4.daddr = ip.saddr;
		tuple.ipv4.sport = ports[1];
		tuple.ipv4.dport = ports[0];
	}
	return tmn_has_rule(hook, ports[0], ports[1]) && !bpf_map_lookup_elem(&tmn_plain_locals, plain->destination) &&
	       tmn_state_of(skb, &tuple, octets);
}

/* Looks for the message's rule. */
static __noinline int tmn_icmp(struct __sk_buff *skb, const struct tmn_plain_hook *hook,
			       const struct tmn_plain *plain)
{
	__u64 rules;
	__u32 type;

	if (!hook || !plain)
		return TMN_ON;
	type = tmn_icmp_type(plain->is_ipv6, plain->type, plain->code);
	if (tmn_has_tcp(hook) && type >= TMN_PLAIN_UNREACHABLE && type < TMN_PLAIN_ICMP_COUNT &&
	    tmn_is_of_connection(skb, hook, plain)) {
		skb->mark = hook->mark;
		return tmn_met(TMN_PLAIN_UP, 1);
	}
	if (!hook->icmp)
		return TMN_ON;
	rules = hook->icmp & hook->dscp[plain->dscp & 63] & hook->no_alert;
	rules &= type < TMN_PLAIN_ICMP_COUNT ? tmn_asking(hook, type) : 0;
	if (!rules)
		return tmn_met(TMN_PLAIN_NO_RULE, 1);
	if (plain->octets < TMN_ICMP_HEADER || plain->octets > TMN_PLAIN_MESSAGE)
		return tmn_met(TMN_PLAIN_LENGTH, 1);
	rules = tmn_fitting(&tmn_plain_destinations, hook, plain->destination, rules, hook->any_destination);
	rules = tmn_fitting(&tmn_plain_sources, hook, plain->source, rules, hook->any_source);
	rules = tmn_fitting_mark(hook, skb->mark, rules);
	if (!rules)
		return tmn_met(TMN_PLAIN_NO_RULE, 1);
	if (plain->hops <= 1)
		return tmn_met(TMN_PLAIN_HOPS, 1);
	return tmn_lift(skb, hook, plain, tmn_lowest(rules));
}

/* Reads what of an ICMP message its rule depends on; its first 8 octets lie there. */
TMN_INLINE int tmn_message(struct __sk_buff *skb, const struct tmn_plain_hook *hook, struct tmn_plain *plain,
			   const __u8 *icmp, __u32 octets, __u32 dscp, __u32 hops)
{
	plain->datagrams = 1;
	plain->protocol = IPPROTO_ICMP;
	plain->octets = octets;
	plain->total = tmn_ip_octets(plain) + octets;
	plain->type = icmp[0];
	plain->code = icmp[1];
	plain->dscp = dscp;
	plain->hops = hops;
	return tmn_icmp(skb, hook, plain);
}

TMN_INLINE int tmn_ipv4(struct __sk_buff *skb, const struct tmn_plain_hook *hook, struct iphdr *ip, void *end)
{
	struct udphdr *udp = (void *)(ip + 1);
	struct tmn_plain plain = {};

	if ((void *)(ip + 1) > end || ip->version != 4 ||
	    !(ip->protocol == IPPROTO_UDP || (ip->protocol == IPPROTO_TCP && tmn_has_tcp(hook)) ||
	      (ip->protocol == IPPROTO_ICMP && (hook->icmp || tmn_has_tcp(hook)))))
		return TMN_ON;
	if (ip->frag_off & bpf_htons(TMN_IP_FRAGMENT))
		return tmn_met(TMN_PLAIN_FRAGMENT, 1);
	if (ip->ihl != 5) {
		__be32 *option = (void *)(ip + 1);

		if (ip->protocol == IPPROTO_ICMP && !hook->icmp)
			return TMN_ON;
		if (ip->ihl != 6 || (void *)(option + 1) > end || *option != bpf_htonl(TMN_PLAIN_ALERT_V4) ||
		    ip->protocol == IPPROTO_ICMP)
			return tmn_met(TMN_PLAIN_OPTIONS, 1);
		plain.alert = 1;
		udp = (void *)(option + 1);
	}
	if ((void *)(udp + 1) > end)
		return TMN_ON;
	tmn_map_ipv4(plain.source, ip->saddr);
	tmn_map_ipv4(plain.destination, ip->daddr);
	if (ip->protocol == IPPROTO_TCP) {
		struct tcphdr *tcp = (void *)udp;

		return (void *)(tcp + 1) > end ? TMN_ON : tmn_tcp(skb, hook, &plain, tcp, ip->tos >> 2, ip->ttl);
	}
	if (ip->protocol == IPPROTO_ICMP) {
		__u32 octets = bpf_ntohs(ip->tot_len) - sizeof(*ip);

		return tmn_message(skb, hook, &plain, (void *)udp, octets, ip->tos >> 2, ip->ttl);
	}
	return tmn_udp(skb, hook, &plain, udp, bpf_ntohs(ip->tot_len) - ip->ihl * 4, ip->tos >> 2, ip->ttl);
}

TMN_INLINE int tmn_ipv6(struct __sk_buff *skb, const struct tmn_plain_hook *hook, struct ipv6hdr *ip, void *end)
{
	struct udphdr *udp = (void *)(ip + 1);
	__u32 octets = bpf_ntohs(ip->payload_len), dscp = (ip->priority << 4 | ip->flow_lbl[0] >> 4) >> 2;
	struct tmn_plain plain = { .is_ipv6 = 1 };
	__u32 protocol = ip->nexthdr;

	if (ip->nexthdr == TMN_IPV6_FRAGMENT)
		return tmn_met(TMN_PLAIN_FRAGMENT, 1);
	if (protocol == IPPROTO_ICMPV6 && !hook->icmp && !tmn_has_tcp(hook))
		return TMN_ON;
	if (protocol != IPPROTO_UDP && protocol != IPPROTO_TCP && protocol != IPPROTO_ICMPV6) {
		__be64 *header = (void *)(ip + 1);
		__u64 word;

		if (ip->nexthdr != TMN_HOP_BY_HOP || (void *)(header + 1) > end)
			return tmn_met(TMN_PLAIN_OPTIONS, 1);
		word = bpf_be64_to_cpu(*header);
		protocol = word >> 56; /* the header has 8 octets in all */
		if ((protocol != IPPROTO_UDP && protocol != IPPROTO_TCP) ||
		    word != (((__u64)protocol << 56) | TMN_PLAIN_ALERT_V6))
			return tmn_met(TMN_PLAIN_OPTIONS, 1);
		plain.alert = 1;
		octets -= sizeof(*header);
		udp = (void *)(header + 1);
	}
	if ((void *)(udp + 1) > end)
		return TMN_ON;
	__builtin_memcpy(plain.source, &ip->saddr, sizeof(plain.source));
	__builtin_memcpy(plain.destination, &ip->daddr, sizeof(plain.destination));
	if (protocol == IPPROTO_TCP) {
		struct tcphdr *tcp = (void *)udp;

		return !tmn_has_tcp(hook) || (void *)(tcp + 1) > end ?
			       TMN_ON :
			       tmn_tcp(skb, hook, &plain, tcp, dscp, ip->hop_limit);
	}
	if (protocol == IPPROTO_ICMPV6)
		return tmn_message(skb, hook, &plain, (void *)udp, octets, dscp, ip->hop_limit);
	return tmn_udp(skb, hook, &plain, udp, octets, dscp, ip->hop_limit);
}

/* ---- the program ----------------------------------------------------------------------------- */

SEC("tc")
int tmn_plain(struct __sk_buff *skb)
{
	struct tmn_plain_hook *hook;
	__u32 octets, zero = 0;
	struct ethhdr *link;
	void *data, *end, *in_force;

	in_force = bpf_map_lookup_elem(&tmn_plain_hooks, &zero);
	if (!in_force)
		return TMN_ON;
	hook = bpf_map_lookup_elem(in_force, &zero);
	if (!hook || hook->version != TMN_PLAIN_VERSION || skb->vlan_present || skb->pkt_type != PACKET_HOST)
		return TMN_ON;
	if (skb->mark >> 25 == TMN_MARK_BASE >> 25) /* which TMN_PLAIN_SENT has too */
		return tmn_met(TMN_PLAIN_SENT_ON, 1);
	octets = skb->len < TMN_PLAIN_HEADERS ? skb->len : TMN_PLAIN_HEADERS;
	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	if (data + octets > end) {
		if (bpf_skb_pull_data(skb, octets))
			return TMN_ON;
		data = (void *)(long)skb->data;
		end = (void *)(long)skb->data_end;
	}
	link = data;
	if ((void *)(link + 1) > end)
		return TMN_ON;
	if (link->h_proto == bpf_htons(ETH_P_IP) && hook->port4)
		return tmn_ipv4(skb, hook, (void *)(link + 1), end);
	if (link->h_proto == bpf_htons(ETH_P_IPV6) && hook->port6) {
		struct ipv6hdr *ip = (void *)(link + 1);

		return (void *)(ip + 1) > end ? TMN_ON : tmn_ipv6(skb, hook, ip, end);
	}
	return TMN_ON;
}

char _license[] SEC("license") = "GPL";
