// SPDX-License-Identifier: GPL-2.0
/* A segment to a node's port. Connections are steered as a whole, by their first segment. */
#include <linux/tcp.h>

#include "tamanoir.h"

static const struct tmn_entry *find_policy(const struct tmn_crossing *crossing)
{
	static const struct tmn_packet nothing;
	struct tmn_flow flow;

	tmn_flow_of(&flow, &nothing, crossing->source, crossing->destination, IPPROTO_TCP);
	return tmn_find(crossing->node, &flow, false);
}

static unsigned int send_up(const struct tmn_crossing *crossing, const struct tmn_entry *entry)
{
	if (!tmn_has_listener(crossing)) {
		tmn_meet(crossing->node, TMN_MET_ABSENT, 1);
		return NF_ACCEPT;
	}
	if (!entry) {
		tmn_meet(crossing->node, TMN_MET_NO_POLICY, 1);
		return tmn_up(crossing, 0);
	}
	tmn_meet(crossing->node, TMN_MET_POLICY, 1);
	atomic64_inc(&entry->tally->up);
	tmn_count_connection(entry->tally, true, false);
	return tmn_up(crossing, entry->policy.slot);
}

static unsigned int begin(const struct tmn_crossing *crossing)
{
	const struct tmn_entry *entry = find_policy(crossing);
	const struct tmn_policy *policy;
	bool is_dropped;
	u64 seen = 0;

	tmn_meet(crossing->node, TMN_MET_CONNECTIONS, 1);
	if (!entry) {
		if (crossing->hook->unknown_up)
			return send_up(crossing, NULL);
		tmn_meet(crossing->node, TMN_MET_NO_POLICY, 1);
		return NF_ACCEPT;
	}
	policy = &entry->policy;
	if (policy->level != TMN_LEVEL_MODULE) {
		tmn_meet(crossing->node, TMN_MET_OTHER_LEVEL, 1);
		return NF_ACCEPT;
	}
	if (tmn_share_counts(policy))
		seen = atomic64_inc_return(&entry->tally->seen);
	if (tmn_share_up(policy, seen) || (policy->fate == TMN_FATE_ON && tmn_is_local(crossing)))
		return send_up(crossing, entry);
	tmn_meet(crossing->node, TMN_MET_POLICY, 1);
	is_dropped = policy->fate == TMN_FATE_DROP;
	tmn_count_connection(entry->tally, false, is_dropped);
	return is_dropped ? NF_DROP : NF_ACCEPT;
}

unsigned int tmn_tcp(struct tmn_crossing *crossing, const struct tcphdr *tcp)
{
	bool begins = tcp->syn && !tcp->ack;

	if (tmn_has_connection(crossing, begins))
		return tmn_up(crossing, 0);
	return begins ? begin(crossing) : NF_ACCEPT;
}
