package org.tamanoir.benchmarks;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Writes a table as the dump of a BGP router with one peer: MRT, TABLE_DUMP_V2 (RFC 6396, section 4.3), each prefix with
 * origin, a path of four ASes, and next hop.
 *
 * <p>Thread contract: one thread.
 */
final class MrtWriter {
    private static final int TIME = 1_735_689_600;
    private static final int TABLE_DUMP_V2 = 13;
    private static final int PEER_INDEX_TABLE = 1;
    private static final int RIB_IPV4_UNICAST = 2;
    private static final int RIB_IPV6_UNICAST = 4;
    private static final byte[] ORIGIN = {0x40, 1, 1, 0};
    /** AS_PATH with a sequence of four ASes of 4 bytes. */
    private static final byte[] AS_PATH = {
        0x40, 2, 18, 2, 4, 0, 0, (byte) 0xFC, 0, 0, 0, (byte) 0xFC, 1, 0, 0, (byte) 0xFC, 2, 0, 0, (byte) 0xFC, 3
    };
    /** 198.51.100.0, and 2001:db8:: for IPv6: the last byte is the number of the next hop. */
    private static final int NEXT_HOP_IPV4 = 0xC633_6400;

    private static final long NEXT_HOP_IPV6 = 0x2001_0DB8L << 32;

    private final RouteGenerator ipv4;
    private final RouteGenerator ipv6;
    private final ByteBuffer body = ByteBuffer.allocate(256);
    private int sequence;

    MrtWriter(RouteGenerator ipv4, RouteGenerator ipv6) {
        this.ipv4 = ipv4;
        this.ipv6 = ipv6;
    }

    /** Writes the dump, and leaves the stream open. */
    void write(OutputStream to) throws IOException {
        DataOutputStream out = new DataOutputStream(to);
        byte[] view = "generated".getBytes(StandardCharsets.US_ASCII);
        body.putInt(NEXT_HOP_IPV4).putShort((short) view.length).put(view).putShort((short) 1);
        // One peer: IPv4, AS of 4 bytes.
        body.put((byte) 2).putInt(NEXT_HOP_IPV4).putInt(NEXT_HOP_IPV4).putInt(0xFC00);
        record(out, PEER_INDEX_TABLE);
        for (int i = 0; i < ipv4.count; i++) {
            prefix(ipv4, i);
            body.putShort((short) (ORIGIN.length + AS_PATH.length + 7))
                    .put(ORIGIN)
                    .put(AS_PATH);
            body.put((byte) 0x40).put((byte) 3).put((byte) 4).putInt(NEXT_HOP_IPV4 | ipv4.hops[i]);
            record(out, RIB_IPV4_UNICAST);
        }
        for (int i = 0; i < ipv6.count; i++) {
            prefix(ipv6, i);
            body.putShort((short) (ORIGIN.length + AS_PATH.length + 20))
                    .put(ORIGIN)
                    .put(AS_PATH);
            body.put((byte) 0x80).put((byte) 14).put((byte) 17).put((byte) 16);
            body.putLong(NEXT_HOP_IPV6).putLong(ipv6.hops[i]);
            record(out, RIB_IPV6_UNICAST);
        }
    }

    /** Begins the record of a prefix, with the one entry that it has. */
    private void prefix(RouteGenerator routes, int i) {
        body.putInt(sequence++).put(routes.lengths[i]);
        for (int bit = 0; bit < routes.lengths[i]; bit += 8) {
            body.put((byte) (routes.prefixes[i] >>> 56 - bit));
        }
        body.putShort((short) 1).putShort((short) 0).putInt(TIME);
    }

    private void record(DataOutputStream out, int subtype) throws IOException {
        out.writeInt(TIME);
        out.writeShort(TABLE_DUMP_V2);
        out.writeShort(subtype);
        out.writeInt(body.position());
        out.write(body.array(), 0, body.position());
        body.clear();
    }
}
