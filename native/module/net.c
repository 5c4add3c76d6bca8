// SPDX-License-Identifier: GPL-2.0
/* Where the nodes of a namespace are found. */
#include <net/netns/generic.h>

#include "tamanoir.h"

unsigned int tmn_net_id __read_mostly;

struct tmn_net *tmn_net_of(const struct net *net)
{
	return net_generic(net, tmn_net_id);
}
