package org.tamanoir.benchmarks;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Random;

/**
 * Writes changes of a table as a collector of BGP's messages does: MRT, BGP4MP_MESSAGE_AS4 (RFC 6396, section 4.4.3), one
 * UPDATE of one prefix a record. Half of the changes are of one prefix in a hundred, as those that flap; one in seven
 * withdraws a prefix, which its next change announces again; the others give it another next hop.
 *
 * <p>Thread contract: one thread.
 */
final class UpdateWriter {
    /** Changes a second that the times of the records have. */
    private static final int PER_SECOND = 10;

    private static final int BEGIN_SECONDS = 0x6500_0000;
    private static final int BGP4MP = 16;
    private static final int MESSAGE_AS4 = 4;
    private static final int AS = 64496;
    private static final int UPDATE = 2;
    /** Begin of NEXT_HOP, MP_REACH, MP_UNREACH: flags, type. */
    private static final short NEXT_HOP = 0x4003;

    private static final short MP_REACH = (short) 0x800E;
    private static final short MP_UNREACH = (short) 0x800F;
    private static final int NET_198_51_100 = 0xC633_6400;
    private static final long NET_2001_DB8 = 0x2001_0DB8L << 32;

    private final RouteGenerator ipv4;
    private final RouteGenerator ipv6;
    private final Random random;
    private final BitSet withdrawn = new BitSet();
    private final ByteBuffer record = ByteBuffer.allocate(256);

    UpdateWriter(RouteGenerator ipv4, RouteGenerator ipv6, long seed) {
        this.ipv4 = ipv4;
        this.ipv6 = ipv6;
        this.random = new Random(seed);
    }

    /** Writes so many changes, behind those written before. */
    void write(OutputStream out, int changes) throws IOException {
        int routes = ipv4.count + ipv6.count;
        for (int i = 0; i < changes; i++) {
            int route = random.nextInt(routes);
            if (random.nextBoolean()) {
                route -= route % 100;
            }
            boolean isAnnounced = withdrawn.get(route) || random.nextInt(7) != 0;
            withdrawn.set(route, !isAnnounced);
            record.clear();
            begin(BEGIN_SECONDS + i / PER_SECOND);
            if (route < ipv4.count) {
                ipv4(route, isAnnounced);
            } else {
                ipv6(route - ipv4.count, isAnnounced);
            }
            end();
            out.write(record.array(), 0, record.limit());
        }
    }

    private void begin(int seconds) {
        record.putInt(seconds)
                .putShort((short) BGP4MP)
                .putShort((short) MESSAGE_AS4)
                .putInt(0);
        record.putInt(AS).putInt(AS).putShort((short) 0).putShort((short) 1);
        record.putInt(NET_198_51_100 | 1).putInt(NET_198_51_100 | 254);
        record.putLong(-1).putLong(-1).putShort((short) 0).put((byte) UPDATE);
    }

    /** Writes the lengths of record and message, which begin 12 and 48 bytes behind its start. */
    private void end() {
        record.flip();
        record.putInt(8, record.limit() - 12).putShort(48, (short) (record.limit() - 32));
    }

    private void ipv4(int route, boolean isAnnounced) {
        int prefixBytes = 1 + (ipv4.lengths[route] + 7) / 8;
        record.putShort((short) (isAnnounced ? 0 : prefixBytes));
        if (isAnnounced) {
            record.putShort((short) 7).putShort(NEXT_HOP).put((byte) 4).putInt(NET_198_51_100 | hop());
        }
        prefix(ipv4, route);
        if (!isAnnounced) {
            record.putShort((short) 0);
        }
    }

    private void ipv6(int route, boolean isAnnounced) {
        int bytes = 3 + (isAnnounced ? 18 : 0) + 1 + (ipv6.lengths[route] + 7) / 8;
        record.putShort((short) 0).putShort((short) (3 + bytes));
        record.putShort(isAnnounced ? MP_REACH : MP_UNREACH).put((byte) bytes);
        record.putShort((short) 2).put((byte) 1);
        if (isAnnounced) {
            record.put((byte) 16).putLong(NET_2001_DB8).putLong(hop()).put((byte) 0);
        }
        prefix(ipv6, route);
    }

    private int hop() {
        return 1 + random.nextInt(RouteGenerator.HOPS);
    }

    private void prefix(RouteGenerator routes, int route) {
        int length = routes.lengths[route];
        record.put((byte) length);
        for (int i = 0; i < (length + 7) / 8; i++) {
            record.put((byte) (routes.prefixes[route] >>> 56 - 8 * i));
        }
    }
}
