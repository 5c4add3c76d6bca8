/** The experiments of the papers on clusters of nodes behind a Linux Virtual Server. */
@NullMarked
package org.tamanoir.benchmarks.cluster;

import org.jspecify.annotations.NullMarked;
