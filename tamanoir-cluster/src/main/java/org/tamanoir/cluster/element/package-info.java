/**
 * The distributed active element: one stream over several nodes side by side, and joined again. Source:
 * <i>Distributed Active Element for High-Performance Data Distribution</i>.
 */
@NullMarked
package org.tamanoir.cluster.element;

import org.jspecify.annotations.NullMarked;
