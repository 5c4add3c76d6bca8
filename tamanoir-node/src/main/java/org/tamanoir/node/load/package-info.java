/** The commands that send and receive streams, and measure them. */
@NullMarked
package org.tamanoir.node.load;

import org.jspecify.annotations.NullMarked;
