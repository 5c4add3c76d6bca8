package org.tamanoir.routing;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Prefixes that nest and neighbour each other, and the plain model of a table: all prefixes, tried by length. */
final class RandomRoutes {
    private static final NextHop[] HOPS = new NextHop[200];

    final Map<Prefix, NextHop> model = new HashMap<>();
    private final int[] byLength = new int[Prefix.MAX_LENGTH + 1];
    private final Random random;

    static {
        for (int i = 0; i < HOPS.length; i++) {
            HOPS[i] =
                    new NextHop(InetAddress.getLoopbackAddress(), i, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);
        }
    }

    RandomRoutes(long seed) {
        random = new Random(seed);
    }

    NextHop hop() {
        return HOPS[random.nextInt(HOPS.length)];
    }

    /** Returns a prefix of any length, often inside another one or beside it. */
    Prefix prefix() {
        boolean isIpv4 = random.nextBoolean();
        long few = random.nextLong();
        few &= random.nextLong();
        long high = isIpv4 ? 0 : random.nextInt(8) == 0 ? few : 0x2001_0DB8_0000_0000L | few & 0x7_0307_0F01L;
        long low = isIpv4 ? 0xFFFFL << 32 | 0x0A00_0000L ^ few & 0xFF07_0703L : few & 7;
        int length = isIpv4
                ? 96 + (random.nextInt(3) == 0 ? 24 + random.nextInt(9) : random.nextInt(33))
                : random.nextInt(3) == 0 ? 60 + random.nextInt(69) : random.nextInt(129);
        return new Prefix(high & Prefix.highMask(length), low & Prefix.lowMask(length), length);
    }

    void put(Prefix prefix, NextHop hop) {
        byLength[prefix.length()] += model.put(prefix, hop) == null ? 1 : 0;
    }

    boolean remove(Prefix prefix) {
        boolean removed = model.remove(prefix) != null;
        byLength[prefix.length()] -= removed ? 1 : 0;
        return removed;
    }

    /** Returns the next hop of the longest prefix that holds this address. */
    @Nullable
    NextHop lookup(long high, long low) {
        int shortest = Prefix.isIpv4(high, low) ? 96 : 0;
        for (int length = Prefix.MAX_LENGTH; length >= shortest; length--) {
            NextHop hop = byLength[length] == 0
                    ? null
                    : model.get(new Prefix(high & Prefix.highMask(length), low & Prefix.lowMask(length), length));
            if (hop != null) {
                return hop;
            }
        }
        return null;
    }
}
