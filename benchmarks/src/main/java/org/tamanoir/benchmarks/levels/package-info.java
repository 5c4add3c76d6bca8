/** The experiments of the Tamanoir paper on levels below the Java virtual machine, in network namespaces. */
@NullMarked
package org.tamanoir.benchmarks.levels;

import org.jspecify.annotations.NullMarked;
