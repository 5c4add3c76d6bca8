package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * A first-in first-out list of items, linked through the items themselves: it allocates nothing.
 *
 * <p>Thread contract: one thread at a time.
 */
final class ItemQueue {
    private @Nullable Item head;
    private @Nullable Item tail;
    private int packets;
    private long bytes;

    boolean isEmpty() {
        return head == null;
    }

    int packets() {
        return packets;
    }

    long bytes() {
        return bytes;
    }

    /** Whether an item of this size fits, or has to be taken in any case. */
    boolean takes(Item item, int limitPackets, long limitBytes) {
        return !item.mayDrop || (packets < limitPackets && bytes + item.size <= limitBytes);
    }

    /** Adds the newest. */
    void add(Item item) {
        item.next = null;
        item.previous = tail;
        if (tail == null) {
            head = item;
        } else {
            tail.next = item;
        }
        tail = item;
        packets++;
        bytes += item.size;
    }

    /** The oldest, which stays. */
    @Nullable
    Item peek() {
        return head;
    }

    /** The oldest, which leaves. */
    @Nullable
    Item poll() {
        Item item = head;
        if (item == null) {
            return null;
        }
        remove(item);
        return item;
    }

    /**
     * Drops the oldest of those that may be dropped until so many bytes or so many packets are gone. Those that it has
     * to pass over are marked.
     */
    void shed(long shedBytes, int shedPackets, Drops drops, DropReason reason) {
        long bytesToGo = shedBytes;
        int packetsToGo = shedPackets;
        Item item = head;
        while (item != null && bytesToGo > 0 && packetsToGo > 0) {
            Item following = item.next;
            if (item.mayDrop) {
                remove(item);
                bytesToGo -= item.size;
                packetsToGo--;
                drops.dropped(item, reason);
            } else {
                item.mark();
            }
            item = following;
        }
    }

    /** Takes one out that stands in it. */
    void remove(Item item) {
        Item before = item.previous;
        Item following = item.next;
        if (before == null) {
            head = following;
        } else {
            before.next = following;
        }
        if (following == null) {
            tail = before;
        } else {
            following.previous = before;
        }
        item.next = null;
        item.previous = null;
        packets--;
        bytes -= item.size;
    }
}
