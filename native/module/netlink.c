// SPDX-License-Identifier: GPL-2.0
/* What nodes say to the module, over generic netlink. */
#include <net/genetlink.h>

#include "tamanoir.h"

static struct genl_family family;

/* Attributes of each command; others are refused. */
#define ABI_ATTRIBUTE [TMN_A_ABI] = { .type = NLA_U32 }

static const struct nla_policy plain_attributes[TMN_A_MAX + 1] = {
	ABI_ATTRIBUTE,
};

static const struct nla_policy attach_attributes[TMN_A_MAX + 1] = {
	ABI_ATTRIBUTE,
	[TMN_A_HOOK] = NLA_POLICY_EXACT_LEN(sizeof(struct tmn_hook)),
};

static const struct nla_policy set_attributes[TMN_A_MAX + 1] = {
	ABI_ATTRIBUTE,
	[TMN_A_FLOW] = NLA_POLICY_EXACT_LEN(sizeof(struct tmn_flow)),
	[TMN_A_POLICY] = NLA_POLICY_EXACT_LEN(sizeof(struct tmn_policy)),
};

static const struct nla_policy remove_attributes[TMN_A_MAX + 1] = {
	ABI_ATTRIBUTE,
	[TMN_A_FLOW] = NLA_POLICY_EXACT_LEN(sizeof(struct tmn_flow)),
};

static const struct nla_policy settled_attributes[TMN_A_MAX + 1] = {
	ABI_ATTRIBUTE,
	[TMN_A_SLOT] = NLA_POLICY_RANGE(NLA_U32, 1, TMN_MAX_POLICIES - 1),
	[TMN_A_SETTLED] = { .type = NLA_U64 },
};

static const struct nla_policy counters_attributes[TMN_A_MAX + 1] = {
	ABI_ATTRIBUTE,
	[TMN_A_SLOT] = NLA_POLICY_RANGE(NLA_U32, 1, TMN_MAX_POLICIES - 1),
};

static int check_abi(const struct genl_info *info)
{
	const struct nlattr *abi = info->attrs[TMN_A_ABI];

	if (!abi) {
		NL_SET_ERR_MSG(info->extack, "TMN_A_ABI is missing");
		return -EINVAL;
	}
	if (nla_get_u32(abi) != TMN_ABI_VERSION) {
		NL_SET_ERR_MSG_ATTR(info->extack, abi,
				    "the module has ABI version 1: use module and node of one release");
		return -EPROTONOSUPPORT;
	}
	return 0;
}

static const void *data_of(const struct genl_info *info, enum tmn_attribute attribute)
{
	return info->attrs[attribute] ? nla_data(info->attrs[attribute]) : NULL;
}

static int refuse_missing(const struct genl_info *info)
{
	NL_SET_ERR_MSG(info->extack, "an attribute of the command is missing");
	return -EINVAL;
}

/* The sender's node, with the lock held; or an error, without. */
static struct tmn_node *lock_node(struct genl_info *info)
{
	struct tmn_net *tn = tmn_net_of(genl_info_net(info));
	struct tmn_node *node;

	mutex_lock(&tn->lock);
	node = tmn_node_of(tn, info->snd_portid);
	if (node)
		return node;
	mutex_unlock(&tn->lock);
	NL_SET_ERR_MSG(info->extack, "this socket has not attached: send TMN_C_ATTACH first");
	return ERR_PTR(-ENOTCONN);
}

static void unlock_node(struct genl_info *info)
{
	mutex_unlock(&tmn_net_of(genl_info_net(info))->lock);
}

static struct sk_buff *new_reply(struct genl_info *info, void **header)
{
	struct sk_buff *reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	if (!reply)
		return NULL;
	*header = genlmsg_put_reply(reply, info, &family, 0, info->genlhdr->cmd);
	if (*header)
		return reply;
	nlmsg_free(reply);
	return NULL;
}

static int send_reply(struct genl_info *info, struct sk_buff *reply, void *header, int error)
{
	if (error) {
		nlmsg_free(reply);
		return error;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}

static int on_hello(struct sk_buff *skb, struct genl_info *info)
{
	void *header;
	struct sk_buff *reply = new_reply(info, &header);
	int error;

	if (!reply)
		return -ENOMEM;
	error = nla_put_u32(reply, TMN_A_ABI, TMN_ABI_VERSION);
	if (!error)
		error = nla_put_string(reply, TMN_A_VERSION, TMN_MODULE_VERSION);
	return send_reply(info, reply, header, error);
}

static int on_attach(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	struct tmn_net *tn = tmn_net_of(net);
	const struct tmn_hook *hook = data_of(info, TMN_A_HOOK);
	int error = check_abi(info);

	if (error)
		return error;
	if (!hook)
		return refuse_missing(info);
	error = tmn_check_hook(hook, info->extack);
	if (error)
		return error;
	mutex_lock(&tn->lock);
	error = tmn_attach(net, info->snd_portid, hook, info->extack);
	mutex_unlock(&tn->lock);
	return error;
}

static void detach(struct net *net, u32 portid)
{
	struct tmn_net *tn = tmn_net_of(net);
	struct tmn_node *node;

	if (!READ_ONCE(tn->node_count))
		return;
	mutex_lock(&tn->lock);
	node = tmn_node_of(tn, portid);
	if (node)
		tmn_detach(net, node);
	mutex_unlock(&tn->lock);
}

static int on_detach(struct sk_buff *skb, struct genl_info *info)
{
	int error = check_abi(info);

	if (!error)
		detach(genl_info_net(info), info->snd_portid);
	return error;
}

static int on_set(struct sk_buff *skb, struct genl_info *info)
{
	const struct tmn_flow *flow = data_of(info, TMN_A_FLOW);
	const struct tmn_policy *policy = data_of(info, TMN_A_POLICY);
	struct tmn_node *node;
	int error = check_abi(info);

	if (error)
		return error;
	if (!flow || !policy)
		return refuse_missing(info);
	error = tmn_check_flow(flow, info->extack);
	if (!error)
		error = tmn_check_policy(flow, policy, info->extack);
	if (error)
		return error;
	node = lock_node(info);
	if (IS_ERR(node))
		return PTR_ERR(node);
	error = tmn_set(node, flow, policy, info->extack);
	unlock_node(info);
	return error;
}

static int on_remove(struct sk_buff *skb, struct genl_info *info)
{
	const struct tmn_flow *flow = data_of(info, TMN_A_FLOW);
	struct tmn_node *node;
	int error = check_abi(info);

	if (error)
		return error;
	if (!flow)
		return refuse_missing(info);
	error = tmn_check_flow(flow, info->extack);
	if (error)
		return error;
	node = lock_node(info);
	if (IS_ERR(node))
		return PTR_ERR(node);
	tmn_remove(node, flow);
	unlock_node(info);
	return 0;
}

/* Of a slot without a policy too: that may just have gone. */
static int on_settled(struct sk_buff *skb, struct genl_info *info)
{
	struct tmn_tally *tally;
	struct tmn_node *node;
	int error = check_abi(info);

	if (error)
		return error;
	if (!info->attrs[TMN_A_SLOT] || !info->attrs[TMN_A_SETTLED])
		return refuse_missing(info);
	node = lock_node(info);
	if (IS_ERR(node))
		return PTR_ERR(node);
	tally = node->tallies[nla_get_u32(info->attrs[TMN_A_SLOT])];
	if (tally)
		smp_store_release(&tally->settled, nla_get_u64(info->attrs[TMN_A_SETTLED]));
	unlock_node(info);
	return 0;
}

static int on_counters(struct sk_buff *skb, struct genl_info *info)
{
	struct tmn_counters counters;
	struct tmn_state state;
	struct tmn_node *node;
	struct sk_buff *reply;
	void *header;
	int error = check_abi(info);

	if (error)
		return error;
	if (!info->attrs[TMN_A_SLOT])
		return refuse_missing(info);
	node = lock_node(info);
	if (IS_ERR(node))
		return PTR_ERR(node);
	tmn_tally_sum(node->tallies[nla_get_u32(info->attrs[TMN_A_SLOT])], &counters, &state);
	unlock_node(info);
	reply = new_reply(info, &header);
	if (!reply)
		return -ENOMEM;
	error = nla_put(reply, TMN_A_COUNTERS, sizeof(counters), &counters);
	if (!error)
		error = nla_put(reply, TMN_A_STATE, sizeof(state), &state);
	return send_reply(info, reply, header, error);
}

static int on_met(struct sk_buff *skb, struct genl_info *info)
{
	u64 mets[TMN_MET_COUNT];
	struct tmn_node *node;
	struct sk_buff *reply;
	void *header;
	int error = check_abi(info);

	if (error)
		return error;
	node = lock_node(info);
	if (IS_ERR(node))
		return PTR_ERR(node);
	tmn_mets_sum(node, mets);
	unlock_node(info);
	reply = new_reply(info, &header);
	if (!reply)
		return -ENOMEM;
	return send_reply(info, reply, header, nla_put(reply, TMN_A_MET, sizeof(mets), mets));
}

#define COMMAND(number, function, attributes) {				\
	.cmd = (number),						\
	.doit = (function),						\
	.policy = (attributes),						\
	.maxattr = TMN_A_MAX,						\
	.flags = GENL_UNS_ADMIN_PERM,					\
}

static const struct genl_ops commands[] = {
	COMMAND(TMN_C_HELLO, on_hello, plain_attributes),
	COMMAND(TMN_C_ATTACH, on_attach, attach_attributes),
	COMMAND(TMN_C_DETACH, on_detach, plain_attributes),
	COMMAND(TMN_C_SET, on_set, set_attributes),
	COMMAND(TMN_C_REMOVE, on_remove, remove_attributes),
	COMMAND(TMN_C_SETTLED, on_settled, settled_attributes),
	COMMAND(TMN_C_COUNTERS, on_counters, counters_attributes),
	COMMAND(TMN_C_MET, on_met, plain_attributes),
};

static struct genl_family family __ro_after_init = {
	.name = TMN_GENL_NAME,
	.version = TMN_ABI_VERSION,
	.netnsok = true,
	.parallel_ops = true,	/* tmn_net.lock is enough: namespaces do not wait for others */
	.module = THIS_MODULE,
	.ops = commands,
	.n_ops = ARRAY_SIZE(commands),
};

static int on_notice(struct notifier_block *block, unsigned long event, void *data)
{
	const struct netlink_notify *notice = data;

	if (event == NETLINK_URELEASE && notice->protocol == NETLINK_GENERIC)
		detach(notice->net, notice->portid);
	return NOTIFY_DONE;
}

static struct notifier_block notices = {
	.notifier_call = on_notice,
};

/* Notices first: a socket that attaches must not close unseen. */
int tmn_netlink_init(void)
{
	int error = netlink_register_notifier(&notices);

	if (error)
		return error;
	error = genl_register_family(&family);
	if (error)
		netlink_unregister_notifier(&notices);
	return error;
}

void tmn_netlink_exit(void)
{
	genl_unregister_family(&family);
	netlink_unregister_notifier(&notices);
}
