/** Counts of packets: what each thread took in, let out, dropped and holds, their sums, and taps that watch. */
@NullMarked
package org.tamanoir.traffic;

import org.jspecify.annotations.NullMarked;
