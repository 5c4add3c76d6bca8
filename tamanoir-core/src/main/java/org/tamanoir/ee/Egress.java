package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.sched.LinkPort;
import org.tamanoir.transport.Buffer;

/**
 * The way out of one service's thread to a next hop. Packets added are held until they are counted out or dropped.
 *
 * <p>Thread contract: the service's thread.
 */
interface Egress {
    /**
     * Adds a packet behind those before.
     *
     * @param hop where it goes
     * @return null, or why it cannot go
     */
    @Nullable
    DropReason add(Packet packet, RouteCacheEntry hop);

    /**
     * Adds a packet that leaves over the link of its hop, at once or when that grants it.
     *
     * @return null, or why it cannot go
     */
    @Nullable
    DropReason addOverLink(Packet packet, RouteCacheEntry hop, int trafficClass);

    /**
     * Has packets leave over this link from now on.
     *
     * @param link null = over none
     * @return false while packets wait for another link, which leave before
     */
    default boolean over(@Nullable LinkPort link) {
        return true;
    }

    /** Returns itself as what packets can be added to that stand back to back; null when each is added by itself. */
    default @Nullable Runs runs() {
        return null;
    }

    /** The way of packets that leave from where they lie, whatever is in them. */
    interface Runs {
        /** Adds packets that stand back to back, behind those before. */
        void add(Buffer buffer, int offset, int bytes, int packets);
    }

    /**
     * Says what packets leave with that are added until the next call, as their IPv4 TOS or IPv6 traffic class. A
     * connection keeps what it was given first: its segments are one flow (RFC 7657, section 5.1).
     */
    default void mark(int trafficOctet) {}

    /** Hands what was added to the operating system, as far as it takes it. */
    void flush();

    /** Returns how many packets were added that have not left. */
    long held();

    /** Returns whether it can take packets no more. */
    boolean isClosed();

    /** Returns whether packets to this next hop, whose way it is, go by it now; false when another way is to be found. */
    default boolean serves(RouteCacheEntry hop) {
        return !isClosed();
    }

    /** Resets its connection, if it has one of its own. Another thread, while the service's is known to be elsewhere. */
    void resetFromOutside();

    /** Frees what it holds; packets that have not left are dropped for {@code reason}. */
    void close(DropReason reason);

    /** The way of packets that may leave from memory of their own, when their link has granted it. */
    interface Datagrams extends Egress {
        /**
         * Adds a packet that lies here until the next flush.
         *
         * @return null, or why it cannot go
         */
        @Nullable
        DropReason add(ByteBuffer memory, int offset, int bytes, RouteCacheEntry hop);

        /** Sets {@code own} to where packets to this next hop leave from that are added now. */
        default void tellOwn(RouteCacheEntry hop, OwnAddress own) {}

        /**
         * Adds a packet that has waited, and leaves from where it would have then.
         *
         * @return null, or why it cannot go
         */
        default @Nullable DropReason addLater(
                ByteBuffer memory, int offset, int bytes, RouteCacheEntry hop, OwnAddress own) {
            return add(memory, offset, bytes, hop);
        }

        /** Returns what packets that are added now leave with: {@link #mark}. */
        default int marked() {
            return 0;
        }

        /** Takes note that so many more packets, or fewer, wait for the link that leads here. */
        default void expect(int packets) {}

        @Override
        default @Nullable DropReason addOverLink(Packet packet, RouteCacheEntry hop, int trafficClass) {
            DatagramBacklog backlog = hop.backlog;
            return backlog == null ? add(packet, hop) : backlog.add(packet, trafficClass, this, hop);
        }

        @Override
        default @Nullable DropReason add(Packet packet, RouteCacheEntry hop) {
            return add(packet.buffer(), packet.offset(), packet.length(), hop);
        }
    }
}
