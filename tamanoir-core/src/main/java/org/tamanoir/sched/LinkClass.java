package org.tamanoir.sched;

import java.util.LinkedHashSet;
import java.util.Set;
import org.tamanoir.qdisc.TrafficClass;

/**
 * One class of traffic at one link, under one configuration.
 *
 * <p>Thread contract: inside the link's lock, but for what never changes.
 */
final class LinkClass {
    final LinkContent content;
    /** Its place in the configuration, and its flow in the discipline. */
    final int index;

    final ClassCounts counts;
    /** Of what stands in the discipline. */
    private final QueueRoom room;

    private final Set<LinkQueue<?>> awaitingRoom = new LinkedHashSet<>();

    LinkClass(
            LinkContent content,
            int index,
            TrafficClass config,
            long[] turnWeights,
            long streamBytes,
            ClassCounts counts) {
        this.content = content;
        this.index = index;
        this.room = new QueueRoom(config, index, turnWeights, streamBytes);
        this.counts = counts;
    }

    void queued(LinkItem<?> item) {
        long before = room.heldBack();
        room.come(item.turnClass, item.bytes);
        tell(before);
    }

    /** Records that one has left the discipline; returns whether that made room for classes that were held back. */
    boolean unqueued(LinkItem<?> item) {
        long before = room.heldBack();
        return hasLeft(before, room.leave(item.bytes));
    }

    /** Records that the discipline does not take one; returns the same as {@link #unqueued}. */
    boolean notTaken(LinkItem<?> item) {
        long before = room.heldBack();
        return hasLeft(before, room.takeBack(item.turnClass, item.bytes));
    }

    private boolean hasLeft(long heldBackBefore, boolean isRoom) {
        if (isRoom) {
            wakeAll();
            tell(heldBackBefore);
        }
        return (heldBackBefore & ~room.heldBack()) != 0;
    }

    /** A packet has found no room. */
    void refused(LinkItem<?> item) {
        long before = room.heldBack();
        room.refuse(item.turnClass);
        tell(before);
    }

    private void tell(long heldBackBefore) {
        if (room.heldBack() != heldBackBefore) {
            content.heldBackChanged();
        }
    }

    boolean hasRoom(int bytes) {
        return room.hasRoom(bytes);
    }

    /** Returns whether the item's packet has to leave the room to classes of turns. */
    boolean yieldsRoom(LinkItem<?> item) {
        return room.isUsedUp(item.turnClass);
    }

    /** Wakes the queue's owner when there is room for this item again. */
    void awaitRoom(LinkQueue<?> queue, LinkItem<?> item) {
        refused(item);
        awaitingRoom.add(queue);
    }

    void awaitsNoMore(LinkQueue<?> queue) {
        awaitingRoom.remove(queue);
    }

    /** Nobody has to wait for room in it any more. */
    void dissolve() {
        room.forget();
        wakeAll();
        content.heldBackChanged();
    }

    private void wakeAll() {
        if (!awaitingRoom.isEmpty()) {
            awaitingRoom.forEach(LinkQueue::wake);
            awaitingRoom.clear();
        }
    }

    /** Returns the classes of turns that its queue holds back, a bit each. */
    long heldBack() {
        return room.heldBack();
    }
}
