package org.tamanoir.cluster.setup;

import java.net.Inet6Address;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Neighbour discovery of IPv6 (RFC 4861, sections 4.3 and 4.4), behind the Ethernet header:
 *
 * <pre>
 *    0                   1                   2                   3
 *   +-------+---------------+---------------------------------------+
 *   |   6   | traffic class |              flow label               |
 *   +-------+---------------+-------+---------------+---------------+
 *   |        payload length         |   next = 58   |  hops = 255   |
 *   +-------------------------------+---------------+---------------+
 *   |              source (16); :: where it probes                  |
 *   +---------------------------------------------------------------+
 *   |                      destination (16)                         |
 *   +---------------+---------------+-------------------------------+
 *   | 135 asks, 136 |    code = 0   |           checksum            |
 *   |    answers    |               |                               |
 *   +---------------+---------------+-------------------------------+
 *   |R S O           (an answer: router, solicited, override)       |
 *   +---------------------------------------------------------------+
 *   |                         target (16)                           |
 *   +---------------------------------------------------------------+
 *   |   options: type, length in eights of octets, hardware address |
 * </pre>
 */
final class NeighbourFrame {
    static final int ETHER_TYPE = 0x86DD;

    private static final int HEADER_OCTETS = 40;
    private static final int BODY_OCTETS = 24;
    private static final int OPTION_OCTETS = 8;
    private static final int VERSION = 6;
    private static final int ICMP = 58;
    private static final int HOPS = 255; // a router would have made it less: it is of this link
    private static final int SOLICITATION = 135;
    private static final int ADVERTISEMENT = 136;
    private static final int OVERRIDE = 1 << 29;
    private static final int TARGET_HARDWARE = 2;
    private static final int ADDRESS_OCTETS = 16;
    private static final byte[] UNSPECIFIED = new byte[ADDRESS_OCTETS];
    private static final byte[] ALL_NODES = {(byte) 0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

    private NeighbourFrame() {}

    /** Asks who has an address, as one who is about to take it (RFC 4862, section 5.4.2). */
    static byte[] probe(Inet6Address address) {
        ByteBuffer frame = header(BODY_OCTETS, UNSPECIFIED, solicited(address));
        frame.put((byte) SOLICITATION)
                .put((byte) 0)
                .putShort((short) 0)
                .putInt(0)
                .put(address.getAddress());
        return checked(frame);
    }

    /** Tells all that the sender has the address, whatever they knew before (RFC 4861, section 7.2.6). */
    static byte[] announcement(byte[] hardware, Inet6Address address) {
        ByteBuffer frame = header(BODY_OCTETS + OPTION_OCTETS, address.getAddress(), ALL_NODES);
        frame.put((byte) ADVERTISEMENT)
                .put((byte) 0)
                .putShort((short) 0)
                .putInt(OVERRIDE)
                .put(address.getAddress());
        frame.put((byte) TARGET_HARDWARE).put((byte) 1).put(hardware, 0, OPTION_OCTETS - 2);
        return checked(frame);
    }

    /** The group in which whoever has the address is asked for it (RFC 4291, section 2.7.1): ff02::1:ffxx:xxxx. */
    private static byte[] solicited(Inet6Address address) {
        byte[] group = {(byte) 0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, (byte) 0xFF, 0, 0, 0};
        System.arraycopy(address.getAddress(), 13, group, 13, 3);
        return group;
    }

    /** The Ethernet address of that group (RFC 2464, section 7). */
    static byte[] solicitedHardware(Inet6Address address) {
        return groupHardware(solicited(address));
    }

    static byte[] allNodesHardware() {
        return groupHardware(ALL_NODES);
    }

    private static byte[] groupHardware(byte[] group) {
        return new byte[] {0x33, 0x33, group[12], group[13], group[14], group[15]};
    }

    private static ByteBuffer header(int bodyOctets, byte[] source, byte[] destination) {
        return ByteBuffer.allocate(HEADER_OCTETS + bodyOctets)
                .putInt(VERSION << 28)
                .putShort((short) bodyOctets)
                .put((byte) ICMP)
                .put((byte) HOPS)
                .put(source)
                .put(destination);
    }

    private static byte[] checked(ByteBuffer frame) {
        int bodyOctets = frame.capacity() - HEADER_OCTETS;
        frame.putShort(HEADER_OCTETS + 2, (short) ~sum(frame, bodyOctets));
        return frame.array();
    }

    /** The ones' complement sum of body and pseudo header (RFC 8200, section 8.1); 0xFFFF with a right checksum. */
    private static int sum(ByteBuffer frame, int bodyOctets) {
        long sum = bodyOctets + ICMP;
        int end = HEADER_OCTETS + bodyOctets;
        for (int at = 8; at < end; at += 2) { // from the source address on
            sum += at + 1 < end ? frame.getShort(at) & 0xFFFF : (frame.get(at) & 0xFF) << 8;
        }
        while (sum >>> 16 != 0) {
            sum = (sum & 0xFFFF) + (sum >>> 16);
        }
        return (int) sum;
    }

    /**
     * Whether the frame tells that its sender has the address, or is about to take it (RFC 4862, sections 5.4.3 and
     * 5.4.4).
     *
     * @param frame any octets
     */
    static boolean claims(byte[] frame, int length, Inet6Address address) {
        if (length < HEADER_OCTETS + BODY_OCTETS || length > frame.length) {
            return false;
        }
        ByteBuffer in = ByteBuffer.wrap(frame, 0, length);
        int bodyOctets = in.getShort(4) & 0xFFFF;
        boolean isOfLink = in.get(0) >>> 4 == VERSION && in.get(6) == ICMP && (in.get(7) & 0xFF) == HOPS;
        boolean isWhole = bodyOctets >= BODY_OCTETS && HEADER_OCTETS + bodyOctets <= length;
        if (!isOfLink || !isWhole || in.get(HEADER_OCTETS + 1) != 0 || sum(in, bodyOctets) != 0xFFFF) {
            return false;
        }
        int target = HEADER_OCTETS + 8;
        if (!Arrays.equals(frame, target, target + ADDRESS_OCTETS, address.getAddress(), 0, ADDRESS_OCTETS)) {
            return false;
        }
        int type = in.get(HEADER_OCTETS) & 0xFF;
        boolean probes = Arrays.equals(frame, 8, 8 + ADDRESS_OCTETS, UNSPECIFIED, 0, ADDRESS_OCTETS);
        return type == ADVERTISEMENT || type == SOLICITATION && probes;
    }
}
