// SPDX-License-Identifier: GPL-2.0
/* Loading and unloading. */
#include <linux/module.h>

#include "tamanoir.h"

static int __init tamanoir_init(void)
{
	int error = tmn_nodes_init();

	if (error)
		return error;
	error = tmn_netlink_init();
	if (error)
		tmn_nodes_exit();
	return error;
}

/* No command can come any more when the nodes go; what RCU still holds is freed before the code. */
static void __exit tamanoir_exit(void)
{
	tmn_netlink_exit();
	tmn_nodes_exit();
	rcu_barrier();
}

module_init(tamanoir_init);
module_exit(tamanoir_exit);

MODULE_DESCRIPTION("Tamanoir: policies of an active network node for packets in transit");
MODULE_AUTHOR("The Tamanoir project");
MODULE_LICENSE("GPL");
MODULE_VERSION(TMN_MODULE_VERSION);
MODULE_ALIAS("net-pf-16-proto-16-family-" TMN_GENL_NAME);
