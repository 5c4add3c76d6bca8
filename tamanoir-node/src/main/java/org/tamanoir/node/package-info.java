/** The command line: puts the rooms together into one program. */
@NullMarked
package org.tamanoir.node;

import org.jspecify.annotations.NullMarked;
