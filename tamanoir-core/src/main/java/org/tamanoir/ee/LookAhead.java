package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Framing;
import org.tamanoir.routing.Fib;

/**
 * Look-ups for the packets behind the one in hand, made together with its own: each reads memory that is in no cache when
 * the table is large and destinations are spread, and reads of a batch overlap. What is found here is a guess, by
 * destination and generation of the routes: who asks for another destination, since the service has changed it, or under
 * other routes, is answered anew.
 *
 * <p>Thread contract: the service's thread.
 */
final class LookAhead {
    /** Packets looked at together, the one in hand included. */
    private static final int PACKETS = 32;
    /** Look-ups by themselves before the first look ahead: most streams have few destinations. */
    private static final int BEGINNING = 8;
    /** Look-ups by themselves after one that was of little use. */
    private static final int REST = 1024;
    /** Smaller tables stay in the processor's caches. */
    private static final long WORTH_BYTES = 1 << 20;

    private final int typeId;
    private final long[] highs = new long[PACKETS];
    private final long[] lows = new long[PACKETS];
    /** Those of IPv4. */
    private final int[] addresses = new int[PACKETS];

    private final char[] hops = new char[PACKETS];
    private Walk walk = ahead -> {};
    private boolean isIpv4;
    private int looks;
    private int count;
    private int next;
    private int used;
    private int generation;
    private int rest = BEGINNING;

    /** Where the packets lie that come next. */
    interface Walk {
        /** Has these be {@linkplain LookAhead#see seen}, in their order, without going to them. */
        void show(LookAhead ahead);
    }

    /** @param typeId of Tamanoir's packets; others are not looked at */
    LookAhead(int typeId) {
        this.typeId = typeId;
    }

    /** Looks along this walk from now on. */
    void along(Walk walk) {
        this.walk = walk;
    }

    /** Returns the index of an address's next hop, 0 = none. */
    int lookup(Fib fib, long high, long low) {
        if (next < count && generation == fib.generation()) {
            for (int i = next; i < count; i++) {
                if (lows[i] == low && highs[i] == high) {
                    next = i + 1;
                    used++;
                    return hops[i];
                }
            }
            next++; // It stands for a packet that goes elsewhere: none is waited for without end.
            return fib.lookup(high, low);
        }
        if (rest > 0) {
            rest--;
            return fib.lookup(high, low);
        }
        return lookAhead(fib, high, low);
    }

    private int lookAhead(Fib fib, long high, long low) {
        boolean isWorth = 4 * used >= count - 1 && fib.bytes() >= WORTH_BYTES;
        looks = 0;
        count = 0;
        next = 1;
        used = 0;
        if (!isWorth) {
            rest = REST;
            return fib.lookup(high, low);
        }
        isIpv4 = isIpv4(high, low);
        add(high, low);
        walk.show(this);
        if (count == 1) {
            return fib.lookup(high, low);
        }
        generation = fib.generation();
        if (isIpv4) {
            fib.lookup4(addresses, hops, count);
        } else {
            fib.lookup6(highs, lows, hops, count);
        }
        return hops[0];
    }

    private static boolean isIpv4(long high, long low) {
        return high == 0 && low >>> 32 == 0xFFFF;
    }

    private void add(long high, long low) {
        highs[count] = high;
        lows[count] = low;
        addresses[count++] = (int) low;
    }

    /**
     * Takes note of where the packet at {@code at} goes, which is sound as far as anybody knows.
     *
     * @param end behind the last byte that is there
     * @return its bytes; 0 when it is not whole, negative when it is malformed, or no more are to be seen
     */
    int see(ByteBuffer memory, int at, int end) {
        if (++looks == PACKETS) {
            return -1;
        }
        int length = Framing.next(memory, at, end);
        int destination = length > 0 ? Framing.destination(memory, at, typeId) : 0;
        if (destination > 0) {
            boolean isIpv6 = memory.getInt(destination) == Anep.SCHEME_IPV6;
            long high = isIpv6 ? memory.getLong(destination + 4) : 0;
            long low = isIpv6
                    ? memory.getLong(destination + 12)
                    : 0xFFFF_0000_0000L | memory.getInt(destination + 4) & 0xFFFF_FFFFL;
            if (isIpv4(high, low) == isIpv4) {
                add(high, low);
            }
        }
        return length;
    }

    /** Returns whether no more packets are to be seen. */
    boolean isFull() {
        return looks + 1 >= PACKETS;
    }
}
