// SPDX-License-Identifier: GPL-2.0
/*
 * The policies of a node: a hash table of flows with their wildcards, and one of service keys that
 * says which combinations of wildcards there are at all. A packet costs at most one search for its
 * key and TMN_WILDS for its flow; who may set policies decides how long they are, senders do not.
 */
#include <linux/rculist.h>
#include <linux/slab.h>

#include "tamanoir.h"

#define ALL_WILD (TMN_WILDS - 1)
#define FLOW_WORDS (sizeof(struct tmn_flow) / sizeof(u64))

/* An odd number near 2^64 divided by the golden ratio: its products spread over their upper bits. */
#define SPREAD 0x9e3779b97f4a7c15ull

static u64 mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * SPREAD;
	return hash ^ hash >> 32;
}

static struct hlist_head *flow_bucket(const struct tmn_node *node, const struct tmn_flow *flow)
{
	const u64 *words = (const u64 *)flow;
	u64 hash = node->seed;
	u32 i;

	BUILD_BUG_ON(sizeof(*flow) % sizeof(u64));
	for (i = 0; i < FLOW_WORDS; i++)
		hash = mix(hash, words[i]);
	return &node->flows[(hash * SPREAD) >> (64 - TMN_FLOW_BITS)];
}

static struct hlist_head *service_bucket(const struct tmn_node *node, u64 key)
{
	return &node->services[(mix(node->seed, key) * SPREAD) >> (64 - TMN_SERVICE_BITS)];
}

static bool is_same(const struct tmn_flow *a, const struct tmn_flow *b)
{
	const u64 *words = (const u64 *)a, *others = (const u64 *)b;
	u64 different = 0;
	u32 i;

	for (i = 0; i < FLOW_WORDS; i++)
		different |= words[i] ^ others[i];
	return !different;
}

/* For both paths: under RCU, or under the lock. The flow is aligned to 8. */
static struct tmn_entry *find_entry(const struct tmn_node *node, const struct tmn_flow *flow)
{
	struct tmn_entry *entry;

	hlist_for_each_entry_rcu(entry, flow_bucket(node, flow), link, true) {
		if (is_same(&entry->flow, flow))
			return entry;
	}
	return NULL;
}

static u64 key_of(const struct tmn_flow *flow)
{
	u64 key;

	memcpy(&key, flow->service, sizeof(key));
	return key;
}

static struct tmn_service *find_service(const struct tmn_node *node, u64 key)
{
	struct tmn_service *service;

	hlist_for_each_entry_rcu(service, service_bucket(node, key), link, true) {
		if (service->key == key)
			return service;
	}
	return NULL;
}

/* The policy that decides about a packet: that of the smallest value of wild. */
const struct tmn_entry *tmn_find(const struct tmn_node *node, const struct tmn_flow *flow,
				 bool has_stream)
{
	const struct tmn_service *service = find_service(node, key_of(flow));
	const struct tmn_entry *entry;
	unsigned long wilds;
	u32 wild;

	if (!service)
		return NULL;
	wilds = READ_ONCE(service->wilds);
	if (flow->protocol == IPPROTO_UDP)
		wilds = tmn_wilds(wilds, has_stream);
	for_each_set_bit(wild, &wilds, TMN_WILDS) {
		struct tmn_flow key __aligned(8);

		if (wild == ALL_WILD && flow->protocol == IPPROTO_UDP)
			return rcu_dereference(service->any);
		tmn_flow_widen(&key, flow, wild);
		entry = find_entry(node, &key);
		if (entry)
			return entry;
	}
	return NULL;
}

static struct tmn_service *hold_service(struct tmn_node *node, const struct tmn_flow *flow,
					struct netlink_ext_ack *extack)
{
	u64 key = key_of(flow);
	struct tmn_service *service = find_service(node, key);

	if (service)
		return service;
	if (node->service_count >= TMN_MAX_SERVICES) {
		NL_SET_ERR_MSG(extack, "4096 service keys have policies: remove some first");
		return ERR_PTR(-ENOSPC);
	}
	service = kzalloc(sizeof(*service), GFP_KERNEL_ACCOUNT);
	if (!service)
		return ERR_PTR(-ENOMEM);
	service->key = key;
	hlist_add_head_rcu(&service->link, service_bucket(node, key));
	node->service_count++;
	return service;
}

static void count_wild(struct tmn_service *service, u32 wild, int change)
{
	service->policies[wild] += change;
	if (service->policies[wild])
		WRITE_ONCE(service->wilds, service->wilds | 1u << wild);
	else
		WRITE_ONCE(service->wilds, service->wilds & ~(1u << wild));
}

/* The way to the policy with all wild, without a search. */
static void note_any(struct tmn_service *service, const struct tmn_flow *flow,
		     struct tmn_entry *entry)
{
	if (flow->wild == ALL_WILD && flow->protocol == IPPROTO_UDP)
		rcu_assign_pointer(service->any, entry);
}

static void drop_service(struct tmn_node *node, struct tmn_service *service)
{
	if (service->wilds)
		return;
	hlist_del_rcu(&service->link);
	node->service_count--;
	kfree_rcu(service, rcu);
}

static void free_tally(struct rcu_head *rcu)
{
	tmn_tally_free(container_of(rcu, struct tmn_tally, rcu));
}

/* The slot's tally; a new one where no policy has the slot. */
static struct tmn_tally *hold_tally(struct tmn_node *node, u32 slot)
{
	struct tmn_tally *old = node->tallies[slot];
	struct tmn_tally *tally;

	if (old && old->users) {
		old->users++;
		return old;
	}
	tally = tmn_tally_new();
	if (!tally)
		return NULL;
	tally->users = 1;
	node->tallies[slot] = tally;
	if (old)
		call_rcu(&old->rcu, free_tally);
	return tally;
}

static struct tmn_entry *new_entry(struct tmn_node *node, const struct tmn_flow *flow,
				   const struct tmn_policy *policy)
{
	struct tmn_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);

	if (!entry)
		return NULL;
	entry->flow = *flow;
	entry->policy = *policy;
	entry->tally = hold_tally(node, policy->slot);
	if (!entry->tally) {
		kfree(entry);
		return NULL;
	}
	return entry;
}

static int add(struct tmn_node *node, struct tmn_entry *entry, struct netlink_ext_ack *extack)
{
	struct tmn_service *service;

	if (node->policy_count >= TMN_MAX_POLICIES - 1) {
		NL_SET_ERR_MSG(extack, "16383 policies are there: remove some first");
		return -ENOSPC;
	}
	service = hold_service(node, &entry->flow, extack);
	if (IS_ERR(service))
		return PTR_ERR(service);
	hlist_add_head_rcu(&entry->link, flow_bucket(node, &entry->flow));
	node->policy_count++;
	note_any(service, &entry->flow, entry);
	count_wild(service, entry->flow.wild, 1);
	return 0;
}

/* Adds or replaces: each packet sees the old policy or the new one. */
int tmn_set(struct tmn_node *node, const struct tmn_flow *flow, const struct tmn_policy *policy,
	    struct netlink_ext_ack *extack)
{
	struct tmn_entry *entry = new_entry(node, flow, policy);
	struct tmn_entry *old;
	int error;

	if (!entry)
		return -ENOMEM;
	old = find_entry(node, &entry->flow);
	if (old) {
		hlist_replace_rcu(&old->link, &entry->link);
		note_any(find_service(node, key_of(flow)), flow, entry);
		old->tally->users--;
		kfree_rcu(old, rcu);
		return 0;
	}
	error = add(node, entry, extack);
	if (error) {
		entry->tally->users--;
		kfree(entry);
	}
	return error;
}

/* The tally stays, so that its counters can still be read. */
static void remove_entry(struct tmn_node *node, struct tmn_entry *entry)
{
	struct tmn_service *service = find_service(node, key_of(&entry->flow));

	count_wild(service, entry->flow.wild, -1);
	note_any(service, &entry->flow, NULL);
	hlist_del_rcu(&entry->link);
	node->policy_count--;
	entry->tally->users--;
	kfree_rcu(entry, rcu);
	drop_service(node, service);
}

void tmn_remove(struct tmn_node *node, const struct tmn_flow *flow)
{
	struct tmn_flow key __aligned(8) = *flow;
	struct tmn_entry *entry = find_entry(node, &key);

	if (entry)
		remove_entry(node, entry);
}

/* All policies and tallies; no packet path may look at the node any more. */
void tmn_clear(struct tmn_node *node)
{
	struct hlist_node *next;
	struct tmn_entry *entry;
	u32 i;

	for (i = 0; i < 1 << TMN_FLOW_BITS; i++) {
		hlist_for_each_entry_safe(entry, next, &node->flows[i], link)
			remove_entry(node, entry);
	}
	for (i = 0; i < TMN_MAX_POLICIES; i++)
		tmn_tally_free(node->tallies[i]);
}
