/** Destination to next hop, by longest prefix. Imports the JDK alone. */
@NullMarked
package org.tamanoir.routing;

import org.jspecify.annotations.NullMarked;
