/** Queueing disciplines, token buckets, and the classes of traffic: pure data structures, without threads or clocks. */
@NullMarked
package org.tamanoir.qdisc;

import org.jspecify.annotations.NullMarked;
