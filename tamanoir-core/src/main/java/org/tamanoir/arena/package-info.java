/** The arena: what shares of the node's resources are momentarily allotted, in memory that any reader may look at. */
@NullMarked
package org.tamanoir.arena;

import org.jspecify.annotations.NullMarked;
