/** Reliable multicast over a tree of nodes. */
@NullMarked
package org.tamanoir.services.extra.multicast;

import org.jspecify.annotations.NullMarked;
