// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of slots. Each processor adds to its own, in softirq, so that nothing interrupts it
 * there but what does not count; readers add them up.
 */
#include <linux/percpu.h>
#include <linux/slab.h>

#include "tamanoir.h"

struct tmn_tally *tmn_tally_new(void)
{
	struct tmn_tally *tally = kzalloc(sizeof(*tally), GFP_KERNEL_ACCOUNT);

	if (!tally)
		return NULL;
	tally->counters = alloc_percpu_gfp(struct tmn_counters, GFP_KERNEL_ACCOUNT);
	if (!tally->counters) {
		kfree(tally);
		return NULL;
	}
	return tally;
}

void tmn_tally_free(struct tmn_tally *tally)
{
	if (!tally)
		return;
	free_percpu(tally->counters);
	kfree(tally);
}

/* As a reader sees it: never half of an addition. */
static void add(__u64 *to, u64 number)
{
	WRITE_ONCE(*to, *to + number);
}

void tmn_count_up(const struct tmn_tally *tally, u32 datagrams)
{
	struct tmn_counters *counters = this_cpu_ptr(tally->counters);

	add(&counters->packets, datagrams);
	add(&counters->up, datagrams);
}

void tmn_count_handled(const struct tmn_tally *tally, u32 octets, u32 rule, bool is_dropped)
{
	struct tmn_counters *counters = this_cpu_ptr(tally->counters);

	add(&counters->packets, 1);
	add(is_dropped ? &counters->dropped : &counters->on, 1);
	add(&counters->octets, octets);
	if (!counters->smallest || octets < counters->smallest)
		WRITE_ONCE(counters->smallest, octets);
	if (octets > counters->largest)
		WRITE_ONCE(counters->largest, octets);
	if (rule <= TMN_MAX_RULES)
		add(&counters->rules[rule], 1);
}

void tmn_count_marked(const struct tmn_tally *tally, bool is_marked)
{
	struct tmn_counters *counters = this_cpu_ptr(tally->counters);

	add(is_marked ? &counters->marked : &counters->unmarked, 1);
}

void tmn_count_connection(const struct tmn_tally *tally, bool is_up, bool is_dropped)
{
	struct tmn_counters *counters = this_cpu_ptr(tally->counters);

	add(&counters->packets, 1);
	add(is_up ? &counters->up : is_dropped ? &counters->dropped : &counters->on, 1);
}

static void sum_up(struct tmn_counters *sum, const struct tmn_counters *of)
{
	u64 smallest = READ_ONCE(of->smallest);
	u32 i;

	sum->packets += READ_ONCE(of->packets);
	sum->up += READ_ONCE(of->up);
	sum->on += READ_ONCE(of->on);
	sum->dropped += READ_ONCE(of->dropped);
	sum->octets += READ_ONCE(of->octets);
	sum->marked += READ_ONCE(of->marked);
	sum->unmarked += READ_ONCE(of->unmarked);
	if (smallest && (!sum->smallest || smallest < sum->smallest))
		sum->smallest = smallest;
	sum->largest = max(sum->largest, READ_ONCE(of->largest));
	for (i = 0; i <= TMN_MAX_RULES; i++)
		sum->rules[i] += READ_ONCE(of->rules[i]);
}

/* Zero where the slot has never had a policy. */
void tmn_tally_sum(const struct tmn_tally *tally, struct tmn_counters *sum,
		   struct tmn_state *state)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	memset(state, 0, sizeof(*state));
	if (!tally)
		return;
	for_each_possible_cpu(cpu)
		sum_up(sum, per_cpu_ptr(tally->counters, cpu));
	state->seen = atomic64_read(&tally->seen);
	state->up = atomic64_read(&tally->up);
	state->settled = READ_ONCE(tally->settled);
}
