/** The runnable node: command line, configuration file, lifecycle. Puts the rooms of the core together. */
@NullMarked
package org.tamanoir.node;

import org.jspecify.annotations.NullMarked;
