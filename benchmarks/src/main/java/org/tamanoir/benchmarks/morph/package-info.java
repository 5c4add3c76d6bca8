/** The experiments of the paper on data morphing: chains of handlers, their order, merging, and what receivers save. */
@NullMarked
package org.tamanoir.benchmarks.morph;

import org.jspecify.annotations.NullMarked;
