package org.tamanoir.routing;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a BGP table in MRT, TABLE_DUMP_V2 (RFC 6396, section 4.3), with path identifiers too (RFC 8050, section 4).
 *
 * <pre>
 *   record: | time 4 | type 2 = 13 | subtype 2 | length 4 | body |
 *   1 peers: | collector 4 | name length 2 | name | count 2 | peers: | kind 1 | id 4 | address 4 or 16 | AS 2 or 4 |
 *   2, 4 IPv4, IPv6 unicast; 8, 10 the same with path identifiers:
 *       | sequence 4 | prefix length 1 | prefix | count 2 | entries:
 *           | peer 2 | time 4 | path identifier 4, of 8 and 10 alone | length 2 | attributes |
 * </pre>
 *
 * <p>Other subtypes of the type are passed over. A record is read whole before anything of it counts. Thread contract:
 * one thread.
 */
final class MrtTable {
    static final int HEADER_BYTES = 12;
    /** Some 60 peers with long paths make 10 KiB a record. */
    private static final int MAX_RECORD_BYTES = 4 << 20;

    private static final int TABLE_DUMP_V2 = 13;
    private static final int PEERS = 1;
    private static final int IPV4 = 2;
    private static final int IPV6 = 4;
    private static final int IPV4_ADD_PATH = 8;
    private static final int IPV6_ADD_PATH = 10;
    private static final int NEXT_HOP = 3;
    private static final int MP_REACH = 14;
    private static final int EXTENDED_LENGTH = 0x10;

    private final InputStream in;
    private final RouteFile file;
    private final int wantedPeer;
    private ByteBuffer body = ByteBuffer.allocate(1 << 16);
    private long record;
    private int peers = -1;
    /** BGP's next hop of the entry at hand. */
    private long high;

    private long low;

    MrtTable(InputStream in, RouteFile file, int wantedPeer) {
        this.in = in;
        this.file = file;
        this.wantedPeer = wantedPeer;
    }

    /** Reads records to the end, or to one behind which nothing can be found. */
    void read() throws IOException {
        byte[] header = new byte[HEADER_BYTES];
        for (int n = in.readNBytes(header, 0, HEADER_BYTES); n > 0; n = in.readNBytes(header, 0, HEADER_BYTES)) {
            if (n < HEADER_BYTES) {
                throw new EOFException();
            }
            record++;
            ByteBuffer fields = ByteBuffer.wrap(header);
            int type = fields.getShort(4) & 0xFFFF;
            int length = fields.getInt(8);
            if (type != TABLE_DUMP_V2) {
                problem("type " + type + " is no entry of a table: a dump of type 13, TABLE_DUMP_V2, is wanted");
                return;
            }
            if (length < 0 || length > MAX_RECORD_BYTES) {
                problem("a record of " + (length & 0xFFFF_FFFFL) + " bytes: at most " + MAX_RECORD_BYTES
                        + "; this is no MRT file, or a damaged one");
                return;
            }
            fill(length);
            @Nullable String problem = read(fields.getShort(6));
            if (problem != null) {
                problem(problem);
            }
        }
    }

    private void fill(int length) throws IOException {
        if (body.capacity() < length) {
            body = ByteBuffer.allocate(Math.max(length, 2 * body.capacity()));
        }
        body.clear().limit(length);
        if (in.readNBytes(body.array(), 0, length) < length) {
            throw new EOFException();
        }
    }

    private void problem(String text) {
        file.problem(": record " + record, text);
    }

    /** Returns what is wrong with the record, null = nothing. */
    private @Nullable String read(int subtype) throws IOException {
        try {
            return switch (subtype) {
                case PEERS -> readPeers();
                case IPV4 -> readPrefix(true, false);
                case IPV6 -> readPrefix(false, false);
                case IPV4_ADD_PATH -> readPrefix(true, true);
                case IPV6_ADD_PATH -> readPrefix(false, true);
                default -> null;
            };
        } catch (BufferUnderflowException e) {
            return "ends before what it announces; the file is damaged";
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private @Nullable String readPeers() {
        skip(4);
        skip(body.getShort() & 0xFFFF);
        int count = body.getShort() & 0xFFFF;
        for (int i = 0; i < count; i++) {
            int kind = body.get();
            skip(4 + ((kind & 1) != 0 ? 16 : 4) + ((kind & 2) != 0 ? 4 : 2));
        }
        peers = count;
        return wantedPeer < count
                ? ending()
                : "there is no peer " + wantedPeer + ": the dump has " + count + ", from 0";
    }

    private @Nullable String readPrefix(boolean isIpv4, boolean hasPaths) throws IOException {
        if (peers < 0) {
            return "a prefix before the list of peers; the file's beginning is missing";
        }
        skip(4);
        int length = body.get() & 0xFF;
        int max = isIpv4 ? 32 : Prefix.MAX_LENGTH;
        if (length > max) {
            return "prefix length " + length + ": must be 0 to " + max;
        }
        Prefix prefix = prefix(isIpv4, length);
        boolean isTaken = false;
        for (int left = body.getShort() & 0xFFFF; left > 0; left--) {
            int peer = body.getShort() & 0xFFFF;
            if (peer >= peers) {
                return "peer " + peer + ": the dump has " + peers + ", from 0";
            }
            skip(hasPaths ? 8 : 4);
            int end = body.getShort() & 0xFFFF;
            end += body.position();
            if (end > body.limit()) {
                throw new BufferUnderflowException();
            }
            if (!isTaken && (wantedPeer < 0 || peer == wantedPeer)) {
                if (!findNextHop(end)) {
                    return prefix + ": no next hop among its attributes";
                }
                isTaken = true;
            }
            body.position(end);
        }
        String problem = ending();
        if (problem == null && isTaken) {
            file.put(prefix, high, low);
        }
        return problem;
    }

    private @Nullable String ending() {
        return body.hasRemaining() ? body.remaining() + " bytes behind its end; the file is damaged" : null;
    }

    /** Reads a prefix; bits behind it have no meaning (RFC 4271, section 4.3). */
    private Prefix prefix(boolean isIpv4, int length) {
        long first = 0;
        long second = 0;
        for (int i = 0; i < (length + 7) / 8; i++) {
            long bits = body.get() & 0xFFL;
            first |= i < 8 ? bits << 56 - 8 * i : 0;
            second |= i < 8 ? 0 : bits << 120 - 8 * i;
        }
        first &= Prefix.highMask(length);
        second &= Prefix.lowMask(length);
        return isIpv4
                ? new Prefix(0, Prefix.IPV4.low() | first >>> 32, length + Prefix.IPV4.length())
                : new Prefix(first, second, length);
    }

    /** Finds the next hop among attributes that end there; MP_REACH says it alone (RFC 6396, 4.3.4), or whole. */
    private boolean findNextHop(int end) {
        boolean found = false;
        while (body.position() < end) {
            int flags = body.get();
            int type = body.get() & 0xFF;
            int length = (flags & EXTENDED_LENGTH) != 0 ? body.getShort() & 0xFFFF : body.get() & 0xFF;
            int next = body.position() + length;
            if (next > end) {
                throw new BufferUnderflowException();
            }
            if (type == NEXT_HOP && length == 4) {
                high = 0;
                low = Prefix.IPV4.low() | body.getInt() & 0xFFFF_FFFFL;
                found = true;
            } else if (type == MP_REACH && length >= 17) {
                // The whole attribute begins with an address family, 1 or 2 in 2 bytes, and a subsequent one.
                int lengthAt = body.position() + (body.get(body.position()) == 0 ? 3 : 0);
                int bytes = body.get(lengthAt) & 0xFF;
                if (bytes < 16 || lengthAt + 1 + bytes > next) {
                    throw new BufferUnderflowException();
                }
                high = body.getLong(lengthAt + 1);
                low = body.getLong(lengthAt + 9);
                found = true;
            }
            body.position(next);
        }
        return found;
    }

    private void skip(int bytes) {
        if (bytes > body.remaining()) {
            throw new BufferUnderflowException();
        }
        body.position(body.position() + bytes);
    }
}
