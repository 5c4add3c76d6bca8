/** The way of one packet through the node, as an operator asks for it. */
@NullMarked
package org.tamanoir.trace;

import org.jspecify.annotations.NullMarked;
