/** A whole node and the command that runs it. */
@NullMarked
package org.tamanoir.node.run;

import org.jspecify.annotations.NullMarked;
