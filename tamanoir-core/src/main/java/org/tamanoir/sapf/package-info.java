/**
 * The Simple Active Packet Format: packets of an ANEP flow whose header is a selector, which the node that receives them
 * issued. It stands between sockets and the packet path: {@link org.tamanoir.sapf.SapfSocket} gives the path ANEP packets
 * and takes such, so that nothing behind it knows of selectors.
 */
@NullMarked
package org.tamanoir.sapf;

import org.jspecify.annotations.NullMarked;
