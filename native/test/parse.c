// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Says what tamanoir_policy.h reads in datagrams: one in hexadecimal digits a line of standard
 * input, an answer a line of standard output:
 *
 *   MET                                    where it is no packet of a service
 *   MET octets=N header=N key=HEX class=N stream=N source=HEX destination=HEX checksum=N
 *
 * with MET as in enum tmn_met, OK for none; -1 and - where the packet has no such option. Built
 * with -fsanitize=address,undefined, a read behind the datagram is an error.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamanoir_policy.h"

#define TYPE_ID 0x544d
#define MOST_OCTETS 65535

static const char *const names[TMN_MET_COUNT] = {
	[TMN_OK] = "OK",
	[TMN_MET_SHORT] = "SHORT",
	[TMN_MET_VERSION] = "VERSION",
	[TMN_MET_HEADER_LENGTH] = "HEADER_LENGTH",
	[TMN_MET_TRUNCATED] = "TRUNCATED",
	[TMN_MET_OPTION_LENGTH] = "OPTION_LENGTH",
	[TMN_MET_CHECKSUM] = "CHECKSUM",
	[TMN_MET_OPTION] = "OPTION",
	[TMN_MET_OPTION_FORMAT] = "OPTION_FORMAT",
	[TMN_MET_TYPE_ID] = "TYPE_ID",
	[TMN_MET_NO_KEY] = "NO_KEY",
	[TMN_MET_TRAILER] = "TRAILER",
	[TMN_MET_COMPLEX] = "COMPLEX",
};

static int sum_holds(const uint8_t *octets, size_t count)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += i & 1 ? octets[i] : (uint32_t)octets[i] << 8;
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return sum == 0xffff;
}

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

static void put_hex(const char *name, int is_there, const void *octets, size_t count)
{
	printf(" %s=%s", name, is_there ? "" : "-");
	for (size_t i = 0; is_there && i < count; i++)
		printf("%02x", ((const uint8_t *)octets)[i]);
}

static void say(const uint8_t *octets, size_t count)
{
	size_t head_octets = count < TMN_HEADER_OCTETS ? count : TMN_HEADER_OCTETS;
	uint8_t *head = malloc(head_octets ? head_octets : 1);
	struct tmn_packet packet;
	uint32_t met;

	memcpy(head, octets, head_octets);
	met = tmn_parse(&packet, head, (uint32_t)count, TYPE_ID);
	free(head);
	if (packet.checksum_at && !sum_holds(octets, packet.octets))
		met = TMN_MET_CHECKSUM;
	printf("%s", names[met]);
	if (met == TMN_OK || met == TMN_MET_TRAILER) {
		printf(" octets=%u header=%u", packet.octets, packet.header_octets);
		put_hex("key", 1, packet.service, sizeof(packet.service));
		printf(" class=%d", packet.class_at ? (int)packet.class : -1);
		printf(" stream=%lld", packet.stream_at ? (long long)packet.stream : -1);
		put_hex("source", (int)packet.has_source, packet.source, sizeof(packet.source));
		put_hex("destination", (int)packet.has_destination, packet.destination,
			sizeof(packet.destination));
		printf(" checksum=%d", packet.checksum_at ? (int)packet.checksum_at : -1);
	}
	puts("");
}

int main(void)
{
	static uint8_t octets[MOST_OCTETS];
	size_t room = 0;
	char *line = NULL;

	while (getline(&line, &room, stdin) > 0)
		say(octets, octets_of(line, octets));
	free(line);
	return 0;
}
