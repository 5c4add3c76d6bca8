/** TCP through Netty, UDP through batch system calls. The only room that imports Netty and JNA. */
@NullMarked
package org.tamanoir.transport;

import org.jspecify.annotations.NullMarked;
