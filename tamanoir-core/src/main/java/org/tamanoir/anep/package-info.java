/** ANEP packets: in-place views, options, framing, checksum. Imports the JDK alone. */
@NullMarked
package org.tamanoir.anep;

import org.jspecify.annotations.NullMarked;
