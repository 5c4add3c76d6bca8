/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What the program for plain IP and the node say to each other: datagrams, connections and ICMP messages that carry no
 * ANEP, and that rules of the operator send through services all the same. The one truth for BPF and Java (org.tamanoir.kernel.PlainAbi, which a
 * test compares with this file).
 *
 * There are at most 64 rules, and a bit of 64 for each in all that follows, the first rule's the lowest. Each field of a
 * packet has a table that says which rules its value fits; the rule of a packet is the lowest bit that all tables say.
 * So a packet costs the same whatever the number of rules, and one that no rule wants mostly three look-ups.
 *
 * The rules change while packets come. There is room for two sets of them, in two buffers: the node fills the one that is
 * not in force, and then puts its hook in the place of the other, which is one change. A packet asks for the hook once, and
 * all tables for that hook's buffer.
 */
#ifndef TAMANOIR_PLAIN_H
#define TAMANOIR_PLAIN_H

#include "tamanoir_abi.h"

#define TMN_PLAIN_VERSION 4

#define TMN_PLAIN_RULES 64
#define TMN_PLAIN_BUFFERS 2
#define TMN_PLAIN_COUNTS 128 /* of the rules of both buffers */
#define TMN_PLAIN_INTERFACES 1024
#define TMN_PLAIN_LONGEST 65000 /* octets of payload; with an ANEP header in front it still is a packet */

/* A heartbeat older than this is no node's: everything goes on. */
#define TMN_PLAIN_STALE_NS 1000000000ull

/*
 * The mark of what goes up is TMN_MARK_BASE and the instance, the rule's number and of which generation of rules, whether
 * it had a Router Alert, and whether it is an ICMP message, which comes up as the payload of a UDP datagram between ports 0
 * and its type.
 */
#define TMN_PLAIN_RULE 0x3fu
#define TMN_PLAIN_ALERT 0x40u
#define TMN_PLAIN_ICMP 0x80u
#define TMN_PLAIN_GENERATION 0xff00u
#define TMN_PLAIN_MESSAGE 16384 /* octets of the longest ICMP message that is read */

/* The mark of what the node sends on, which no rule takes again. */
#define TMN_PLAIN_SENT 0x55000000u

/* Router Alert, the option as it stands on the wire: RFC 2113, and RFC 2711 of value 2, for active networks. */
#define TMN_PLAIN_ALERT_V4 0x94040000u
#define TMN_PLAIN_ALERT_V6 0x050200020100ull /* behind next header and length: with padding, and before it */

/* ICMP messages that rules may be for, of IPv4 and IPv6 alike. In tmn_plain_ports they stand where ports do. */
enum tmn_plain_icmp {
	TMN_PLAIN_ECHO_REQUEST = 0,
	TMN_PLAIN_ECHO_REPLY,
	TMN_PLAIN_UNREACHABLE,
	TMN_PLAIN_TOO_BIG,	/* of IPv4 code 4 of "unreachable" */
	TMN_PLAIN_TIME_EXCEEDED,
	TMN_PLAIN_PARAMETER,
	TMN_PLAIN_ICMP_COUNT,
};

/* One for each buffer; never changed while it is in force. */
struct tmn_plain_hook {
	__u32 version;		/* TMN_PLAIN_VERSION */
	__u32 mark;		/* TMN_MARK_BASE, the instance and the generation */
	__be16 port4;		/* of the node's socket at 127.0.0.1; 0: IPv4 is not looked at */
	__be16 port6;		/* likewise at ::1 */
	__u16 buffer;		/* this one's, 0 or 1 */
	__u16 held;		/* 1: rules for TCP have left, and may have connections: see tmn_plain_held */
	__u64 alert_gap_ns;	/* between datagrams with Router Alert, in the long run */
	__u64 alert_burst_ns;	/* that so many gaps may come at once */
	__u64 udp;		/* rules for UDP */
	__u64 tcp;		/* rules for TCP */
	__u64 icmp;		/* rules for ICMP and ICMPv6 */
	__u64 no_alert;		/* rules for packets without Router Alert, and with */
	__u64 alert;
	__u64 any_source;	/* rules that do not ask for a source */
	__u64 any_destination;
	__u64 any_mark;
	__u64 dscp[64];
	__be16 tcp4[64];	/* by rule: of the node's listening socket at 127.0.0.1; 0: there is none */
	__be16 tcp6[64];	/* likewise at ::1 */
	__u8 count[64];		/* by rule: where in tmn_plain_counts; a rule that stays keeps its place */
};

/* Written while packets come: mapped into the node. */
struct tmn_plain_beat {
	__u64 node_ns;		/* CLOCK_MONOTONIC when the node was last seen alive */
	__u64 alert_ns;		/* the program's: when the next Router Alert is due */
};

/* Of a mark. */
struct tmn_plain_asked {
	__u32 mark;
	__u32 buffer;
};

/* Of source and destination: IPv6, or IPv4 as ::ffff:a.b.c.d, with 96 bits more. */
struct tmn_plain_prefix {
	__u32 bits;		/* those of the buffer, too */
	__u32 buffer;
	__u8 address[16];	/* as on the wire */
};

/* One for each processor and place. */
struct tmn_plain_count {
	__u64 fits;		/* datagrams, or connections that begin, that the rule is for, whatever became of them */
	__u64 up;
};

/* What became of datagrams and segments; one for each processor. All but "up" went on, untouched. */
enum tmn_plain_met {
	TMN_PLAIN_UP = 0,
	TMN_PLAIN_NO_RULE,	/* no rule is for it */
	TMN_PLAIN_FRAGMENT,	/* of IP */
	TMN_PLAIN_OPTIONS,	/* an IPv4 option, or IPv6 extension header, that is no Router Alert alone */
	TMN_PLAIN_LENGTH,	/* lengths of IP and UDP contradict, or it is too long, or too short for ICMP */
	TMN_PLAIN_HOPS,		/* no hop is left: the kernel answers */
	TMN_PLAIN_LOCAL,	/* to this host, or what no router sends on */
	TMN_PLAIN_STALE,	/* the node's heartbeat is too old */
	TMN_PLAIN_ABSENT,	/* the node has no socket */
	TMN_PLAIN_LIMITED,	/* more Router Alerts than are let up */
	TMN_PLAIN_SENT_ON,	/* the node sent it, or a level has sent it up */
	TMN_PLAIN_BEGUN,	/* of a connection that did not come up when it began */
	TMN_PLAIN_ONE_WAY,	/* a connection's answers would come in by an interface without the program */
	TMN_PLAIN_CHECKSUM,	/* an ICMP message whose checksum is wrong */
	TMN_PLAIN_WAY,		/* a datagram or message that is longer than its way on takes */
	TMN_PLAIN_MET_COUNT,
};

/*
 * Maps, by name:
 *
 * tmn_plain_hooks         ARRAY_OF_MAPS  1 x tmn_plain_hook0 or tmn_plain_hook1, whichever is in force
 * tmn_plain_hook0, 1      ARRAY         1 x struct tmn_plain_hook
 * tmn_plain_beats         ARRAY, mmapable  1 x struct tmn_plain_beat
 * tmn_plain_ports         ARRAY, mmapable  destination port, or enum tmn_plain_icmp -> __u64 rules of each buffer
 * tmn_plain_held          ARRAY, mmapable  port / 64 -> __u64 with a bit for each port that a rule that left was for
 * tmn_plain_sources       LPM_TRIE      struct tmn_plain_prefix -> __u64 rules whose prefixes cover it
 * tmn_plain_destinations  LPM_TRIE      the same
 * tmn_plain_marks         HASH          struct tmn_plain_asked, of skb->mark -> __u64 rules that ask for it
 * tmn_plain_locals        HASH          __u8[16] address of this host -> __u32 1
 * tmn_plain_interfaces    HASH          __u32 number of an interface with the program -> __u32 1
 * tmn_plain_counts        PERCPU_ARRAY  place -> struct tmn_plain_count
 * tmn_plain_mets          PERCPU_ARRAY  met -> __u64
 * tmn_plain_chunks        PERCPU_ARRAY  1 x room for a piece of a message, the program's
 */

#endif
