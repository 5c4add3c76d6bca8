// SPDX-License-Identifier: GPL-2.0
/* What user space sends, before it is believed. */
#include <linux/in.h>
#include <linux/netlink.h>

#include "tamanoir.h"

#define REFUSE(extack, message) ({ NL_SET_ERR_MSG(extack, message); -EINVAL; })

static bool is_zero(const void *octets, size_t count)
{
	return !memchr_inv(octets, 0, count);
}

static bool are_ports(const __be16 *ports, u32 count)
{
	u32 i, j;

	for (i = 0; i < count; i++) {
		if (!ports[i])
			return false;
		for (j = 0; j < i; j++) {
			if (ports[i] == ports[j])
				return false;
		}
	}
	return true;
}

int tmn_check_hook(const struct tmn_hook *hook, struct netlink_ext_ack *extack)
{
	if (hook->abi != TMN_ABI_VERSION)
		return REFUSE(extack, "hook.abi: must be 1");
	if ((hook->mark & ~(0xfu << TMN_MARK_INSTANCE_SHIFT)) != TMN_MARK_BASE)
		return REFUSE(extack, "hook.mark: must be 0x54000000 and an instance in bits 20 to 23");
	if (hook->udp_ports > TMN_MAX_PORTS || hook->tcp_ports > TMN_MAX_PORTS)
		return REFUSE(extack, "hook: at most 16 UDP and 16 TCP ports");
	if (!are_ports(hook->udp, hook->udp_ports) || !are_ports(hook->tcp, hook->tcp_ports))
		return REFUSE(extack, "hook: a port must be 1 to 65535, and stand once");
	if (hook->unknown_up > 1)
		return REFUSE(extack, "hook.unknown_up: must be 0 or 1");
	if (!is_zero(hook->zero, sizeof(hook->zero)))
		return REFUSE(extack, "hook.zero: must be 0");
	return 0;
}

int tmn_check_flow(const struct tmn_flow *flow, struct netlink_ext_ack *extack)
{
	bool has_service = !is_zero(flow->service, sizeof(flow->service));

	if (!is_zero(flow->zero, sizeof(flow->zero)))
		return REFUSE(extack, "flow.zero: must be 0");
	if (flow->wild >= TMN_WILDS)
		return REFUSE(extack, "flow.wild: must be 0 to 7");
	if ((flow->wild & TMN_WILD_SOURCE && !is_zero(flow->source, sizeof(flow->source))) ||
	    (flow->wild & TMN_WILD_DESTINATION &&
	     !is_zero(flow->destination, sizeof(flow->destination))) ||
	    (flow->wild & TMN_WILD_STREAM && flow->stream))
		return REFUSE(extack, "flow: what is wild must be 0");
	if (!(flow->wild & (TMN_WILD_SOURCE | TMN_WILD_DESTINATION)) &&
	    tmn_is_mapped_ipv4(flow->source) != tmn_is_mapped_ipv4(flow->destination))
		return REFUSE(extack, "flow: source and destination must be of one family");
	switch (flow->protocol) {
	case IPPROTO_UDP:
		if (!has_service)
			return REFUSE(extack, "flow.service: must not be 0 for UDP");
		return 0;
	case IPPROTO_TCP:
		if (has_service || !(flow->wild & TMN_WILD_STREAM))
			return REFUSE(extack, "flow: for TCP service must be 0 and stream wild");
		return 0;
	default:
		return REFUSE(extack, "flow.protocol: must be 17 (UDP) or 6 (TCP)");
	}
}

static int check_mark(const struct tmn_policy *policy, struct netlink_ext_ack *extack)
{
	switch (policy->mark) {
	case TMN_MARK_NONE:
		return 0;
	case TMN_MARK_CLASS:
		if (policy->mark_value > 0xff)
			return REFUSE(extack, "policy.mark_value: a class must be 0 to 255");
		return 0;
	case TMN_MARK_OCTETS:
		if (policy->mark_octets != 1 && policy->mark_octets != 2 &&
		    policy->mark_octets != 4)
			return REFUSE(extack, "policy.mark_octets: must be 1, 2 or 4");
		if (policy->mark_offset < TMN_BASIC_OCTETS ||
		    policy->mark_offset > TMN_HEADER_OCTETS - 4 ||
		    policy->mark_offset % policy->mark_octets)
			return REFUSE(extack, "policy.mark_offset: must be 8 to 252, and a multiple of mark_octets");
		if (policy->mark_octets < 4 && policy->mark_value >> 8 * policy->mark_octets)
			return REFUSE(extack, "policy.mark_value: must fit mark_octets");
		return 0;
	default:
		return REFUSE(extack, "policy.mark: must be 0 to 2");
	}
}

static int check_fate(const struct tmn_flow *flow, const struct tmn_policy *policy,
		      struct netlink_ext_ack *extack)
{
	bool to_ipv4 = tmn_is_mapped_ipv4(policy->to_address);

	switch (policy->fate) {
	case TMN_FATE_ON:
	case TMN_FATE_DROP:
		return 0;
	case TMN_FATE_TO:
		if (flow->protocol == IPPROTO_TCP)
			return REFUSE(extack, "policy.fate: connections can go on or be dropped only");
		if (is_zero(policy->to_address + (to_ipv4 ? 12 : 0), to_ipv4 ? 4 : 16))
			return REFUSE(extack, "policy.to_address: must not be unspecified");
		if ((!(flow->wild & TMN_WILD_SOURCE) &&
		     tmn_is_mapped_ipv4(flow->source) != to_ipv4) ||
		    (!(flow->wild & TMN_WILD_DESTINATION) &&
		     tmn_is_mapped_ipv4(flow->destination) != to_ipv4))
			return REFUSE(extack, "policy.to_address: must be of the flow's family");
		return 0;
	case TMN_FATE_REDIRECT:
		if (policy->level != TMN_LEVEL_MODULE)
			return 0;
		NL_SET_ERR_MSG(extack, "policy.fate: the module cannot redirect: use level tc or xdp, or fate to");
		return -EOPNOTSUPP;
	default:
		return REFUSE(extack, "policy.fate: must be 0 to 3");
	}
}

static int check_rule(const struct tmn_rule *rule, struct netlink_ext_ack *extack)
{
	bool is_prefix = rule->subject == TMN_RULE_SOURCE || rule->subject == TMN_RULE_DESTINATION;

	if (rule->subject > TMN_RULE_SIZE)
		return REFUSE(extack, "rule.subject: must be 0 to 5");
	if (rule->comparison > TMN_ABOVE)
		return REFUSE(extack, "rule.comparison: must be 0 to 2");
	if (rule->drops > 1)
		return REFUSE(extack, "rule.drops: must be 0 or 1");
	if (rule->prefix > 128)
		return REFUSE(extack, "rule.prefix: must be 0 to 128");
	if (is_prefix && rule->prefix < 96 && tmn_is_mapped_ipv4(rule->address))
		return REFUSE(extack, "rule.prefix: of an IPv4 address must be 96 to 128");
	return 0;
}

int tmn_check_policy(const struct tmn_flow *flow, const struct tmn_policy *policy,
		     struct netlink_ext_ack *extack)
{
	int error;
	u32 i;

	if (!policy->slot || policy->slot >= TMN_MAX_POLICIES)
		return REFUSE(extack, "policy.slot: must be 1 to 16383");
	if (policy->level < TMN_LEVEL_MODULE || policy->level > TMN_LEVEL_XDP)
		return REFUSE(extack, "policy.level: must be 1 to 3");
	if (policy->share > TMN_SHARE_FIRST)
		return REFUSE(extack, "policy.share: must be 0 to 3");
	if (tmn_share_counts(policy) && !policy->number)
		return REFUSE(extack, "policy.number: must be 1 or more");
	if (policy->ordered > 1 || policy->default_drops > 1)
		return REFUSE(extack, "policy.ordered and default_drops: must be 0 or 1");
	if (policy->rule_count > TMN_MAX_RULES)
		return REFUSE(extack, "policy.rule_count: must be 0 to 16");
	if (policy->default_drops && !policy->rule_count)
		return REFUSE(extack, "policy.default_drops: needs rules; without, use fate drop");
	if (policy->zero)
		return REFUSE(extack, "policy.zero: must be 0");
	error = check_mark(policy, extack);
	if (error)
		return error;
	for (i = 0; i < policy->rule_count; i++) {
		error = check_rule(&policy->rules[i], extack);
		if (error)
			return error;
	}
	return check_fate(flow, policy, extack);
}
