package org.tamanoir.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * The address of a next hop that is reached by QUIC: who connects to it connects to a socket inside the process, behind
 * which a {@link QuicPort} carries the bytes on. It equals the address alone.
 *
 * <p>Thread contract: any thread.
 */
public final class QuicAddress extends InetSocketAddress {
    private static final long serialVersionUID = 1;

    private final transient QuicPort port;

    QuicAddress(InetAddress address, int number, QuicPort port) {
        super(address, number);
        this.port = port;
    }

    /**
     * Begins a stream there for the socket inside the process that is bound to {@code inside}.
     *
     * @return where that socket is to connect to; fails with an {@link java.io.IOException} in one line
     */
    public CompletableFuture<InetSocketAddress> open(InetSocketAddress inside, Duration timeout) {
        return port.open(this, inside, timeout);
    }
}
