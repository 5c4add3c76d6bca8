/** The commands {@code distribute} and {@code aggregate}: the two ends of a distributed active element. */
@NullMarked
package org.tamanoir.node.element;

import org.jspecify.annotations.NullMarked;
