/** Random inputs for what strangers can reach, with an oracle that was written without the node's code. */
@NullMarked
package org.tamanoir.benchmarks.fuzz;

import org.jspecify.annotations.NullMarked;
