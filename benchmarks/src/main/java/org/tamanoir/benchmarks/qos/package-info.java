/** The experiments of the papers on quality of service, and those that they could not run. */
@NullMarked
package org.tamanoir.benchmarks.qos;

import org.jspecify.annotations.NullMarked;
