package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.BufferPool;

/**
 * Packets that wait for the thread of a UDP service, of its own or shared with others.
 *
 * <p>Thread contract: {@link #takeHeld} and {@link #offer} any thread, everything else the service's thread; where that
 * does not return, {@link #forsake} and the taking of packets are the thread's that gives the instance up.
 */
interface UdpInbox {
    /** Takes packets that were held, in their order; false when it takes no more. */
    boolean takeHeld(List<UdpIntake.Held> packets);

    /**
     * Puts a packet in.
     *
     * @return null, or why it was not taken
     */
    @Nullable
    DropReason offer(Packet packet, Arrival from);

    /** Takes no more. */
    void close();

    /** Takes no more, since the service's thread does not return, or has failed. */
    default void forsake() {
        close();
    }

    /** Takes no more, and has another take its place, where several threads take packets from it. */
    default void leaveToAnother() {
        close();
    }

    boolean isClosed();

    boolean isEmpty();

    /** Returns whether several threads take packets from it. */
    boolean isShared();

    boolean hasHeld();

    /** Returns what says, from the service's thread, whether every packet that is in now has been taken out. */
    default BooleanSupplier mark() {
        return () -> true;
    }

    /** Takes out the oldest packet that was held; null when there is none. */
    byte @Nullable [] nextHeld(Arrival arrival);

    /** Goes to the next packet; false when there is none, or when {@link #nextHeld} has older ones. */
    boolean next(Arrival arrival);

    /** Returns whether the thread may rest, right before it does; else there is a next packet. */
    default boolean mayRest() {
        return true;
    }

    /** Returns the memory in which packets lie, each until {@link #release}. */
    ByteBuffer bytes();

    /** Returns where the packet that {@link #next} found begins. */
    int offset();

    int length();

    /** Gives the room back of all that {@link #next} has found: they have left. */
    void release();

    /**
     * Gives the memory back; the last that the service's thread does with it.
     *
     * @param wasGivenUp whether the thread did not return, and has now
     */
    void free(BufferPool pool, boolean wasGivenUp);
}
