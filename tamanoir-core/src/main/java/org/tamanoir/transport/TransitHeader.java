package org.tamanoir.transport;

import java.nio.ByteBuffer;
import org.tamanoir.anep.Checksum;

/**
 * Writes the headers of IP (RFC 791 without options, RFC 8200) and UDP (RFC 768) in front of a datagram, or that of IP
 * with protocol 1 or 58 in front of an ICMP message. Of an IPv4
 * header the kernel fills in identification and checksum; "do not fragment" is not set.
 *
 * <pre>
 *  IPv4 (20)                              IPv6 (40)                           UDP (8)
 *    0  0x45, TOS        2 x u8            0  6, traffic class, flow label     0  source port       u16
 *    2  total length     u16               4  payload length   u16             2  destination port  u16
 *    4  identification   u16, 0            6  next header 17   u8              4  length            u16
 *    6  fragment         u16, 0            7  hop limit        u8              6  checksum          u16
 *    8  TTL, protocol 17 2 x u8            8  source           16 bytes
 *   10  checksum         u16, 0           24  destination      16 bytes
 *   12  source           4 bytes
 *   16  destination      4 bytes
 * </pre>
 *
 * <p>A Router Alert stands between IP and UDP where there was one: of IPv4 the option of RFC 2113, 4 bytes; of IPv6 a
 * hop-by-hop header with that of RFC 2711, value 2, and padding, 8 bytes.
 */
final class TransitHeader {
    static final int V4_BYTES = 28;
    static final int V6_BYTES = 48;

    static final int V4_ALERT_BYTES = 4;
    static final int V6_ALERT_BYTES = 8;

    private static final int V4_ALERT = 0x9404_0000;
    private static final long V6_ALERT = 0x0502_0002_0100L; // behind next header and length
    private static final int HOP_BY_HOP = 0;

    private static final int PROTOCOL = LibC.SOL_UDP;
    static final int UDP_BYTES = 8;

    private static final int ICMP_V4 = 1;
    private static final int ICMP_V6 = 58;

    private TransitHeader() {}

    /**
     * Writes the header of a datagram from {@code source} to {@code destination}, addresses as in {@link UdpSender}.
     *
     * @param memory big-endian
     * @param payloadSum {@link Checksum#sum} of the payload
     * @param hopsLeft TTL or hop limit
     * @param trafficClass TOS or traffic class
     * @param hasAlert whether it has a Router Alert, which takes room more
     */
    static void put(
            ByteBuffer memory,
            int at,
            boolean v6,
            int payloadBytes,
            int payloadSum,
            long sourceHigh,
            long sourceLow,
            int sourcePort,
            long destinationHigh,
            long destinationLow,
            int destinationPort,
            int hopsLeft,
            int trafficClass,
            boolean hasAlert) {
        int udpBytes = UDP_BYTES + payloadBytes;
        long sum;
        int udp;
        if (v6) {
            int alertBytes = hasAlert ? V6_ALERT_BYTES : 0;
            udp = at + V6_BYTES + alertBytes - UDP_BYTES;
            memory.putInt(at, 6 << 28 | trafficClass << 20);
            int next = hasAlert ? HOP_BY_HOP : PROTOCOL;
            memory.putInt(at + 4, udpBytes + alertBytes << 16 | next << 8 | hopsLeft);
            if (hasAlert) {
                memory.putLong(udp - alertBytes, (long) PROTOCOL << 56 | V6_ALERT);
            }
            memory.putLong(at + 8, sourceHigh).putLong(at + 16, sourceLow);
            memory.putLong(at + 24, destinationHigh).putLong(at + 32, destinationLow);
            sum = words(sourceHigh) + words(sourceLow) + words(destinationHigh) + words(destinationLow);
        } else {
            int alertBytes = hasAlert ? V4_ALERT_BYTES : 0;
            udp = at + V4_BYTES + alertBytes - UDP_BYTES;
            int words = 5 + alertBytes / 4;
            memory.putInt(at, 4 << 28 | words << 24 | trafficClass << 16 | V4_BYTES + alertBytes + payloadBytes);
            if (hasAlert) {
                memory.putInt(udp - alertBytes, V4_ALERT);
            }
            memory.putInt(at + 4, 0);
            memory.putInt(at + 8, hopsLeft << 24 | PROTOCOL << 16);
            memory.putInt(at + 12, (int) sourceLow).putInt(at + 16, (int) destinationLow);
            sum = (sourceLow & 0xFFFF_FFFFL) + (destinationLow & 0xFFFF_FFFFL);
        }
        // The pseudo-header counts the length a second time.
        sum += PROTOCOL + 2L * udpBytes + sourcePort + destinationPort + payloadSum;
        int checksum = ~fold(sum) & 0xFFFF;
        memory.putInt(udp, sourcePort << 16 | destinationPort);
        memory.putInt(udp + 4, udpBytes << 16 | (checksum == 0 ? 0xFFFF : checksum)); // 0 would mean: none
    }

    /**
     * Writes the IP header of an ICMP message, as above.
     *
     * @param messageSum {@link Checksum#sum} of the message with 0 in place of its checksum
     * @return the checksum that the message should have: RFC 792, and RFC 4443, 2.3
     */
    static int putIcmp(
            ByteBuffer memory,
            int at,
            boolean v6,
            int messageBytes,
            int messageSum,
            long sourceHigh,
            long sourceLow,
            long destinationHigh,
            long destinationLow,
            int hopsLeft,
            int trafficClass) {
        if (!v6) {
            memory.putInt(at, 4 << 28 | 5 << 24 | trafficClass << 16 | V4_BYTES - UDP_BYTES + messageBytes);
            memory.putInt(at + 4, 0).putInt(at + 8, hopsLeft << 24 | ICMP_V4 << 16);
            memory.putInt(at + 12, (int) sourceLow).putInt(at + 16, (int) destinationLow);
            return ~messageSum & 0xFFFF;
        }
        memory.putInt(at, 6 << 28 | trafficClass << 20);
        memory.putInt(at + 4, messageBytes << 16 | ICMP_V6 << 8 | hopsLeft);
        memory.putLong(at + 8, sourceHigh).putLong(at + 16, sourceLow);
        memory.putLong(at + 24, destinationHigh).putLong(at + 32, destinationLow);
        long ends = words(sourceHigh) + words(sourceLow) + words(destinationHigh) + words(destinationLow);
        return ~fold(ends + ICMP_V6 + messageBytes + messageSum) & 0xFFFF;
    }

    /** Returns the sum of the 32-bit words, which folds into that of the 16-bit words. */
    private static long words(long address) {
        return (address >>> 32) + (address & 0xFFFF_FFFFL);
    }

    /** Folds carries of a sum below 2^47 until 16 bits remain. */
    private static int fold(long sum) {
        long folded = (sum >>> 32) + (sum & 0xFFFF_FFFFL);
        folded = (folded >>> 16) + (folded & 0xFFFF);
        folded = (folded >>> 16) + (folded & 0xFFFF);
        return (int) ((folded >>> 16) + (folded & 0xFFFF));
    }
}
