package org.tamanoir.qdisc;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;

/**
 * A first-in first-out list of items, linked through the items themselves: it allocates nothing.
 *
 * <p>Thread contract: one thread at a time.
 */
final class ItemQueue {
    private @Nullable Item head;
    private @Nullable Item tail;
    private int packets;
    private long octets;

    boolean isEmpty() {
        return head == null;
    }

    int packets() {
        return packets;
    }

    long octets() {
        return octets;
    }

    /** Whether an item of this size fits, or has to be taken in any case. */
    boolean takes(Item item, int limitPackets, long limitOctets) {
        return !item.mayDrop || (packets < limitPackets && octets + item.size <= limitOctets);
    }

    /** Adds the newest. */
    void add(Item item) {
        item.next = null;
        if (tail == null) {
            head = item;
        } else {
            tail.next = item;
        }
        tail = item;
        packets++;
        octets += item.size;
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
        unlink(null, item);
        return item;
    }

    /**
     * Drops the oldest of those that may be dropped until so many octets or so many packets are gone. Those that it has
     * to pass over are marked.
     */
    void shed(long shedOctets, int shedPackets, Drops drops, DropReason reason) {
        long octetsToGo = shedOctets;
        int packetsToGo = shedPackets;
        Item before = null;
        Item item = head;
        while (item != null && octetsToGo > 0 && packetsToGo > 0) {
            Item following = item.next;
            if (item.mayDrop) {
                unlink(before, item);
                octetsToGo -= item.size;
                packetsToGo--;
                drops.dropped(item, reason);
            } else {
                item.mark();
                before = item;
            }
            item = following;
        }
    }

    /** Gives all, oldest first. */
    void drain(Consumer<Item> taker) {
        Item item = poll();
        while (item != null) {
            taker.accept(item);
            item = poll();
        }
    }

    private void unlink(@Nullable Item before, Item item) {
        Item following = item.next;
        if (before == null) {
            head = following;
        } else {
            before.next = following;
        }
        if (following == null) {
            tail = before;
        }
        item.next = null;
        packets--;
        octets -= item.size;
    }
}
