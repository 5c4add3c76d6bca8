package org.tamanoir.transport;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.quic.QuicChannel;
import io.netty.handler.codec.quic.QuicConnectionStats;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Keeps a connection whose stream has ended as long as its far side is heard, for some minutes: it may still read, and asks
 * again for what was lost on the way.
 *
 * <p>Thread contract: the connection's loop.
 */
final class QuicFarewell {
    /** Linux gives a TCP connection that its program has closed up after about as long (tcp_orphan_retries in tcp(7)). */
    private static final Duration SILENCE = Duration.ofSeconds(100);

    /** As a whole, so that nobody keeps a place by saying nothing but that he is there. */
    private static final Duration MOST = Duration.ofMinutes(10);

    private final QuicChannel connection;
    private final EventLoop loop;
    private final Duration pause;
    private final BooleanSupplier isOver;
    private final Runnable close;
    private final long beganNs;
    private long received = -1;
    private long heardNs;

    /**
     * @param pause between two looks
     * @param isOver whether it is still so that no stream is open
     * @param close what is done when nothing was heard for {@link #SILENCE}, or {@link #MOST} is over
     */
    QuicFarewell(QuicChannel connection, EventLoop loop, Duration pause, BooleanSupplier isOver, Runnable close) {
        this.connection = connection;
        this.loop = loop;
        this.pause = pause;
        this.isOver = isOver;
        this.close = close;
        this.beganNs = System.nanoTime();
    }

    void look() {
        if (isOver.getAsBoolean() && connection.isActive()) {
            connection.collectStats().addListener(this::looked);
        }
    }

    private void looked(Future<? super QuicConnectionStats> statistics) {
        long nowNs = System.nanoTime();
        if (statistics.isSuccess() && ((QuicConnectionStats) statistics.getNow()).recv() != received) {
            received = ((QuicConnectionStats) statistics.getNow()).recv();
            heardNs = nowNs;
        }
        if (received < 0 || nowNs - heardNs >= SILENCE.toNanos() || nowNs - beganNs >= MOST.toNanos()) {
            close.run();
        } else {
            loop.schedule(this::look, pause.toNanos(), TimeUnit.NANOSECONDS);
        }
    }
}
