/** The soak: mixed traffic through a node for a long time, of which every byte is verified at its far end. */
@NullMarked
package org.tamanoir.benchmarks.soak;

import org.jspecify.annotations.NullMarked;
