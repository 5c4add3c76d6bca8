/** The comparison with peers: forwarders, load generator, sinks and reports. */
@NullMarked
package org.tamanoir.benchmarks;

import org.jspecify.annotations.NullMarked;
