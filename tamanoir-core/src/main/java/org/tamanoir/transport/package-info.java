/** Ports to the network, and their sockets: TCP through Netty, UDP through batch system calls. Alone imports both. */
@NullMarked
package org.tamanoir.transport;

import org.jspecify.annotations.NullMarked;
