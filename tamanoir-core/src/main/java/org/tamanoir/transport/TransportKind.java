package org.tamanoir.transport;

/** Which implementation of sockets a node uses, for TCP and UDP alike. */
public enum TransportKind {
    /** {@link #NATIVE} where it works, else {@link #NIO}. */
    AUTO,
    /** Linux: epoll through Netty, batch system calls through JNA. */
    NATIVE,
    /** Any system: NIO. */
    NIO
}
