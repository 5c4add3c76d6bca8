/** Work that levels below the JVM do for services, and what comes up from these levels. */
@NullMarked
package org.tamanoir.offload;

import org.jspecify.annotations.NullMarked;
