/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What the levels below the Java virtual machine and the node say to each other: the one truth for the netfilter
 * module, the BPF programs and Java (org.tamanoir.kernel.Abi, which a test compares with this file).
 *
 * A level looks at UDP datagrams to the node's ports that carry ANEP packets with a service key, finds the policy of
 * the packet's flow, and does what it says. What a level cannot do exactly as the node would goes up to the node.
 *
 * All structs have explicit padding, no holes, and the same layout for 32 and 64 bits. Fields are in the host's byte
 * order unless they are said to be as on the wire.
 */
#ifndef TAMANOIR_ABI_H
#define TAMANOIR_ABI_H

#include <linux/types.h>

/* Changes with any change below; a node refuses a level of another version. */
#define TMN_ABI_VERSION 1

/* ---- bounds ------------------------------------------------------------------------------------------------- */

#define TMN_MAX_POLICIES 16384	/* policies at once, and slots: 1 to 16383; slot 0 stands for no policy */
#define TMN_MAX_SERVICES 4096	/* service keys that have policies */
#define TMN_MAX_PORTS 16	/* ports of a node */
#define TMN_MAX_LOCALS 256	/* addresses of the node's host */
#define TMN_MAX_RULES 16	/* filter rules of a policy */
#define TMN_MAX_INSTANCES 16	/* nodes in one network namespace */
#define TMN_HEADER_OCTETS 256	/* longest ANEP header that a level reads, in octets */
#define TMN_MAX_OPTIONS 32	/* most options that a level reads */
#define TMN_MAX_CHECKED_OCTETS 2048 /* longest packet whose ANEP checksum BPF verifies; longer ones go up */

/* ---- the mark of packets that go up (skb->mark) ------------------------------------------------------------- */

/*
 *   31      24 23   20 19   16 15               0
 *  +----------+-------+-------+------------------+
 *  |   0x54   | inst. | zero  |       slot       |
 *  +----------+-------+-------+------------------+
 */
#define TMN_MARK_BASE 0x54000000u
#define TMN_MARK_MASK 0xfff00000u /* identifies the node; rules of routing go by it */
#define TMN_MARK_SLOT 0x0000ffffu
#define TMN_MARK_INSTANCE_SHIFT 20

/* ---- policies ----------------------------------------------------------------------------------------------- */

/* Levels, tmn_policy.level. A program steps aside where the policy is another level's. */
enum tmn_level {
	TMN_LEVEL_MODULE = 1,
	TMN_LEVEL_TC = 2,
	TMN_LEVEL_XDP = 3,
};

/* Which packets of the flow go up instead of being handled by the level, tmn_policy.share. */
enum tmn_share {
	TMN_SHARE_NONE = 0,	/* none goes up */
	TMN_SHARE_ALL = 1,	/* all go up */
	TMN_SHARE_EVERY = 2,	/* packets number, 2*number, 3*number, ... of the flow go up */
	TMN_SHARE_FIRST = 3,	/* packets 1 to number go up, and later ones while one of the earlier is still up */
};

/* What becomes of a packet that the level handles, tmn_policy.fate. */
enum tmn_fate {
	TMN_FATE_ON = 0,	/* goes on by the kernel's routing; up instead if it is addressed to this host */
	TMN_FATE_DROP = 1,	/* ends here */
	TMN_FATE_TO = 2,	/* goes to to_address, to_port: the IP destination is rewritten, the source stays */
	TMN_FATE_REDIRECT = 3,	/* leaves through interface ifindex, link addresses looked up by route (tc, XDP) */
};

/* What a level writes into a packet that it handles and does not drop, tmn_policy.mark. */
enum tmn_mark {
	TMN_MARK_NONE = 0,
	TMN_MARK_CLASS = 1,	/* mark_value into the first octet of the class-of-service option, if there is one */
	TMN_MARK_OCTETS = 2,	/* mark_value, mark_octets long, at mark_offset of the ANEP packet, if in its header */
};

enum tmn_subject {
	TMN_RULE_ALL = 0,
	TMN_RULE_SOURCE = 1,	/* the source identifier (ANEP option 1), an IPv4 or IPv6 address, lies in the prefix */
	TMN_RULE_DESTINATION = 2, /* the same of the destination identifier (ANEP option 2) */
	TMN_RULE_CLASS = 3,	/* the class of service, where the packet has that option */
	TMN_RULE_STREAM = 4,	/* the stream id, where the packet has that option */
	TMN_RULE_SIZE = 5,	/* octets of the whole ANEP packet */
};

enum tmn_comparison {
	TMN_EQUAL = 0,
	TMN_BELOW = 1,
	TMN_ABOVE = 2,
};

/* A filter rule; a packet without the option that it looks at does not meet it. The first that is met decides. */
struct tmn_rule {
	__u8 subject;		/* enum tmn_subject */
	__u8 comparison;	/* enum tmn_comparison, for class, stream and size */
	__u8 drops;		/* 1: the packet ends; 0: it passes and no later rule is looked at */
	__u8 prefix;		/* bits of the address that count, 0 to 128; of an IPv4 address 96 to 128 */
	__u32 number;		/* what class, stream or size is compared with */
	__u8 address[16];	/* IPv6, or IPv4 as ::ffff:a.b.c.d; as on the wire */
};

/* Wildcards of a flow, tmn_flow.wild. Of several policies that fit, that with the smallest value here decides. */
#define TMN_WILD_SOURCE 1
#define TMN_WILD_DESTINATION 2
#define TMN_WILD_STREAM 4
#define TMN_WILDS 8 /* combinations */

/*
 * What a policy is for; the key of the policy table. Fields that are wild are zero. For TCP the service is zero and
 * the stream wild: when a connection begins nothing is known but its ends.
 */
struct tmn_flow {
	__u8 service[8];	/* service key, as on the wire */
	__u8 source[16];	/* of the IP header: IPv6, or IPv4 as ::ffff:a.b.c.d; as on the wire */
	__u8 destination[16];
	__be32 stream;		/* stream id of ANEP private option 4, as on the wire */
	__u8 wild;		/* TMN_WILD_... */
	__u8 protocol;		/* IPPROTO_UDP or IPPROTO_TCP */
	__u8 zero[2];
};

/*
 * A policy; replaced as a whole, so that each packet sees the old one or the new one. For TCP it decides about
 * connections when they begin: share counts connections, mark and rules are not looked at, fate is on or drop.
 */
struct tmn_policy {
	__u32 slot;		/* of state and counters, 1 to TMN_MAX_POLICIES - 1 */
	__u8 level;		/* enum tmn_level */
	__u8 share;		/* enum tmn_share */
	__u8 fate;		/* enum tmn_fate */
	__u8 mark;		/* enum tmn_mark */
	__u32 number;		/* of share, 1 or more */
	__u32 mark_value;	/* in the host's order; its low mark_octets are written in the wire's */
	__u16 mark_offset;	/* from the first octet of the ANEP packet, 8 or more */
	__u8 mark_octets;	/* 1, 2 or 4; mark_offset is a multiple of it */
	__u8 rule_count;	/* 0 to TMN_MAX_RULES */
	__u8 ordered;		/* 1: packets were on their way up when this came; see tmn_state */
	__u8 default_drops;	/* 1: a packet that meets no rule ends; only with rules */
	__be16 to_port;		/* as on the wire; 0 keeps the port */
	__u32 ifindex;
	__u8 to_address[16];	/* of the flow's own family; IPv4 as ::ffff:a.b.c.d; as on the wire */
	__u32 zero;
	struct tmn_rule rules[TMN_MAX_RULES];
};

/*
 * How far a policy is. "seen" and "up" are the level's, "settled" is the node's: packets that came up with this slot's
 * mark and have left the node, or ended in it.
 *
 * A level that may keep a packet for itself (share FIRST past its number, or a policy that is "ordered") sends it up
 * all the same while up != settled, so that no packet overtakes one that went up before it. An ordered policy sends at
 * least one packet up first: once that has settled, all that were on their way when the policy came have too.
 *
 * While settled is below 0, as a signed number, the node holds the slot: all UDP packets of its policies go up, whatever
 * these say. So policies that share a slot begin to send packets up in one step.
 */
struct tmn_state {
	__u64 seen;
	__u64 up;
	__u64 settled;
	__u64 zero;
};

/* What a policy has done; one for each processor. packets = up + on + dropped. */
struct tmn_counters {
	__u64 packets;		/* that the policy decided about; connections for TCP */
	__u64 up;
	__u64 on;		/* handled here and passed on: fates on, to and redirect */
	__u64 dropped;		/* handled here and ended */
	__u64 octets;		/* of whole ANEP packets, as this and all below of those handled here */
	__u64 marked;
	__u64 unmarked;		/* lacked the option, or the header was too short */
	__u64 smallest;		/* octets; 0 before the first */
	__u64 largest;
	__u64 rules[TMN_MAX_RULES + 1]; /* packets that each rule ended; the last is the default's */
};

/* ---- what a level is told of its node ----------------------------------------------------------------------- */

struct tmn_hook {
	__u32 abi;		/* TMN_ABI_VERSION */
	__u32 mark;		/* TMN_MARK_BASE and the instance */
	__u16 type_id;		/* Tamanoir's ANEP Type ID */
	__u8 udp_ports;		/* how many of ports are there */
	__u8 tcp_ports;
	__u8 unknown_up;	/* 1: packets with a service key and no policy, and such connections, go up; 0: on */
	__u8 zero[3];
	__be16 udp[TMN_MAX_PORTS]; /* as on the wire */
	__be16 tcp[TMN_MAX_PORTS];
};

/* What a level has met; one for each processor and level, in this order. Malformed packets go on untouched. */
enum tmn_met {
	TMN_MET_SEEN = 0,	/* UDP datagrams to the node's ports */
	TMN_MET_SHORT,		/* as the drop reasons of these names */
	TMN_MET_VERSION,
	TMN_MET_HEADER_LENGTH,
	TMN_MET_TRUNCATED,
	TMN_MET_OPTION_LENGTH,
	TMN_MET_CHECKSUM,
	TMN_MET_OPTION,
	TMN_MET_OPTION_FORMAT,
	TMN_MET_TYPE_ID,	/* of another Type ID: on, untouched */
	TMN_MET_NO_KEY,		/* asks for no service: on, untouched */
	TMN_MET_NO_POLICY,	/* nothing is said about its flow: up or on as unknown_up says */
	TMN_MET_POLICY,		/* a policy of this level decided */
	TMN_MET_OTHER_LEVEL,	/* a policy of another level: on, untouched */
	TMN_MET_FRAGMENT,	/* IP fragments: on, untouched */
	TMN_MET_TRAILER,	/* octets behind the packet: up */
	TMN_MET_COMPLEX,	/* header or options beyond the bounds above: up */
	TMN_MET_AGGREGATED,	/* several datagrams that the kernel joined: up */
	TMN_MET_ABSENT,		/* was to go up, but the node is not there: on, untouched */
	TMN_MET_CONNECTIONS,	/* TCP connections that began */
	TMN_MET_COUNT,
};

/* ---- generic netlink of the module -------------------------------------------------------------------------- */

#define TMN_GENL_NAME "tamanoir"

/*
 * All commands need CAP_NET_ADMIN in the user namespace of the network namespace that they act on, and carry
 * TMN_A_ABI. What a socket has installed is its own, and goes when the socket closes.
 */
enum tmn_command {
	TMN_C_UNSPEC = 0,
	TMN_C_HELLO,		/* -> TMN_A_ABI, TMN_A_VERSION: answered whatever the caller's version */
	TMN_C_ATTACH,		/* TMN_A_HOOK: begins to look at packets; again: changes the hook */
	TMN_C_DETACH,		/* takes all of this socket's away */
	TMN_C_SET,		/* TMN_A_FLOW, TMN_A_POLICY: adds or replaces */
	TMN_C_REMOVE,		/* TMN_A_FLOW */
	TMN_C_SETTLED,		/* TMN_A_SLOT, TMN_A_SETTLED: the sum so far */
	TMN_C_COUNTERS,		/* TMN_A_SLOT -> TMN_A_COUNTERS (sum of all processors), TMN_A_STATE */
	TMN_C_MET,		/* -> TMN_A_MET (sum of all processors) */
	TMN_C_MAX = TMN_C_MET,
};

enum tmn_attribute {
	TMN_A_UNSPEC = 0,
	TMN_A_ABI,		/* __u32 */
	TMN_A_VERSION,		/* string: of the module */
	TMN_A_HOOK,		/* struct tmn_hook */
	TMN_A_FLOW,		/* struct tmn_flow */
	TMN_A_POLICY,		/* struct tmn_policy */
	TMN_A_SLOT,		/* __u32 */
	TMN_A_SETTLED,		/* __u64 */
	TMN_A_COUNTERS,		/* struct tmn_counters */
	TMN_A_STATE,		/* struct tmn_state */
	TMN_A_MET,		/* __u64[TMN_MET_COUNT] */
	TMN_A_MAX = TMN_A_MET,
};

/* ---- maps of the BPF programs, by name ---------------------------------------------------------------------- */

/*
 * tmn_hooks     ARRAY          1 x struct tmn_hook
 * tmn_services  HASH           __u8[8] service key -> __u32: bit w is set if there are policies with wild == w
 *                              (the zero key: TCP)
 * tmn_policies  HASH           struct tmn_flow -> struct tmn_policy, not preallocated, so that a packet sees a whole one
 * tmn_locals    HASH           __u8[16] address of this host -> __u32 1
 * tmn_states    ARRAY, mmapable  slot -> struct tmn_state
 * tmn_counts    PERCPU_ARRAY   slot -> struct tmn_counters
 * tmn_mets      PERCPU_ARRAY   level * TMN_MET_COUNT + met -> __u64 (level: enum tmn_level)
 */

#endif
