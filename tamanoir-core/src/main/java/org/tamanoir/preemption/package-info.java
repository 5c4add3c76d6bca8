/** Puts checkpoints into the classes of services, where they can be stopped. The one room that knows class files. */
@NullMarked
package org.tamanoir.preemption;

import org.jspecify.annotations.NullMarked;
