// SPDX-License-Identifier: GPL-2.0
/* Who is attached to a namespace, and whose its ports are. */
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "tamanoir.h"

struct tmn_node *tmn_node_of(struct tmn_net *tn, u32 portid)
{
	struct tmn_node *node;

	list_for_each_entry(node, &tn->nodes, link) {
		if (node->portid == portid)
			return node;
	}
	return NULL;
}

static const struct tmn_hook *hook_of(const struct tmn_net *tn, const struct tmn_node *node)
{
	return &rcu_dereference_protected(node->sight, lockdep_is_held(&tn->lock))->hook;
}

/* ---- ports ------------------------------------------------------------------------------- */

static void put_ports(struct tmn_port *table, const __be16 *ports, u32 count,
		      struct tmn_node *node)
{
	u32 i, at;

	for (i = 0; i < count; i++) {
		at = tmn_port_hash(ports[i]);
		while (table[at].port)
			at = (at + 1) & ((1 << TMN_PORT_BITS) - 1);
		table[at].port = ports[i];
		table[at].node = node;
	}
}

static void put_hook(struct tmn_ports *ports, const struct tmn_hook *hook, struct tmn_node *node)
{
	BUILD_BUG_ON(2 * TMN_MAX_PORTS * TMN_MAX_INSTANCES > 1 << TMN_PORT_BITS);
	put_ports(ports->udp, hook->udp, hook->udp_ports, node);
	put_ports(ports->tcp, hook->tcp, hook->tcp_ports, node);
}

/* The ports of all nodes, of this one by its new hook. */
static struct tmn_ports *new_ports(const struct tmn_net *tn, struct tmn_node *node,
				   const struct tmn_hook *hook)
{
	struct tmn_ports *ports = kvzalloc(sizeof(*ports), GFP_KERNEL_ACCOUNT);
	struct tmn_node *other;

	if (!ports)
		return NULL;
	put_hook(ports, hook, node);
	list_for_each_entry(other, &tn->nodes, link) {
		if (other != node)
			put_hook(ports, hook_of(tn, other), other);
	}
	return ports;
}

static void set_ports(struct tmn_net *tn, struct tmn_ports *ports)
{
	struct tmn_ports *old = rcu_replace_pointer(tn->ports, ports, lockdep_is_held(&tn->lock));

	if (old)
		kvfree_rcu(old, rcu);
}

/* Without memory of its own, since detaching must not fail. */
static void disown(struct tmn_port *ports, const struct tmn_node *node)
{
	u32 i;

	for (i = 0; i < 1 << TMN_PORT_BITS; i++) {
		if (ports[i].node == node)
			WRITE_ONCE(ports[i].node, NULL);
	}
}

static void drop_ports(struct tmn_net *tn, const struct tmn_node *node)
{
	struct tmn_ports *ports = rcu_dereference_protected(tn->ports, lockdep_is_held(&tn->lock));

	disown(ports->udp, node);
	disown(ports->tcp, node);
	if (!tn->node_count)
		set_ports(tn, NULL);
}

static bool share_a_port(const __be16 *a, u32 count, const __be16 *b, u32 other_count)
{
	u32 i, j;

	for (i = 0; i < count; i++) {
		for (j = 0; j < other_count; j++) {
			if (a[i] == b[j])
				return true;
		}
	}
	return false;
}

static int check_others(const struct tmn_net *tn, const struct tmn_node *node,
			const struct tmn_hook *hook, struct netlink_ext_ack *extack)
{
	const struct tmn_node *other;

	list_for_each_entry(other, &tn->nodes, link) {
		const struct tmn_hook *theirs = hook_of(tn, other);

		if (other == node)
			continue;
		if (theirs->mark == hook->mark) {
			NL_SET_ERR_MSG(extack, "mark is another node's of this namespace: take another instance");
			return -EADDRINUSE;
		}
		if (share_a_port(hook->udp, hook->udp_ports, theirs->udp, theirs->udp_ports) ||
		    share_a_port(hook->tcp, hook->tcp_ports, theirs->tcp, theirs->tcp_ports)) {
			NL_SET_ERR_MSG(extack, "a port is another node's of this namespace: take others");
			return -EADDRINUSE;
		}
	}
	return 0;
}

/* ---- nodes ------------------------------------------------------------------------------- */

static void free_node(struct tmn_node *node)
{
	if (node->flows && node->services && node->tallies)
		tmn_clear(node);
	kvfree(node->tallies);
	kvfree(node->services);
	kvfree(node->flows);
	free_percpu(node->mets);
	kfree(rcu_access_pointer(node->sight));
	kfree(node);
}

static struct tmn_node *new_node(u32 portid)
{
	struct tmn_node *node = kzalloc(sizeof(*node), GFP_KERNEL_ACCOUNT);

	if (!node)
		return NULL;
	node->portid = portid;
	node->seed = get_random_u64();
	node->mets = alloc_percpu_gfp(struct tmn_mets, GFP_KERNEL_ACCOUNT);
	node->flows = kvcalloc(1 << TMN_FLOW_BITS, sizeof(*node->flows), GFP_KERNEL_ACCOUNT);
	node->services = kvcalloc(1 << TMN_SERVICE_BITS, sizeof(*node->services),
				  GFP_KERNEL_ACCOUNT);
	node->tallies = kvcalloc(TMN_MAX_POLICIES, sizeof(*node->tallies), GFP_KERNEL_ACCOUNT);
	if (node->mets && node->flows && node->services && node->tallies)
		return node;
	free_node(node);
	return NULL;
}

static int set_hook(struct tmn_net *tn, struct tmn_node *node, const struct tmn_hook *hook)
{
	struct tmn_sight *sight = kmalloc(sizeof(*sight), GFP_KERNEL_ACCOUNT);
	struct tmn_ports *ports = new_ports(tn, node, hook);
	struct tmn_sight *old;

	if (!sight || !ports) {
		kfree(sight);
		kvfree(ports);
		return -ENOMEM;
	}
	sight->hook = *hook;
	old = rcu_replace_pointer(node->sight, sight, lockdep_is_held(&tn->lock));
	if (old)
		kfree_rcu(old, rcu);
	set_ports(tn, ports);
	return 0;
}

static int attach_new(struct net *net, struct tmn_net *tn, u32 portid,
		      const struct tmn_hook *hook, struct netlink_ext_ack *extack)
{
	struct tmn_node *node;
	int error;

	if (tn->node_count >= TMN_MAX_INSTANCES) {
		NL_SET_ERR_MSG(extack, "16 nodes are attached to this namespace: stop one first");
		return -ENOSPC;
	}
	node = new_node(portid);
	if (!node)
		return -ENOMEM;
	if (!tn->node_count) {
		error = tmn_hooks_add(net);
		if (error) {
			NL_SET_ERR_MSG(extack, "netfilter refused the hooks");
			goto free;
		}
	}
	error = set_hook(tn, node, hook);
	if (error)
		goto unhook;
	list_add_tail(&node->link, &tn->nodes);
	WRITE_ONCE(tn->node_count, tn->node_count + 1);
	return 0;

unhook:
	if (!tn->node_count)
		tmn_hooks_remove(net);
free:
	free_node(node);
	return error;
}

int tmn_attach(struct net *net, u32 portid, const struct tmn_hook *hook,
	       struct netlink_ext_ack *extack)
{
	struct tmn_net *tn = tmn_net_of(net);
	struct tmn_node *node = tmn_node_of(tn, portid);
	int error = check_others(tn, node, hook, extack);

	if (error)
		return error;
	return node ? set_hook(tn, node, hook) : attach_new(net, tn, portid, hook, extack);
}

/* Waits until no packet is in the node's hands. */
void tmn_detach(struct net *net, struct tmn_node *node)
{
	struct tmn_net *tn = tmn_net_of(net);

	list_del(&node->link);
	WRITE_ONCE(tn->node_count, tn->node_count - 1);
	drop_ports(tn, node);
	if (!tn->node_count)
		tmn_hooks_remove(net);
	synchronize_net();
	free_node(node);
}

void tmn_mets_sum(const struct tmn_node *node, u64 sum[TMN_MET_COUNT])
{
	int cpu, i;

	memset(sum, 0, TMN_MET_COUNT * sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct tmn_mets *mets = per_cpu_ptr(node->mets, cpu);

		for (i = 0; i < TMN_MET_COUNT; i++)
			sum[i] += READ_ONCE(mets->of[i]);
	}
}

static int __net_init net_init(struct net *net)
{
	struct tmn_net *tn = tmn_net_of(net);

	mutex_init(&tn->lock);
	INIT_LIST_HEAD(&tn->nodes);
	return 0;
}

/* The module is unloaded: sockets would have detached a namespace that goes by itself. */
static void __net_exit net_exit(struct net *net)
{
	struct tmn_net *tn = tmn_net_of(net);
	struct tmn_node *node, *next;

	mutex_lock(&tn->lock);
	list_for_each_entry_safe(node, next, &tn->nodes, link)
		tmn_detach(net, node);
	mutex_unlock(&tn->lock);
}

static struct pernet_operations net_ops = {
	.init = net_init,
	.exit = net_exit,
	.id = &tmn_net_id,
	.size = sizeof(struct tmn_net),
};

int tmn_nodes_init(void)
{
	return register_pernet_subsys(&net_ops);
}

void tmn_nodes_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
