/** Network namespaces that stand for machines, and what runs in them. */
@NullMarked
package org.tamanoir.benchmarks.netns;

import org.jspecify.annotations.NullMarked;
