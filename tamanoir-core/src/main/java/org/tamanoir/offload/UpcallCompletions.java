package org.tamanoir.offload;

import java.util.Arrays;
import org.tamanoir.nodeos.NodeOs;

/**
 * The packets of a batch that came up from levels under a policy and are this thread's: the levels are told when all of
 * them have left, or ended. Who hands one over to another thread, or puts it into a queue, takes it out here; it is the
 * other's then, and put in again where it comes out.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class UpcallCompletions {
    /** By slot; as long as the largest slot so far wants. */
    private int[] packets = new int[0];
    /** Slots since the last {@link #report}, each once for every time that it was begun. */
    private int[] slots = new int[16];

    private int count;

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

    /** Tells the levels: what is in has left or ended. */
    public void report(NodeOs levels) {
        for (int i = 0; i < count; i++) {
            int slot = slots[i];
            int settled = packets[slot];
            if (settled > 0) {
                packets[slot] = 0;
                levels.settled(slot, settled);
            }
        }
        count = 0;
    }
}
