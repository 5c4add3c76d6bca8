// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Applies a policy to datagrams with tamanoir_policy.h: one in hexadecimal digits a line of
 * standard input, an answer a line of standard output:
 *
 *   NUMBER            it is no packet that a policy decides about: enum tmn_met
 *   drop RULE         the policy ends it
 *   on MARKED HEX     it goes on: 1 where it was marked, and its octets
 *
 * A line "policy HEX" gives the policy, a struct tmn_policy, for the lines behind it. Built with
 * -fsanitize=address,undefined, a read behind the datagram is an error.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamanoir_policy.h"

#define TYPE_ID 0x544d
#define MOST_OCTETS 65535

static size_t octets_of(const char *hex, uint8_t *to)
{
	size_t count = 0;
	char digits[3] = "";

	for (; count < MOST_OCTETS && hex[0] > ' ' && hex[1] > ' '; hex += 2) {
		memcpy(digits, hex, 2);
		to[count++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return count;
}

static uint32_t sum_of(const uint8_t *octets, size_t count)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += i & 1 ? octets[i] : (uint32_t)octets[i] << 8;
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return sum;
}

/* Returns whether the packet had room for the mark, which its checksum follows. */
static int mark(const struct tmn_policy *policy, const struct tmn_packet *packet, uint8_t *octets)
{
	struct tmn_place place;

	if (policy->mark == TMN_MARK_NONE)
		return 0;
	tmn_mark_place(&place, policy, packet);
	for (uint32_t i = 0; i < place.words; i++) {
		uint16_t before, after, sum;
		uint8_t *word = octets + place.at + 2 * i;

		memcpy(&before, word, sizeof(before));
		after = tmn_mark_word(&place, i, before);
		memcpy(word, &after, sizeof(after));
		if (packet->checksum_at) {
			memcpy(&sum, octets + packet->checksum_at, sizeof(sum));
			sum = tmn_checksum_update(sum, before, after);
			memcpy(octets + packet->checksum_at, &sum, sizeof(sum));
		}
	}
	return place.words != 0;
}

static void say(const struct tmn_policy *policy, uint8_t *octets, size_t count)
{
	size_t head_octets = count < TMN_HEADER_OCTETS ? count : TMN_HEADER_OCTETS;
	uint8_t *head = malloc(head_octets ? head_octets : 1);
	struct tmn_packet packet;
	uint32_t met, rule;

	memcpy(head, octets, head_octets);
	met = tmn_parse(&packet, head, (uint32_t)count, TYPE_ID);
	free(head);
	if (packet.checksum_at && sum_of(octets, packet.octets) != 0xffff)
		met = TMN_MET_CHECKSUM;
	if (met != TMN_OK) {
		printf("%u\n", met);
		return;
	}
	rule = policy->fate == TMN_FATE_DROP ? TMN_MAX_RULES : tmn_rules_end(policy, &packet);
	if (rule != TMN_RULES_PASS) {
		printf("drop %u\n", rule);
		return;
	}
	printf("on %d ", mark(policy, &packet, octets));
	for (size_t i = 0; i < count; i++)
		printf("%02x", octets[i]);
	puts("");
}

int main(void)
{
	static uint8_t octets[MOST_OCTETS];
	struct tmn_policy policy = { .fate = TMN_FATE_ON };
	size_t room = 0;
	char *line = NULL;

	while (getline(&line, &room, stdin) > 0) {
		if (strncmp(line, "policy ", 7)) {
			say(&policy, octets, octets_of(line, octets));
		} else {
			octets_of(line + 7, octets);
			memcpy(&policy, octets, sizeof(policy));
		}
	}
	free(line);
	return 0;
}
