/** The experiments of the paper on the distributed active element. */
@NullMarked
package org.tamanoir.benchmarks.element;

import org.jspecify.annotations.NullMarked;
