/** What the node takes from the machine besides sockets: time and threads, as a port that a simulation implements too. */
@org.jspecify.annotations.NullMarked
package org.tamanoir.platform;
