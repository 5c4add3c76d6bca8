/** The command {@code tamanoir reflect}: a reflector as a process. */
@NullMarked
package org.tamanoir.node.reflect;

import org.jspecify.annotations.NullMarked;
