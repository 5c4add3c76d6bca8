package org.tamanoir.offload;

import java.util.Arrays;
import org.tamanoir.nodeos.NodeOs;

/**
 * The packets of a batch that came up from levels under a policy and are this thread's: the levels are told when all of
 * them have left, or ended. Who hands one over to another thread, or puts it into a queue, takes it out here; it is the
 * other's then, and put in again where it comes out.
 *
 * <p>Of a policy that waits for them they have left when they are out of the host's queues, which takes a moment: all
 * that were sent before the sockets were seen empty leave together, so that under steady traffic too there is a moment at
 * which none is pending.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class UpcallCompletions {
    /** By slot; as long as the largest slot so far wants. */
    private int[] packets = new int[0];
    /** Slots since the last {@link #report}, each once for every time that it was begun. */
    private int[] slots = new int[16];

    private int count;

    /** Slots whose packets have left the sockets, and how many each has. */
    private int[] leavingSlots = new int[4];

    private int[] leavingPackets = new int[4];
    private int leaving;

    /** Puts a packet in; slot 0 stands for none. */
    public void add(int slot) {
        add(slot, 1);
    }

    /** Puts packets in. */
    public void add(int slot, int more) {
        if (slot == 0) {
            return;
        }
        if (slot >= packets.length) {
            packets = Arrays.copyOf(packets, Integer.highestOneBit(slot) << 1);
        }
        if (packets[slot] == 0) {
            if (count == slots.length) {
                slots = Arrays.copyOf(slots, 2 * count);
            }
            slots[count++] = slot;
        }
        packets[slot] += more;
    }

    /** Takes a packet out: it is another's. */
    public void remove(int slot) {
        if (slot != 0) {
            packets[slot]--;
        }
    }

    /** Tells the levels: what is in has ended, or left long ago. */
    public void report(NodeOs levels) {
        settleLeaving(levels);
        for (int i = 0; i < count; i++) {
            settle(levels, slots[i]);
        }
        count = 0;
    }

    private void settle(NodeOs levels, int slot) {
        int settled = packets[slot];
        if (settled > 0) {
            packets[slot] = 0;
            levels.settled(slot, settled);
        }
    }

    /**
     * Tells the levels: what is in has ended, or been sent.
     *
     * @param outflow of what this thread sends
     * @return false when some of it is not out yet, so that this has to be called again soon
     */
    public boolean report(NodeOs levels, Outflow outflow) {
        keepAwaited(levels);
        leave(levels, outflow);
        if (leaving == 0) {
            leave(levels, outflow); // What was sent while others left.
        }
        return leaving == 0 && count == 0;
    }

    /** Settles packets that no policy waits for; forgets slots without packets. */
    private void keepAwaited(NodeOs levels) {
        int stay = 0;
        for (int i = 0; i < count; i++) {
            if (!levels.isAwaited(slots[i])) {
                settle(levels, slots[i]);
            } else if (packets[slots[i]] > 0) {
                slots[stay++] = slots[i];
            }
        }
        count = stay;
    }

    private void leave(NodeOs levels, Outflow outflow) {
        if (leaving == 0 && count > 0 && outflow.hasLeftSockets()) {
            takeLeaving();
        }
        if (leaving > 0 && outflow.isOut()) {
            settleLeaving(levels);
        }
    }

    private void takeLeaving() {
        for (int i = 0; i < count; i++) {
            int sent = packets[slots[i]];
            if (sent > 0) {
                packets[slots[i]] = 0;
                if (leaving == leavingSlots.length) {
                    leavingSlots = Arrays.copyOf(leavingSlots, 2 * leaving);
                    leavingPackets = Arrays.copyOf(leavingPackets, 2 * leaving);
                }
                leavingSlots[leaving] = slots[i];
                leavingPackets[leaving++] = sent;
            }
        }
        count = 0;
    }

    private void settleLeaving(NodeOs levels) {
        for (int i = 0; i < leaving; i++) {
            levels.settled(leavingSlots[i], leavingPackets[i]);
        }
        leaving = 0;
    }
}
