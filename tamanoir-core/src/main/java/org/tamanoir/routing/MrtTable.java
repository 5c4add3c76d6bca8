package org.tamanoir.routing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a BGP table in MRT, TABLE_DUMP_V2 (RFC 6396, section 4.3), with path identifiers too (RFC 8050, section 4).
 *
 * <pre>
 *   1 peers: | collector 4 | name length 2 | name | count 2 | peers: | kind 1 | id 4 | address 4 or 16 | AS 2 or 4 |
 *   2, 4 IPv4, IPv6 unicast; 6 any family; 8, 10, 12 the same with path identifiers:
 *       | sequence 4 | family 2, subsequent one 1, of 6 and 12 alone | prefix length 1 | prefix | count 2 | entries:
 *           | peer 2 | time 4 | path identifier 4, of 8, 10 and 12 alone | length 2 | attributes |
 * </pre>
 *
 * <p>An entry may have no next hop, nor any attribute: a router dumps routes of its own so. Where they lead nowhere then,
 * the next entry counts. Other subtypes and families
 * are passed over, and IPv6 prefixes in ::ffff:0:0/96 left out. Thread contract: one thread.
 */
final class MrtTable {
    private static final int TABLE_DUMP_V2 = 13;
    private static final int PEERS = 1;
    private static final int IPV4 = 2;
    private static final int IPV6 = 4;
    private static final int GENERIC = 6;
    private static final int IPV4_ADD_PATH = 8;
    private static final int IPV6_ADD_PATH = 10;
    private static final int GENERIC_ADD_PATH = 12;
    private static final Set<Integer> PREFIXES =
            Set.of(IPV4, IPV6, GENERIC, IPV4_ADD_PATH, IPV6_ADD_PATH, GENERIC_ADD_PATH);

    private final MrtRecords records;
    private final RouteFile file;
    private final int wantedPeer;
    private final BgpFields fields = new BgpFields();
    private int peers = -1;

    MrtTable(InputStream in, RouteFile file, int wantedPeer) {
        this.records = new MrtRecords(in);
        this.file = file;
        this.wantedPeer = wantedPeer;
    }

    /** Reads records to the end, or to one behind which nothing can be found. */
    void read() throws IOException {
        try {
            while (records.next()) {
                if (records.type() != TABLE_DUMP_V2) {
                    throw new MrtRecords.UnusableException("type " + records.type()
                            + " is no entry of a table: a dump of type 13, TABLE_DUMP_V2, is wanted");
                }
                @Nullable String problem = read(records.body());
                if (problem != null) {
                    file.problem(records.where(), problem);
                }
            }
        } catch (MrtRecords.UnusableException e) {
            file.problem(records.where(), String.valueOf(e.getMessage()));
        }
    }

    /** Returns what is wrong with the record, null = nothing. */
    private @Nullable String read(ByteBuffer body) throws IOException {
        try {
            int subtype = records.subtype();
            if (peers < 0 && PREFIXES.contains(subtype)) {
                return "a prefix before the list of peers; the file's beginning is missing";
            }
            return switch (subtype) {
                case PEERS -> readPeers(body);
                case IPV4 -> readPrefix(body, true, false);
                case IPV6 -> readPrefix(body, false, false);
                case IPV4_ADD_PATH -> readPrefix(body, true, true);
                case IPV6_ADD_PATH -> readPrefix(body, false, true);
                case GENERIC -> readGeneric(body, false);
                case GENERIC_ADD_PATH -> readGeneric(body, true);
                default -> null;
            };
        } catch (BufferUnderflowException e) {
            return "ends before what it announces; the file is damaged";
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private @Nullable String readPeers(ByteBuffer body) {
        MrtRecords.skip(body, 4);
        MrtRecords.skip(body, body.getShort() & 0xFFFF);
        int count = body.getShort() & 0xFFFF;
        for (int i = 0; i < count; i++) {
            int kind = body.get();
            MrtRecords.skip(body, 4 + ((kind & 1) != 0 ? 16 : 4) + ((kind & 2) != 0 ? 4 : 2));
        }
        peers = count;
        return wantedPeer < count
                ? ending(body)
                : "there is no peer " + wantedPeer + ": the dump has " + count + ", from 0";
    }

    private @Nullable String readPrefix(ByteBuffer body, boolean isIpv4, boolean hasPaths) throws IOException {
        MrtRecords.skip(body, 4);
        return readEntries(body, isIpv4, hasPaths);
    }

    /** Reads a record that names its family; prefixes of others than unicast are passed over. */
    private @Nullable String readGeneric(ByteBuffer body, boolean hasPaths) throws IOException {
        MrtRecords.skip(body, 4);
        int family = BgpFields.unicastFamily(body, body.limit());
        return family == 0 ? null : readEntries(body, family == BgpFields.IPV4, hasPaths);
    }

    private @Nullable String readEntries(ByteBuffer body, boolean isIpv4, boolean hasPaths) throws IOException {
        Prefix prefix = BgpFields.prefix(body, isIpv4);
        boolean isWanted = false;
        @Nullable NextHop nextHop = null;
        for (int left = body.getShort() & 0xFFFF; left > 0; left--) {
            int peer = body.getShort() & 0xFFFF;
            if (peer >= peers) {
                return "peer " + peer + ": the dump has " + peers + ", from 0";
            }
            MrtRecords.skip(body, hasPaths ? 8 : 4);
            int end = body.getShort() & 0xFFFF;
            end = MrtRecords.end(body, end);
            if (nextHop == null && (wantedPeer < 0 || peer == wantedPeer)) {
                isWanted = true;
                nextHop = findNextHop(body, end, isIpv4) ? file.by(fields.high(), fields.low()) : file.byItself(prefix);
            }
            body.position(end);
        }
        String problem = ending(body);
        if (problem == null && isWanted) {
            if (!isIpv4 && prefix.isIpv4()) {
                file.leaveOut();
            } else if (nextHop == null) {
                file.leaveOutWithoutNextHop();
            } else {
                file.put(prefix, nextHop);
            }
        }
        return problem;
    }

    private static @Nullable String ending(ByteBuffer body) {
        return body.hasRemaining() ? body.remaining() + " bytes behind its end; the file is damaged" : null;
    }

    /** Finds the next hop among attributes that end there; where there are both, IPv4's is NEXT_HOP, IPv6's MP_REACH. */
    private boolean findNextHop(ByteBuffer body, int end, boolean isIpv4) {
        int wanted = isIpv4 ? BgpFields.NEXT_HOP : BgpFields.MP_REACH;
        boolean found = false;
        boolean isWanted = false;
        while (fields.nextAttribute(body, end)) {
            int next = fields.valueEnd();
            int type = fields.type();
            if (!isWanted && (type == wanted || !found)) {
                boolean has = type == BgpFields.NEXT_HOP && next - body.position() == 4 && fields.readNextHop(body, 4)
                        || type == BgpFields.MP_REACH && readMpReach(body, next);
                found |= has;
                isWanted = has && type == wanted;
            }
            body.position(next);
        }
        return found;
    }

    /**
     * Reads the next hop of MP_REACH, which dumps have alone (RFC 6396, section 4.3.4), | length 1 | next hop |, or as BGP
     * does behind | family 2 | subsequent one 1 |: a family begins with a zero byte.
     */
    private boolean readMpReach(ByteBuffer body, int end) {
        if (end - body.position() < 4) {
            return false;
        }
        if (body.get(body.position()) == 0) {
            MrtRecords.skip(body, 3);
        }
        int bytes = body.get() & 0xFF;
        return bytes <= end - body.position() && fields.readNextHop(body, bytes);
    }
}
