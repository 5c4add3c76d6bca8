package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.Seeds;

/** Look-ups made ahead say what single ones say, along packets of which any is malformed, goes elsewhere or is not sent. */
class LookAheadTest {
    private static final int PACKETS = 4000;
    private static final int BYTES = 80;
    private static final long IPV4 = 0xFFFF_0A00_0000L;
    private static final long IPV6 = 0x2001_0DB8L << 32;

    private final RoutingTable routes = new RoutingTable();
    private final LookAhead ahead = new LookAhead(Anep.DEFAULT_TYPE_ID);
    private final ByteBuffer memory = ByteBuffer.allocate(PACKETS * BYTES);
    private final long[] highs = new long[PACKETS];
    private final long[] lows = new long[PACKETS];
    /** The packet behind the one in hand. */
    private int next;

    private int shows;

    private static NextHop via(int number) {
        return new NextHop(
                Addresses.of(0, 0xFFFF_C000_0200L | number & 0xFF), 4000, NextHop.Transport.UDP, NextHop.Kind.HOST);
    }

    private void fill(int prefixes) {
        RouteSet set = new RouteSet();
        for (int i = 0; i < prefixes; i++) {
            set.put(new Prefix(0, IPV4 | (long) i << 8, 120), via(i));
            set.put(new Prefix(IPV6 | (long) i << 16, 0, 48), via(i + 1));
        }
        routes.replace(set);
    }

    private void write(SplittableRandom random, boolean bothFamilies) {
        for (int i = 0; i < PACKETS; i++) {
            boolean isIpv4 = !bothFamilies || random.nextInt(3) > 0;
            highs[i] = isIpv4 ? 0 : IPV6 | (long) random.nextInt(1 << 16) << 16;
            lows[i] = isIpv4 ? IPV4 | random.nextInt(1 << 24) : random.nextLong();
            PacketBuilder builder = new PacketBuilder().destination(Addresses.of(highs[i], lows[i]));
            Packet packet = builder.build(ByteBuffer.allocate(BYTES - builder.headerLength()));
            packet.copyTo(memory, i * BYTES);
        }
        ahead.along(this::show);
    }

    /** Shows packets as a batch of datagrams does, 500 a batch. */
    private void show(LookAhead to) {
        shows++;
        for (int i = next; i % 500 != 0 && !to.isFull(); i++) {
            to.see(memory, i * BYTES, (i + 1) * BYTES);
        }
    }

    private int lookup(int packet) {
        next = packet + 1;
        return ahead.lookup(routes.fib(), highs[packet], lows[packet]);
    }

    private int expected(int packet) {
        return routes.fib().lookup(highs[packet], lows[packet]);
    }

    static long[] seeds() {
        return Seeds.ofCommit(LookAheadTest.class, 4);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyAnswerIsThatOfASingleLookUp(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        fill(1 << 16);
        write(random, seed % 2 == 0);
        int strange = random.nextInt(2, 40);
        for (int i = 0; i < 200; i++) {
            memory.put(random.nextInt(memory.capacity()), (byte) random.nextInt());
        }
        for (int i = 0; i < PACKETS; i++) {
            boolean isDropped = random.nextInt(strange) == 0;
            int asked = random.nextInt(strange) == 0 ? random.nextInt(PACKETS) : i; // Elsewhere, as its service says.
            next = i + 1;
            if (!isDropped) {
                assertThat(ahead.lookup(routes.fib(), highs[asked], lows[asked]))
                        .as("seed %s, packet %s asks for %s", seed, i, asked)
                        .isEqualTo(expected(asked));
            }
        }
        assertThat(shows).as("seed %s", seed).isPositive();
    }

    @Test
    void spreadDestinationsAreLookedUpTogether() {
        fill(1 << 16);
        write(new SplittableRandom(1), false);
        for (int i = 0; i < PACKETS; i++) {
            lookup(i);
        }
        assertThat(shows).isBetween(PACKETS / 32, PACKETS / 28);
    }

    @Test
    void routesThatHaveChangedAreAskedAnew() {
        fill(1 << 16);
        write(new SplittableRandom(1), false);
        for (int i = 0; i < 12; i++) {
            lookup(i); // The last of them from those looked up ahead.
        }
        NextHop other = via(200);
        routes.add(new Route(new Prefix(highs[12], lows[12], 128), other));

        assertThat(routes.fib().hop(lookup(12))).isEqualTo(other);
        assertThat(lookup(13)).isEqualTo(expected(13));
    }

    @Test
    void nobodyLooksAheadWhereThatIsOfNoUse() {
        fill(1 << 16);
        write(new SplittableRandom(1), false);
        SplittableRandom other = new SplittableRandom(2);
        for (int i = 0; i < PACKETS; i++) {
            next = i + 1;
            ahead.lookup(routes.fib(), 0, IPV4 | other.nextInt(1 << 24));
        }
        assertThat(shows).isLessThan(8);
    }

    @Test
    void nobodyLooksAheadForFewLookUps() {
        fill(1 << 16);
        write(new SplittableRandom(1), false);
        for (int i = 0; i < 8; i++) {
            lookup(i);
        }
        assertThat(shows).isZero();
    }

    @Test
    void nobodyLooksAheadInASmallTable() {
        fill(100);
        write(new SplittableRandom(1), false);
        for (int i = 0; i < PACKETS; i++) {
            lookup(i);
        }
        assertThat(shows).isZero();
    }
}
