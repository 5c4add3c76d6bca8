package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.service.StreamInfo;

/**
 * Looks into the packet path while it runs: drops as they happen, packets as they come in. Costs one plain read a
 * packet while nobody looks; who looks too slowly misses some, and is told how many.
 *
 * <p>Thread contract: any thread opens; one thread takes from what it opened.
 */
public final class Tap {
    Tap() {}

    /**
     * A packet that ended here.
     *
     * @param service label of the service whose thread had it; {@code reception} before there is one
     * @param peer null where it is not known
     * @param serviceKey that the packet asked for; 0 for none
     * @param octets of the packet
     */
    public record Drop(
            Instant time,
            DropReason reason,
            String service,
            @Nullable InetSocketAddress peer,
            long serviceKey,
            int octets) {}

    /**
     * A packet as it came in.
     *
     * @param peer its sender
     * @param local this node's end
     * @param octets a copy of the whole packet
     */
    public record Captured(
            Instant time,
            StreamInfo.Transport transport,
            InetSocketAddress peer,
            InetSocketAddress local,
            byte[] octets) {}

    /** What is looked at; bounded. */
    public interface View<T> extends AutoCloseable {
        /** The next one; null when the time is up. */
        @Nullable
        T take(Duration timeout) throws InterruptedException;

        /** How many found no room since the last call. */
        long missed();

        /** Ends it. */
        @Override
        void close();
    }

    /** Drops from now on, of which at most {@code capacity} wait. */
    public View<Drop> drops(int capacity) {
        throw new UnsupportedOperationException("drops");
    }

    /** The next {@code packets} packets that come in, at most 65,536, from all streams. */
    public View<Captured> arrivals(int packets) {
        throw new UnsupportedOperationException("arrivals");
    }
}
