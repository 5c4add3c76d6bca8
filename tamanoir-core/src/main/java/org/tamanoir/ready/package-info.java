/** A queue of what is ready to run, by priority, that no thread holds up. */
@NullMarked
package org.tamanoir.ready;

import org.jspecify.annotations.NullMarked;
