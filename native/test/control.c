// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Speaks to the module as tests tell it: a command a line on standard input, an answer a line on standard output,
 * "ok NAME=VALUE..." or "error ERRNO-NAME TEXT". What it has installed goes when it ends.
 *
 *   hello                          abi=, version=
 *   abi N                          says that it is of ABI N from now on
 *   attach PORT[,PORT...] [NAME=VALUE...]   unknown_up=, mark=, type=, tcp=PORT
 *   detach
 *   set NAME=VALUE...              a flow: key= (16 hex digits), src=, dst=, stream=, proto=tcp; what is not given is
 *                                  wild. A policy: slot=, share=none|all|every|first, number=,
 *                                  fate=on|drop|to, mark=none|class|octets, value=, offset=, width=, ordered=, to=,
 *                                  port=, level=module|tc|xdp, larger=OCTETS (a rule that drops larger packets)
 *   remove NAME=VALUE...
 *   settled SLOT SUM
 *   counters SLOT                  of the policy and its state
 *   met
 *   many COUNT NAME=VALUE...       set for the streams 1 to COUNT, slots the same
 *   storm COUNT NAME=VALUE...      set COUNT times, with values 1 and 2 in turns: ns=
 *   fuzz SEED COUNT                random messages: accepted=, refused=
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <time.h>

#include "netlink.h"

static int fd, family;
static uint32_t abi = TMN_ABI_VERSION;
static struct message message;
static struct answer answer;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void say_error(int error, const char *why)
{
	printf("error %s %s\n", strerrorname_np(-error), why);
}

/* Says what went wrong, or nothing and true. */
static bool done(int error)
{
	if (error)
		say_error(error, answer.why);
	return !error;
}

static void command(uint8_t which)
{
	begin(&message, (uint16_t)family, which);
	put_u32(&message, TMN_A_ABI, abi);
}

static bool address(const char *text, uint8_t *to)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (inet_pton(AF_INET6, text, to) == 1)
		return true;
	memcpy(to, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, to + 12) == 1;
}

/* One of the names, separated by spaces, as its number from 0; -1 for none. */
static int one_of(const char *names, const char *name)
{
	char copy[128], *save = NULL, *word;
	int i = 0;

	snprintf(copy, sizeof(copy), "%s", names);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save), i++) {
		if (!strcmp(word, name))
			return i;
	}
	return -1;
}

/* Splits at the first '='; the value, or NULL. */
static char *value_in(char *word)
{
	char *equals = strchr(word, '=');

	if (equals)
		*equals++ = 0;
	return equals;
}

static bool flow_field(struct tmn_flow *f, const char *name, const char *value)
{
	if (!strcmp(name, "key")) {
		for (int i = 0; i < 8; i++)
			sscanf(value + 2 * i, "%2hhx", &f->service[i]);
		return true;
	}
	if (!strcmp(name, "src")) {
		f->wild &= (uint8_t)~TMN_WILD_SOURCE;
		return address(value, f->source);
	}
	if (!strcmp(name, "dst")) {
		f->wild &= (uint8_t)~TMN_WILD_DESTINATION;
		return address(value, f->destination);
	}
	if (!strcmp(name, "stream")) {
		f->wild &= (uint8_t)~TMN_WILD_STREAM;
		f->stream = htonl((uint32_t)strtoul(value, NULL, 0));
		return true;
	}
	if (!strcmp(name, "proto")) {
		f->protocol = strcmp(value, "tcp") ? IPPROTO_UDP : IPPROTO_TCP;
		return true;
	}
	return false;
}

static bool policy_field(struct tmn_policy *p, const char *name, const char *value)
{
	unsigned long number = strtoul(value, NULL, 0);

	if (!strcmp(name, "slot"))
		p->slot = (uint32_t)number;
	else if (!strcmp(name, "level"))
		p->level = (uint8_t)(one_of("module tc xdp", value) + 1);
	else if (!strcmp(name, "share"))
		p->share = (uint8_t)one_of("none all every first", value);
	else if (!strcmp(name, "number"))
		p->number = (uint32_t)number;
	else if (!strcmp(name, "fate"))
		p->fate = (uint8_t)one_of("on drop to redirect", value);
	else if (!strcmp(name, "mark"))
		p->mark = (uint8_t)one_of("none class octets", value);
	else if (!strcmp(name, "value"))
		p->mark_value = (uint32_t)number;
	else if (!strcmp(name, "offset"))
		p->mark_offset = (uint16_t)number;
	else if (!strcmp(name, "width"))
		p->mark_octets = (uint8_t)number;
	else if (!strcmp(name, "ordered"))
		p->ordered = (uint8_t)number;
	else if (!strcmp(name, "port"))
		p->to_port = htons((uint16_t)number);
	else if (!strcmp(name, "to"))
		return address(value, p->to_address);
	else if (!strcmp(name, "larger")) {
		struct tmn_rule *r = &p->rules[p->rule_count++ % TMN_MAX_RULES];

		r->subject = TMN_RULE_SIZE;
		r->comparison = TMN_ABOVE;
		r->drops = 1;
		r->number = (uint32_t)number;
	} else
		return false;
	return true;
}

/* Reads NAME=VALUE words to the end of the line. */
static bool read_policy(char *words, struct tmn_flow *f, struct tmn_policy *p)
{
	char *save = NULL, *word;

	*f = (struct tmn_flow) {
		.wild = TMN_WILD_SOURCE | TMN_WILD_DESTINATION | TMN_WILD_STREAM,
		.protocol = IPPROTO_UDP,
	};
	*p = (struct tmn_policy) { .level = TMN_LEVEL_MODULE };
	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *value = value_in(word);

		if (!value || (!flow_field(f, word, value) && !policy_field(p, word, value))) {
			printf("error EINVAL no such field: %s\n", word);
			return false;
		}
	}
	return true;
}

static int set(const struct tmn_flow *f, const struct tmn_policy *p)
{
	command(TMN_C_SET);
	put(&message, TMN_A_FLOW, f, sizeof(*f));
	put(&message, TMN_A_POLICY, p, sizeof(*p));
	return transact(fd, &message, &answer);
}

static void do_hello(void)
{
	command(TMN_C_HELLO);
	if (!done(transact(fd, &message, &answer)))
		return;
	if (!answer.attribute[TMN_A_ABI] || !answer.attribute[TMN_A_VERSION])
		printf("error EBADMSG no abi or version in the answer\n");
	else
		printf("ok abi=%u version=%s\n", *(uint32_t *)value_of(answer.attribute[TMN_A_ABI]),
		       (char *)value_of(answer.attribute[TMN_A_VERSION]));
}

static void do_attach(char *words)
{
	struct tmn_hook h = {
		.abi = abi,
		.mark = TMN_MARK_BASE,
		.type_id = 0x544d,
		.unknown_up = 1,
	};
	char *save = NULL, *word = strtok_r(words, " ", &save), *ports = word;

	while ((word = strtok_r(NULL, " ", &save))) {
		char *value = value_in(word);
		unsigned long number = value ? strtoul(value, NULL, 0) : 0;

		if (!strcmp(word, "unknown_up"))
			h.unknown_up = (uint8_t)number;
		else if (!strcmp(word, "mark"))
			h.mark = (uint32_t)number;
		else if (!strcmp(word, "type"))
			h.type_id = (uint16_t)number;
		else if (!strcmp(word, "tcp"))
			h.tcp[h.tcp_ports++ % TMN_MAX_PORTS] = htons((uint16_t)number);
	}
	for (word = strtok_r(ports, ",", &save); word; word = strtok_r(NULL, ",", &save))
		h.udp[h.udp_ports++ % TMN_MAX_PORTS] = htons((uint16_t)atoi(word));
	command(TMN_C_ATTACH);
	put(&message, TMN_A_HOOK, &h, sizeof(h));
	if (done(transact(fd, &message, &answer)))
		puts("ok");
}

static void do_counters(uint32_t slot)
{
	struct tmn_counters *c;
	struct tmn_state *s;

	command(TMN_C_COUNTERS);
	put_u32(&message, TMN_A_SLOT, slot);
	if (!done(transact(fd, &message, &answer)))
		return;
	if (!answer.attribute[TMN_A_COUNTERS] || !answer.attribute[TMN_A_STATE]) {
		printf("error EBADMSG no counters or state in the answer\n");
		return;
	}
	c = value_of(answer.attribute[TMN_A_COUNTERS]);
	s = value_of(answer.attribute[TMN_A_STATE]);
	printf("ok packets=%llu up=%llu on=%llu dropped=%llu octets=%llu marked=%llu unmarked=%llu "
	       "smallest=%llu largest=%llu seen=%llu state_up=%llu settled=%llu\n",
	       c->packets, c->up, c->on, c->dropped, c->octets, c->marked, c->unmarked, c->smallest,
	       c->largest, s->seen, s->up, s->settled);
}

static void do_met(void)
{
	static const char *const names[TMN_MET_COUNT] = {
		"SEEN", "SHORT", "VERSION", "HEADER_LENGTH", "TRUNCATED", "OPTION_LENGTH",
		"CHECKSUM", "OPTION", "OPTION_FORMAT", "TYPE_ID", "NO_KEY", "NO_POLICY",
		"POLICY", "OTHER_LEVEL", "FRAGMENT", "TRAILER", "COMPLEX", "AGGREGATED",
		"ABSENT", "CONNECTIONS",
	};
	uint64_t met[TMN_MET_COUNT];

	command(TMN_C_MET);
	if (!done(transact(fd, &message, &answer)))
		return;
	if (!answer.attribute[TMN_A_MET]) {
		printf("error EBADMSG no met in the answer\n");
		return;
	}
	memcpy(met, value_of(answer.attribute[TMN_A_MET]), sizeof(met));
	printf("ok");
	for (int i = 0; i < TMN_MET_COUNT; i++)
		printf(" %s=%llu", names[i], (unsigned long long)met[i]);
	puts("");
}

static void do_set(char *words)
{
	struct tmn_flow f;
	struct tmn_policy p;

	if (read_policy(words, &f, &p) && done(set(&f, &p)))
		puts("ok");
}

static void do_remove(char *words)
{
	struct tmn_flow f;
	struct tmn_policy p;

	if (!read_policy(words, &f, &p))
		return;
	command(TMN_C_REMOVE);
	put(&message, TMN_A_FLOW, &f, sizeof(f));
	if (done(transact(fd, &message, &answer)))
		puts("ok");
}

static void do_settled(uint32_t slot, uint64_t sum)
{
	command(TMN_C_SETTLED);
	put_u32(&message, TMN_A_SLOT, slot);
	put(&message, TMN_A_SETTLED, &sum, sizeof(sum));
	if (done(transact(fd, &message, &answer)))
		puts("ok");
}

static void do_many(uint32_t count, char *words)
{
	struct tmn_flow f;
	struct tmn_policy p;
	int64_t begun = now_ns();

	if (!read_policy(words, &f, &p))
		return;
	f.wild &= (uint8_t)~TMN_WILD_STREAM;
	for (uint32_t i = 1; i <= count; i++) {
		f.stream = htonl(i);
		p.slot = i;
		if (!done(set(&f, &p)))
			return;
	}
	printf("ok ns=%lld\n", (long long)(now_ns() - begun));
}

static void do_storm(uint32_t count, char *words)
{
	struct tmn_flow f;
	struct tmn_policy p;
	int64_t begun = now_ns();

	if (!read_policy(words, &f, &p))
		return;
	for (uint32_t i = 0; i < count; i++) {
		p.mark_value = 1 + i % 2;
		if (!done(set(&f, &p)))
			return;
	}
	printf("ok ns=%lld\n", (long long)(now_ns() - begun));
}

/* xorshift64: the same numbers from the same seed everywhere. */
static uint64_t random_state;

static uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint32_t below(uint32_t bound)
{
	return (uint32_t)((random_bits() >> 16) % bound);
}

/* A value for an attribute that is right but for chance: right length three times of four, small fields mostly. */
static size_t random_value(uint16_t type, uint8_t *value, size_t most)
{
	static const size_t octets[TMN_A_MAX + 1] = {
		[TMN_A_ABI] = 4,
		[TMN_A_VERSION] = 6,
		[TMN_A_HOOK] = sizeof(struct tmn_hook),
		[TMN_A_FLOW] = sizeof(struct tmn_flow),
		[TMN_A_POLICY] = sizeof(struct tmn_policy),
		[TMN_A_SLOT] = 4,
		[TMN_A_SETTLED] = 8,
		[TMN_A_COUNTERS] = sizeof(struct tmn_counters),
		[TMN_A_STATE] = sizeof(struct tmn_state),
		[TMN_A_MET] = 8 * TMN_MET_COUNT,
	};
	size_t length = type <= TMN_A_MAX && below(4) ? octets[type] : below(300);
	struct tmn_policy *p = (struct tmn_policy *)value;
	struct tmn_hook *h = (struct tmn_hook *)value;
	struct tmn_flow *f = (struct tmn_flow *)value;

	memset(value, 0, most);
	switch (type) {
	case TMN_A_ABI:
		value[0] = (uint8_t)(below(8) ? TMN_ABI_VERSION : below(256));
		break;
	case TMN_A_SLOT:
	case TMN_A_SETTLED:
		value[0] = (uint8_t)below(256);
		value[1] = (uint8_t)below(70);
		break;
	case TMN_A_HOOK:
		h->abi = TMN_ABI_VERSION;
		h->mark = TMN_MARK_BASE | below(TMN_MAX_INSTANCES) << TMN_MARK_INSTANCE_SHIFT;
		h->type_id = 0x544d;
		h->udp_ports = (uint8_t)below(TMN_MAX_PORTS + 1);
		h->unknown_up = (uint8_t)below(2);
		for (int i = 0; i < TMN_MAX_PORTS; i++)
			h->udp[i] = (uint16_t)(1 + below(65535));
		break;
	case TMN_A_FLOW:
		f->service[7] = (uint8_t)below(4);
		f->wild = (uint8_t)below(TMN_WILDS);
		f->protocol = IPPROTO_UDP;
		break;
	case TMN_A_POLICY:
		p->slot = below(TMN_MAX_POLICIES + 2);
		p->level = TMN_LEVEL_MODULE;
		p->share = (uint8_t)below(4);
		p->number = 1 + below(1000);
		p->fate = (uint8_t)below(3);
		p->mark = (uint8_t)below(2);
		p->rule_count = (uint8_t)below(4);
		for (int i = 0; i < 4; i++) {
			p->rules[i].subject = (uint8_t)below(6);
			p->rules[i].number = below(1000);
			p->rules[i].prefix = (uint8_t)below(129);
		}
		break;
	default:
		for (size_t i = 0; i < length && i < most; i++)
			value[i] = (uint8_t)random_bits();
	}
	/* Half of them with some octets that are anything. */
	for (uint32_t i = below(2) * below(12); i && length; i--)
		value[below((uint32_t)length)] = (uint8_t)random_bits();
	return length;
}

static void random_message(void)
{
	static const uint16_t wanted[][2] = {
		{ TMN_A_HOOK, 0 }, { TMN_A_FLOW, TMN_A_POLICY }, { TMN_A_FLOW, 0 },
		{ TMN_A_SLOT, TMN_A_SETTLED }, { TMN_A_SLOT, 0 }, { 0, 0 },
	};
	static const uint8_t commands[] = {
		TMN_C_ATTACH, TMN_C_SET, TMN_C_REMOVE, TMN_C_SETTLED, TMN_C_COUNTERS, TMN_C_MET,
	};
	uint8_t value[2048];
	uint32_t kind = below(sizeof(commands));
	size_t octets;

	begin(&message, (uint16_t)family, below(10) ? commands[kind] : (uint8_t)below(256));
	message.genl.version = (uint8_t)below(3);
	if (!below(16))
		message.head.nlmsg_flags |= (uint16_t)(random_bits() & 0xff00);
	if (below(10)) {
		octets = random_value(TMN_A_ABI, value, sizeof(value));
		put(&message, TMN_A_ABI, value, octets);
	}
	for (int i = 0; i < 2; i++) {
		if (wanted[kind][i] && below(10)) {
			octets = random_value(wanted[kind][i], value, sizeof(value));
			put(&message, wanted[kind][i], value, octets);
		}
	}
	for (uint32_t more = below(4) ? 0 : below(6); more; more--) {
		uint16_t type = (uint16_t)below(TMN_A_MAX + 4);

		octets = random_value(type, value, sizeof(value));
		if (!below(8))
			type |= (uint16_t)(random_bits() & 0xc000);
		put(&message, type, value, octets);
	}
	/* Lengths that do not fit, of an attribute or of the message. */
	if (!below(8) && message.head.nlmsg_len > NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN)
		((struct nlattr *)message.attributes)->nla_len = (uint16_t)random_bits();
	if (!below(16))
		message.head.nlmsg_len -= below(message.head.nlmsg_len - NLMSG_HDRLEN);
}

static void do_fuzz(uint64_t seed, uint32_t count)
{
	uint32_t accepted = 0, refused = 0;

	random_state = seed * 2 + 1;
	for (uint32_t i = 0; i < count; i++) {
		int error;

		random_message();
		error = transact(fd, &message, &answer);
		if (error == -EAGAIN) {
			printf("error EAGAIN no answer to message %u of seed %llu\n", i,
			       (unsigned long long)seed);
			return;
		}
		if (error)
			refused++;
		else
			accepted++;
	}
	printf("ok accepted=%u refused=%u\n", accepted, refused);
}

static void obey(char *line)
{
	char *words = strchr(line, ' '), none[1] = "", *rest;

	if (words)
		*words++ = 0;
	else
		words = none;
	if (!strcmp(line, "hello")) {
		do_hello();
	} else if (!strcmp(line, "abi")) {
		abi = (uint32_t)strtoul(words, NULL, 0);
		puts("ok");
	} else if (!strcmp(line, "attach")) {
		do_attach(words);
	} else if (!strcmp(line, "detach")) {
		command(TMN_C_DETACH);
		if (done(transact(fd, &message, &answer)))
			puts("ok");
	} else if (!strcmp(line, "set")) {
		do_set(words);
	} else if (!strcmp(line, "remove")) {
		do_remove(words);
	} else if (!strcmp(line, "settled")) {
		uint32_t slot = (uint32_t)strtoul(words, &rest, 0);

		do_settled(slot, strtoull(rest, NULL, 0));
	} else if (!strcmp(line, "counters")) {
		do_counters((uint32_t)strtoul(words, NULL, 0));
	} else if (!strcmp(line, "met")) {
		do_met();
	} else if (!strcmp(line, "many")) {
		uint32_t count = (uint32_t)strtoul(words, &rest, 0);

		do_many(count, rest);
	} else if (!strcmp(line, "storm")) {
		uint32_t count = (uint32_t)strtoul(words, &rest, 0);

		do_storm(count, rest);
	} else if (!strcmp(line, "fuzz")) {
		uint64_t seed = strtoull(words, &rest, 0);

		do_fuzz(seed, (uint32_t)strtoul(rest, NULL, 0));
	} else {
		printf("error EINVAL no such command: %s\n", line);
	}
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = netlink_open();
	family = fd < 0 ? fd : netlink_family(fd);
	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (family < 0)
			say_error(family, "no generic netlink family " TMN_GENL_NAME);
		else
			obey(line);
	}
	free(line);
	return 0;
}
