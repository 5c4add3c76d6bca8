package org.tamanoir.routing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads what BGP routers told a collector, in MRT: BGP4MP and BGP4MP_ET (RFC 6396, section 4.4), with path identifiers
 * too (RFC 8050, section 3); plain, in gzip or in bzip2.
 *
 * <pre>
 *   16, 17 the same behind microseconds 4; 1, 4 with ASs of 2, of 4 bytes; 8, 9 the same with path identifiers:
 *       | peer's AS 2 or 4 | own AS 2 or 4 | interface 2 | family 2 | peer 4 or 16 | own address 4 or 16 | message |
 *   message: | marker 16 = ones | length 2 | type 1 = 2 |
 *       | length 2 | withdrawn prefixes | length 2 | attributes | announced prefixes |
 *   MP_REACH:   | family 2 | subsequent one 1 = 1 | length 1 | next hop | reserved 1 | announced prefixes |
 *   MP_UNREACH: | family 2 | subsequent one 1 = 1 | withdrawn prefixes |
 * </pre>
 *
 * <p>A prefix without a next hop that routes have is shared out by its own bits. Other subtypes, messages and families
 * are passed over, and IPv6 prefixes in ::ffff:0:0/96 left out. All peers and
 * paths count as one: a prefix that one of them withdraws is withdrawn. Thread contract: one thread.
 */
public final class MrtUpdates {
    /** Takes changes in their order. */
    public interface Changes {
        /** Takes a prefix that leads to this next hop of the node now. */
        void announced(Prefix prefix, NextHop nextHop);

        /** Takes a prefix that leads nowhere now. */
        void withdrawn(Prefix prefix);
    }

    private static final int BGP4MP = 16;
    private static final int BGP4MP_ET = 17;
    private static final int MICROSECONDS_BYTES = 4;
    private static final int MESSAGE = 1;
    private static final int MESSAGE_AS4 = 4;
    private static final int MESSAGE_ADD_PATH = 8;
    private static final int MESSAGE_AS4_ADD_PATH = 9;
    private static final int MARKER_BYTES = 16;
    private static final int UPDATE = 2;

    private final MrtRecords records;
    private final List<NextHop> via;
    private final Changes changes;
    private final BgpFields fields = new BgpFields();

    private MrtUpdates(InputStream in, List<NextHop> via, Changes changes) {
        this.records = new MrtRecords(in);
        this.via = via;
        this.changes = changes;
    }

    /**
     * Reads a file; of one that is wrong what stands before that has been taken.
     *
     * @param name stands before the problem
     * @param via next hops of this node, shared out by BGP's, as {@link RouteFile} does; one at least
     * @throws RouteFileException with the first thing that is wrong
     */
    public static void read(InputStream in, String name, List<NextHop> via, Changes changes) throws RouteFileException {
        FileProblems problems = new FileProblems(name);
        problems.during(() -> {
            MrtUpdates updates = new MrtUpdates(Unpacked.of(in), List.copyOf(via), changes);
            String problem = updates.read();
            if (problem != null) {
                problems.add(updates.records.where(), problem);
            }
        });
    }

    /** Returns what is wrong with the record that was read last, null = nothing. */
    private @Nullable String read() throws IOException {
        try {
            while (records.next()) {
                int type = records.type();
                if (type != BGP4MP && type != BGP4MP_ET) {
                    return "type " + type + " is no update: records of type 16 or 17, BGP4MP, are wanted";
                }
                ByteBuffer body = records.body();
                MrtRecords.skip(body, type == BGP4MP_ET ? MICROSECONDS_BYTES : 0);
                switch (records.subtype()) {
                    case MESSAGE -> read(body, 2, false);
                    case MESSAGE_AS4 -> read(body, 4, false);
                    case MESSAGE_ADD_PATH -> read(body, 2, true);
                    case MESSAGE_AS4_ADD_PATH -> read(body, 4, true);
                    default -> {}
                }
            }
            return null;
        } catch (MrtRecords.UnusableException e) {
            return e.getMessage();
        } catch (BufferUnderflowException e) {
            return "ends before what it announces; the file is damaged";
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    private void read(ByteBuffer body, int asBytes, boolean hasPaths) {
        MrtRecords.skip(body, 2 * asBytes + 2);
        int family = body.getShort();
        if (family != BgpFields.IPV4 && family != BgpFields.IPV6) {
            throw new IllegalArgumentException(
                    "address family " + (family & 0xFFFF) + " of its peer: 1 or 2 is wanted");
        }
        MrtRecords.skip(body, family == BgpFields.IPV4 ? 8 : 32);
        for (int i = 0; i < MARKER_BYTES; i++) {
            if (body.get() != -1) {
                throw new IllegalArgumentException("no BGP message where one begins; the file is damaged");
            }
        }
        int behind = body.remaining() - ((body.getShort() & 0xFFFF) - MARKER_BYTES);
        if (behind > 0) {
            throw new IllegalArgumentException(behind + " bytes behind its message; the file is damaged");
        }
        if (behind < 0) {
            throw new BufferUnderflowException();
        }
        if (body.get() == UPDATE) {
            readUpdate(body, hasPaths);
        }
    }

    private void readUpdate(ByteBuffer body, boolean hasPaths) {
        int withdrawnBytes = body.getShort() & 0xFFFF;
        withdraw(body, MrtRecords.end(body, withdrawnBytes), true, hasPaths);
        int attributeBytes = body.getShort() & 0xFFFF;
        int end = MrtRecords.end(body, attributeBytes);
        @Nullable NextHop hop = null;
        while (fields.nextAttribute(body, end)) {
            int next = fields.valueEnd();
            switch (fields.type()) {
                case BgpFields.NEXT_HOP -> hop = next - body.position() == 4 ? nextHop(body, 4) : null;
                case BgpFields.MP_REACH -> readMpReach(body, next, hasPaths);
                case BgpFields.MP_UNREACH -> readMpUnreach(body, next, hasPaths);
                default -> {}
            }
            body.position(next);
        }
        announce(body, body.limit(), true, hasPaths, hop);
    }

    private @Nullable NextHop nextHop(ByteBuffer body, int bytes) {
        return fields.readNextHop(body, bytes) ? RouteFile.share(via, fields.high(), fields.low()) : null;
    }

    private void readMpReach(ByteBuffer body, int end, boolean hasPaths) {
        int family = BgpFields.unicastFamily(body, end);
        if (family != 0) {
            int bytes = body.get() & 0xFF;
            int hopEnd = body.position() + bytes;
            if (hopEnd + 1 > end) {
                throw new BufferUnderflowException();
            }
            NextHop hop = nextHop(body, bytes);
            body.position(hopEnd + 1);
            announce(body, end, family == BgpFields.IPV4, hasPaths, hop);
        }
    }

    private void readMpUnreach(ByteBuffer body, int end, boolean hasPaths) {
        int family = BgpFields.unicastFamily(body, end);
        if (family != 0) {
            withdraw(body, end, family == BgpFields.IPV4, hasPaths);
        }
    }

    private void announce(ByteBuffer body, int end, boolean isIpv4, boolean hasPaths, @Nullable NextHop hop) {
        while (body.position() < end) {
            Prefix prefix = prefix(body, end, isIpv4, hasPaths);
            if (isIpv4 || !prefix.isIpv4()) {
                changes.announced(prefix, hop != null ? hop : RouteFile.share(via, prefix.high(), prefix.low()));
            }
        }
    }

    private void withdraw(ByteBuffer body, int end, boolean isIpv4, boolean hasPaths) {
        while (body.position() < end) {
            Prefix prefix = prefix(body, end, isIpv4, hasPaths);
            if (isIpv4 || !prefix.isIpv4()) {
                changes.withdrawn(prefix);
            }
        }
    }

    private static Prefix prefix(ByteBuffer body, int end, boolean isIpv4, boolean hasPaths) {
        MrtRecords.skip(body, hasPaths ? 4 : 0);
        Prefix prefix = BgpFields.prefix(body, isIpv4);
        if (body.position() > end) {
            throw new BufferUnderflowException();
        }
        return prefix;
    }
}
