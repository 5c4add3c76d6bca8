// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Tests tamanoir_policy.h:
 *
 *   policy [SEED [CASES]]          test vectors of ANEP, policies, then random packets
 *
 * Each packet lies at the very end of its memory: built with -fsanitize=address,undefined, a read
 * behind it is an error. Ends with 0 and one line, or says what failed and with which seed.
 *
 * With -DTMN_FUZZ and clang's -fsanitize=fuzzer it is a target of libFuzzer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamanoir_policy.h"

#define TYPE_ID 0x544d
#define MOST_OCTETS 600

static uint64_t seed = 19970701;
static long round_number = -1;

static void fail(const char *what, const char *of)
{
	fprintf(stderr, "policy: %s: %s (seed %llu, round %ld)\n", of, what,
		(unsigned long long)seed, round_number);
	exit(1);
}

#define CHECK(of, condition) ((condition) ? (void)0 : fail(#condition, of))

static uint32_t sum_of(const uint8_t *octets, size_t count)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += i & 1 ? octets[i] : (uint32_t)octets[i] << 8;
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return sum;
}

/* As a level reads a datagram, and with the sum verified. */
static uint32_t read_packet(struct tmn_packet *packet, const uint8_t *octets, size_t count,
			    uint32_t type_id)
{
	size_t head_octets = count < TMN_HEADER_OCTETS ? count : TMN_HEADER_OCTETS;
	uint8_t *head = malloc(head_octets ? head_octets : 1);
	uint32_t met;

	memcpy(head, octets, head_octets);
	met = tmn_parse(packet, head, (uint32_t)count, type_id);
	free(head);
	if (packet->checksum_at && sum_of(octets, packet->octets) != 0xffff)
		return TMN_MET_CHECKSUM;
	return met;
}

static size_t octets_of(const char *hex, uint8_t *to)
{
	size_t count = 0;

	for (; *hex; hex += *hex ? 2 : 0) {
		while (*hex == ' ')
			hex++;
		if (sscanf(hex, "%2hhx", &to[count]) != 1)
			break;
		count++;
	}
	return count;
}

/* ---- test vectors ------------------------------------------------------------------------ */

#define V3 "0100 4a4e 0008 0025 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207 6865 " \
	   "6c6c 6f"
#define V4_HEAD "0100 4a4e 000a 002d 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207 " \
		"0003 0002 598f 0000 6865 6c6c "

static const struct vector {
	const char *id, *hex;
	uint32_t foreign;	/* what is met where the Type ID is another's */
	uint32_t own;		/* and where it is the packet's */
} vectors[] = {
	{ "V1", "0100 0012 0002 0008", TMN_MET_TYPE_ID, TMN_MET_NO_KEY },
	{ "V2", "0180 4a4e 0002 000c 5049 4e47", TMN_MET_TYPE_ID, TMN_MET_NO_KEY },
	{ "V3", V3, TMN_MET_TYPE_ID, TMN_MET_NO_KEY },
	{ "V4", V4_HEAD "6f", TMN_MET_TYPE_ID, TMN_MET_NO_KEY },
	{ "V5",
	  "0100 000f 0010 0044 0001 0006 0000 0002 2001 0db8 0000 0000 0000 0000 0000 0001 0002 "
	  "0006 0000 0002 2001 0db8 0000 0000 0000 0000 0000 0002 0003 0002 a10b 0000 0001 0203",
	  TMN_MET_TYPE_ID, TMN_MET_NO_KEY },
	{ "V6", "0100 4a4e 0006 0018 0001 0004 0000 0003 0200 c0ff ee01 0000", TMN_MET_TYPE_ID,
	  TMN_MET_NO_KEY },
	{ "V7",
	  "0100 4a4e 0007 001d 9234 0002 dead beef 0002 0003 0000 0001 0a00 0207 78",
	  TMN_MET_TYPE_ID, TMN_MET_NO_KEY },
	{ "V8", "0100 4a4e 0003 0010 4777 0001 6461 7461", TMN_MET_OPTION, TMN_MET_OPTION },
	{ "V9", "0100 4a4e 0006 0018 0004 0004 0000 0001 2863 6572 7429 2e2e", TMN_MET_TYPE_ID,
	  TMN_MET_NO_KEY },
	{ "M1", "0200 4a4e 0002 0008", TMN_MET_VERSION, TMN_MET_VERSION },
	{ "M2", "0100 4a4e 0002 00", TMN_MET_SHORT, TMN_MET_SHORT },
	{ "M3", "0100 4a4e 0001 0008", TMN_MET_HEADER_LENGTH, TMN_MET_HEADER_LENGTH },
	{ "M4", "0100 4a4e 0002 0007 6162 6364", TMN_MET_HEADER_LENGTH, TMN_MET_HEADER_LENGTH },
	{ "M5", "0100 4a4e 0002 0040 6162 6364", TMN_MET_TRUNCATED, TMN_MET_TRUNCATED },
	{ "M6", "0100 4a4e 0003 000c 0001 0000", TMN_MET_OPTION_LENGTH, TMN_MET_OPTION_LENGTH },
	{ "M7", "0100 4a4e 0005 0014 0001 0004 0000 0001 0a00 0102", TMN_MET_OPTION_LENGTH,
	  TMN_MET_OPTION_LENGTH },
	{ "M8", V4_HEAD "6e", TMN_MET_CHECKSUM, TMN_MET_CHECKSUM },
	{ "M9", "0100 4a4e 0004 0010 0001 0002 0000 0001", TMN_MET_OPTION_FORMAT,
	  TMN_MET_OPTION_FORMAT },
	{ "M10", "0100 4a4e 0002 000a 6162 6364", TMN_MET_TYPE_ID, TMN_MET_NO_KEY },
	{ "S1", "0100 4a4e 0002 000a 4142 0100 0012 0002 0008", TMN_MET_TYPE_ID, TMN_MET_NO_KEY },
	{ "nothing", "", TMN_MET_SHORT, TMN_MET_SHORT },
};

static void test_vectors(void)
{
	static const uint8_t source[16] = { [10] = 0xff, 0xff, 10, 0, 1, 2 };
	struct tmn_packet packet;
	uint8_t octets[MOST_OCTETS];

	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		const struct vector *v = &vectors[i];
		size_t count = octets_of(v->hex, octets);
		uint32_t type_id = count >= 4 ? (uint32_t)octets[2] << 8 | octets[3] : 1;

		CHECK(v->id, read_packet(&packet, octets, count, TYPE_ID) == v->foreign);
		CHECK(v->id, read_packet(&packet, octets, count, type_id) == v->own);
		if (!strcmp(v->id, "M10") || !strcmp(v->id, "S1"))
			CHECK(v->id, packet.trailer && packet.octets == 10);
		if (!strcmp(v->id, "V4"))
			CHECK(v->id, packet.checksum_at == 36 && packet.octets == 45 &&
				     packet.header_octets == 40 && packet.has_source &&
				     packet.has_destination && !packet.trailer &&
				     !memcmp(packet.source, source, sizeof(source)));
		if (!strcmp(v->id, "V6"))
			CHECK(v->id, !packet.has_source);
	}
}

/* ---- a packet with all that policies look at --------------------------------------------- */

#define SERVICE_HEX "8001 0003 1122 3344 5566 7788 "
#define CLASS_HEX "8002 0002 0703 0000 "
#define STREAM_HEX "8004 0004 0000 002a 0000 0000 0000 0001 "
#define ENDS_HEX "0001 0003 0000 0001 0a00 0102 0002 0006 0000 0002 2001 0db8 0000 0000 " \
		 "0000 0000 0000 0007 "
#define WHOLE "0100 544d 0016 005d " SERVICE_HEX CLASS_HEX STREAM_HEX ENDS_HEX \
	      "0003 0002 0000 0000 6865 6c6c 6f"
#define CHECKSUM_AT 84

static size_t whole(uint8_t *octets, struct tmn_packet *packet)
{
	size_t count = octets_of(WHOLE, octets);
	uint32_t sum = (uint16_t)~sum_of(octets, count);

	octets[CHECKSUM_AT] = (uint8_t)(sum >> 8);
	octets[CHECKSUM_AT + 1] = (uint8_t)sum;
	CHECK("whole", read_packet(packet, octets, count, TYPE_ID) == TMN_OK);
	return count;
}

static void test_fields(void)
{
	static const uint8_t key[8] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 };
	static const uint8_t ends[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 7 };
	struct tmn_flow flow, wide;
	struct tmn_packet packet;
	uint8_t octets[MOST_OCTETS];
	size_t count = whole(octets, &packet);

	CHECK("fields", packet.octets == count && packet.checksum_at == CHECKSUM_AT);
	CHECK("fields", packet.class_at == 24 && packet.class == 7);
	CHECK("fields", packet.stream_at == 32 && packet.stream == 42);
	CHECK("fields", !memcmp(packet.service, key, sizeof(key)));
	CHECK("fields", packet.has_destination && !memcmp(packet.destination, ends, sizeof(ends)));
	CHECK("trailer", read_packet(&packet, octets, count + 1, TYPE_ID) == TMN_MET_TRAILER);

	tmn_flow_of(&flow, &packet, packet.source, packet.destination, 17);
	CHECK("flow", !memcmp(flow.service, key, sizeof(key)) && flow.protocol == 17);
	CHECK("flow", tmn_swap_word(flow.stream) == 42 && !flow.wild);
	tmn_flow_widen(&wide, &flow, TMN_WILD_SOURCE | TMN_WILD_STREAM);
	CHECK("flow", !wide.stream && wide.wild == 5 && !wide.source[15]);
	CHECK("flow", !memcmp(wide.destination, ends, sizeof(ends)));
	CHECK("wilds", tmn_wilds(0xff, 0) == 0xf0 && tmn_wilds(0x1ff, 1) == 0xff);
	CHECK("datagram", tmn_datagram_octets(7, 100) < 0 && tmn_datagram_octets(101, 100) < 0);
	CHECK("datagram", tmn_datagram_octets(8, 100) == 0 && tmn_datagram_octets(100, 100) == 92);
}

/* More options than a level reads, and a header longer than it reads. */
static void test_bounds(void)
{
	uint8_t octets[MOST_OCTETS] = { 1, 0, 0x54, 0x4d, 0, 0, 0, 0 };
	struct tmn_packet packet;

	for (int options = TMN_MAX_OPTIONS - 1; options <= TMN_MAX_OPTIONS + 1; options++) {
		for (int i = 0; i < options; i++)
			memcpy(octets + 8 + 4 * i, "\x07\x77\x00\x01", 4);
		octets[5] = (uint8_t)(2 + options);
		octets[7] = (uint8_t)(8 + 4 * options);
		CHECK("options", read_packet(&packet, octets, octets[7], TYPE_ID) ==
				 (options > TMN_MAX_OPTIONS ? TMN_MET_COMPLEX : TMN_MET_NO_KEY));
	}
	memcpy(octets + 8, "\x00\x04\x00\x3f", 4);
	octets[5] = 65;
	octets[6] = 1;
	octets[7] = 4;
	CHECK("header", read_packet(&packet, octets, 260, TYPE_ID) == TMN_MET_COMPLEX);
	CHECK("header", read_packet(&packet, octets, 260, 1) == TMN_MET_TYPE_ID);
	memcpy(octets + 8, "\x00\x04\x00\x3e", 4);
	octets[5] = 64;
	octets[7] = 0;
	CHECK("header", read_packet(&packet, octets, 256, TYPE_ID) == TMN_MET_NO_KEY);
}

/* ---- policies ---------------------------------------------------------------------------- */

static void test_shares(void)
{
	struct tmn_policy policy = { .share = TMN_SHARE_EVERY, .number = 3 };

	CHECK("every", tmn_share_counts(&policy) && !tmn_is_gated(&policy, 17));
	CHECK("every", !tmn_share_up(&policy, 1) && !tmn_share_up(&policy, 2));
	CHECK("every", tmn_share_up(&policy, 3) && tmn_share_up(&policy, 3000000000003ull));
	policy.share = TMN_SHARE_FIRST;
	CHECK("first", tmn_share_up(&policy, 3) && !tmn_share_up(&policy, 4));
	CHECK("first", tmn_is_gated(&policy, 17) && !tmn_is_gated(&policy, 6));
	CHECK("first", tmn_gate_up(&policy, 3, 2) && !tmn_gate_up(&policy, 3, 3));
	policy.share = TMN_SHARE_NONE;
	CHECK("none", !tmn_share_counts(&policy) && !tmn_share_up(&policy, 0));
	CHECK("none", !tmn_is_gated(&policy, 17));
	policy.ordered = 1;
	CHECK("ordered", tmn_is_gated(&policy, 17) && tmn_gate_up(&policy, 0, 0));
	CHECK("ordered", tmn_gate_up(&policy, 2, 1) && !tmn_gate_up(&policy, 2, 2));
	CHECK("held", tmn_is_held(-1ull) && tmn_is_held(9 - (1ull << 62)));
	CHECK("held", !tmn_is_held(0) && !tmn_is_held(1ull << 62));
	policy.share = TMN_SHARE_ALL;
	CHECK("all", tmn_share_up(&policy, 0));
}

static uint32_t end_of(struct tmn_packet *packet, struct tmn_rule rule, uint8_t default_drops)
{
	struct tmn_policy policy = { .rule_count = 2, .default_drops = default_drops };

	policy.rules[0] = (struct tmn_rule) { .subject = TMN_RULE_SIZE, .comparison = TMN_ABOVE,
					      .number = 1000, .drops = 1 };
	policy.rules[1] = rule;
	return tmn_rules_end(&policy, packet);
}

static void test_rules(void)
{
	struct tmn_packet packet, empty = { .octets = 8 };
	uint8_t octets[MOST_OCTETS];
	struct tmn_rule rule = { .subject = TMN_RULE_ALL, .drops = 1 };

	whole(octets, &packet);
	CHECK("all", end_of(&packet, rule, 0) == 1);
	rule.drops = 0;
	CHECK("passes", end_of(&packet, rule, 1) == TMN_RULES_PASS);
	rule = (struct tmn_rule) { .subject = TMN_RULE_CLASS, .number = 7, .drops = 1 };
	CHECK("class", end_of(&packet, rule, 0) == 1);
	CHECK("class", end_of(&empty, rule, 0) == TMN_RULES_PASS);
	CHECK("class", end_of(&empty, rule, 1) == TMN_MAX_RULES);
	rule = (struct tmn_rule) { .subject = TMN_RULE_STREAM, .comparison = TMN_BELOW,
				   .number = 43, .drops = 1 };
	CHECK("stream", end_of(&packet, rule, 0) == 1 && end_of(&empty, rule, 0) == TMN_RULES_PASS);
	rule.number = 42;
	CHECK("stream", end_of(&packet, rule, 0) == TMN_RULES_PASS);
	rule = (struct tmn_rule) { .subject = TMN_RULE_SOURCE, .prefix = 120, .drops = 1,
				   .address = { [10] = 0xff, 0xff, 10, 0, 1, 99 } };
	CHECK("source", end_of(&packet, rule, 0) == 1 && end_of(&empty, rule, 0) == TMN_RULES_PASS);
	rule.prefix = 126;
	CHECK("source", end_of(&packet, rule, 0) == TMN_RULES_PASS);
	rule = (struct tmn_rule) { .subject = TMN_RULE_DESTINATION, .prefix = 128, .drops = 1,
				   .address = { 0x20, 0x01, 0x0d, 0xb8, [15] = 7 } };
	CHECK("destination", end_of(&packet, rule, 0) == 1);
	rule.address[15] = 6;
	CHECK("destination", end_of(&packet, rule, 0) == TMN_RULES_PASS);
	rule.prefix = 127;
	CHECK("destination", end_of(&packet, rule, 0) == 1);
	rule.prefix = 0;
	rule.address[0] = 0x30;
	CHECK("destination", end_of(&packet, rule, 0) == 1);
}

/* Marks as a level does, and keeps the checksum; then the packet's sum must hold as before. */
static uint32_t mark(const struct tmn_policy *policy, const struct tmn_packet *packet,
		     uint8_t *octets)
{
	struct tmn_place place;
	uint16_t before, after, sum;

	tmn_mark_place(&place, policy, packet);
	CHECK("place", place.words <= 2 && place.at % 2 == 0);
	CHECK("place", !place.words || place.at >= TMN_BASIC_OCTETS);
	CHECK("place", !place.words || place.at + 2 * place.words <= packet->header_octets);
	for (uint32_t i = 0; i < place.words; i++) {
		memcpy(&before, octets + place.at + 2 * i, sizeof(before));
		after = tmn_mark_word(&place, i, before);
		memcpy(octets + place.at + 2 * i, &after, sizeof(after));
		if (packet->checksum_at) {
			memcpy(&sum, octets + packet->checksum_at, sizeof(sum));
			sum = tmn_checksum_update(sum, before, after);
			memcpy(octets + packet->checksum_at, &sum, sizeof(sum));
		}
	}
	return place.words;
}

static void test_marks(void)
{
	struct tmn_policy policy = { .mark = TMN_MARK_CLASS, .mark_value = 0x99 };
	uint8_t octets[MOST_OCTETS], before[MOST_OCTETS];
	struct tmn_packet packet, empty = { .octets = 8, .header_octets = 8 };
	size_t count = whole(octets, &packet);

	memcpy(before, octets, count);
	CHECK("class", mark(&policy, &packet, octets) == 1 && octets[24] == 0x99);
	CHECK("class", octets[25] == before[25] && sum_of(octets, count) == 0xffff);
	CHECK("class", mark(&policy, &empty, octets) == 0);

	policy = (struct tmn_policy) { .mark = TMN_MARK_OCTETS, .mark_value = 0xa1b2c3d4,
				       .mark_octets = 4, .mark_offset = 12 };
	CHECK("octets", mark(&policy, &packet, octets) == 2 && sum_of(octets, count) == 0xffff);
	CHECK("octets", !memcmp(octets + 12, "\xa1\xb2\xc3\xd4", 4) && octets[16] == before[16]);
	policy.mark_octets = 1;
	policy.mark_offset = 17;
	CHECK("octet", mark(&policy, &packet, octets) == 1 && octets[17] == 0xd4);
	CHECK("octet", octets[16] == before[16] && sum_of(octets, count) == 0xffff);
	policy.mark_octets = 2;
	policy.mark_offset = CHECKSUM_AT;
	CHECK("checksum is no room", mark(&policy, &packet, octets) == 0);
	policy.mark_offset = CHECKSUM_AT + 2;
	CHECK("behind checksum", mark(&policy, &packet, octets) == 1);
	policy.mark_offset = CHECKSUM_AT + 4;
	CHECK("behind header", mark(&policy, &packet, octets) == 0);
	CHECK("sum", sum_of(octets, count) == 0xffff);
	policy.mark = TMN_MARK_NONE;
	CHECK("none", mark(&policy, &packet, octets) == 0);
}

/* ---- random packets ---------------------------------------------------------------------- */

static uint64_t state;

/* splitmix64 */
static uint32_t below(uint32_t bound)
{
	uint64_t bits = state += 0x9e3779b97f4a7c15ull;

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)((bits ^ bits >> 31) >> 32) % bound;
}

/* What must hold of any datagram. */
static void examine(const uint8_t *octets, size_t count, const struct tmn_policy *policy)
{
	uint8_t copy[MOST_OCTETS];
	struct tmn_packet packet = {}, again = {}; /* what there is none of is left alone */
	uint32_t met = read_packet(&packet, octets, count, TYPE_ID);

	CHECK("random", met < TMN_MET_COUNT);
	CHECK("random", read_packet(&again, octets, count, TYPE_ID) == met);
	CHECK("random", !memcmp(&packet, &again, sizeof(packet)));
	if (met != TMN_OK && met != TMN_MET_TRAILER)
		return;
	CHECK("random", packet.octets <= count && packet.header_octets <= packet.octets);
	CHECK("random", packet.header_octets <= TMN_HEADER_OCTETS);
	CHECK("random", packet.class_at + 1 <= packet.header_octets);
	CHECK("random", packet.stream_at + 4 <= packet.header_octets);
	CHECK("random", packet.checksum_at + 4 <= packet.header_octets);
	CHECK("random", packet.service[0] | packet.service[1]);
	CHECK("random", (packet.octets < count) == packet.trailer);
	CHECK("random", tmn_rules_end(policy, &packet) <= TMN_RULES_PASS);
	memcpy(copy, octets, count);
	mark(policy, &packet, copy);
	CHECK("random", !packet.checksum_at || sum_of(copy, packet.octets) == 0xffff);
	CHECK("random", !memcmp(copy + packet.header_octets, octets + packet.header_octets,
				count - packet.header_octets));
}

static size_t damage(uint8_t *octets, size_t count)
{
	for (uint32_t changes = below(4); changes && count; changes--) {
		size_t at = below(below(2) && count > 16 ? 16 : (uint32_t)count);

		switch (below(4)) {
		case 0:
			octets[at] ^= (uint8_t)(1 << below(8));
			break;
		case 1:
			octets[at] = (uint8_t)below(8);
			break;
		default:
			octets[at] = (uint8_t)below(256);
		}
	}
	if (!below(4)) {
		size_t cut = below((uint32_t)count + 8);

		if (cut > count)
			memset(octets + count, 0x55, cut - count);
		count = cut;
	}
	if (count >= 8 && !below(3)) {
		octets[6] = (uint8_t)(count >> 8);
		octets[7] = (uint8_t)count;
	}
	return count;
}

/* Options of all kinds, known and not, of right lengths mostly. */
static size_t random_packet(uint8_t *octets)
{
	static const uint8_t words[TMN_SLOTS] = { 1, 3, 6, 2, 4, 3, 2, 4, 4, 4, 4, 2, 5, 11, 2, 1 };
	size_t at = TMN_BASIC_OCTETS, payload = below(20);
	int checksum_at = 0;

	for (uint32_t options = below(10); options; options--) {
		uint32_t slot = below(TMN_SLOTS), length = below(8) ? words[slot] : below(14);
		uint32_t type = slot <= TMN_PUBLIC_OPTIONS ? slot :
				TMN_OPTION_PRIVATE | (slot - TMN_PUBLIC_OPTIONS);

		if (!below(8))
			type |= TMN_OPTION_DISCARD;
		if (slot == TMN_SLOT_CHECKSUM && length == 2)
			checksum_at = (int)at + 4;
		octets[at] = (uint8_t)(type >> 8);
		octets[at + 1] = (uint8_t)type;
		octets[at + 2] = 0;
		octets[at + 3] = (uint8_t)length;
		for (uint32_t i = 4; i < 4 * length; i++)
			octets[at + i] = below(3) ? 0 : (uint8_t)below(4);
		at += 4 * (length ? length : 1);
	}
	memcpy(octets, "\x01\x00\x54\x4d", 4);
	octets[4] = (uint8_t)(at / 4 >> 8);
	octets[5] = (uint8_t)(at / 4);
	for (size_t i = 0; i < payload; i++)
		octets[at + i] = (uint8_t)below(256);
	octets[6] = (uint8_t)((at + payload) >> 8);
	octets[7] = (uint8_t)(at + payload);
	if (checksum_at) {
		uint32_t sum;

		memset(octets + checksum_at, 0, 2);
		sum = (uint16_t)~sum_of(octets, at + payload);
		octets[checksum_at] = (uint8_t)(sum >> 8);
		octets[checksum_at + 1] = (uint8_t)sum;
	}
	return at + payload;
}

static void random_policy(struct tmn_policy *policy)
{
	uint8_t *octets = (uint8_t *)policy;

	for (size_t i = 0; i < sizeof(*policy); i++)
		octets[i] = (uint8_t)(below(2) ? below(6) : below(256));
	policy->mark = (uint8_t)below(3);
	policy->mark_octets = (uint8_t)(1 << below(3));
	policy->mark_offset = (uint16_t)(8 + below(62) / policy->mark_octets * policy->mark_octets);
	policy->rule_count = (uint8_t)below(TMN_MAX_RULES + 1);
}

static void test_random(long rounds)
{
	uint8_t octets[MOST_OCTETS];
	struct tmn_policy policy;

	state = seed;
	for (round_number = 0; round_number < rounds; round_number++) {
		size_t count = damage(octets, random_packet(octets));

		random_policy(&policy);
		examine(octets, count, &policy);
	}
	round_number = -1;
}

static void test_all(long rounds)
{
	test_vectors();
	test_fields();
	test_bounds();
	test_shares();
	test_rules();
	test_marks();
	test_random(rounds);
}

#ifndef TMN_FUZZ

int main(int words, char **word)
{
	long rounds = words > 2 ? atol(word[2]) : 300000;

	if (words > 1)
		seed = strtoull(word[1], NULL, 0);
	test_all(rounds);
	printf("policy: good, seed %llu, %ld random packets\n", (unsigned long long)seed, rounds);
	return 0;
}

#else

int LLVMFuzzerInitialize(int *words, char ***word);
int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t count);

int LLVMFuzzerInitialize(int *words, char ***word)
{
	(void)words;
	(void)word;
	test_all(1000);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t count)
{
	struct tmn_policy policy;

	state = count;
	random_policy(&policy);
	if (count <= MOST_OCTETS)
		examine(octets, count, &policy);
	return 0;
}

#endif
