package org.tamanoir.kernel;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.tamanoir.anep.Checksum;

/** IP packets of tests, octet by octet as RFC 791, RFC 8200, RFC 768 and RFC 9293 say. */
final class PlainPackets {
    static final byte[] ALERT_V4 = {(byte) 0x94, 4, 0, 0};
    static final byte[] ALERT_V6 = {17, 0, 5, 2, 0, 2, 1, 0};
    static final int UDP = 17;
    static final int TCP = 6;
    static final int ICMP_V4 = 1;
    static final int ICMP_V6 = 58;

    private PlainPackets() {}

    /** A UDP packet; with IPv4 options, or an IPv6 extension header, between. */
    static byte[] udp(
            String from,
            String to,
            int fromPort,
            int toPort,
            int trafficClass,
            int hops,
            byte[] between,
            byte[] payload) {
        byte[] source = address(from);
        byte[] destination = address(to);
        ByteBuffer udp = ByteBuffer.allocate(8 + payload.length);
        udp.putShort((short) fromPort).putShort((short) toPort).putShort((short) udp.capacity());
        udp.putShort((short) 0).put(payload);
        int checksum = checksum(source, destination, UDP, udp.array());
        udp.putShort(6, (short) (checksum == 0 ? 0xFFFF : checksum));
        return ip(source, destination, UDP, trafficClass, hops, between, udp.array());
    }

    /** The segment that begins a connection. */
    static byte[] syn(String from, String to, int fromPort, int toPort, int trafficClass, byte[] between) {
        byte[] source = address(from);
        byte[] destination = address(to);
        ByteBuffer tcp = ByteBuffer.allocate(20);
        tcp.putShort((short) fromPort).putShort((short) toPort).putInt(1).putInt(0);
        tcp.putShort((short) 0x5002).putShort((short) 1000);
        tcp.putShort(16, (short) checksum(source, destination, TCP, tcp.array()));
        byte[] header = between.clone();
        if (source.length == 16 && header.length > 0) {
            header[0] = TCP;
        }
        return ip(source, destination, TCP, trafficClass, 64, header, tcp.array());
    }

    /**
     * An ICMP message, or one of ICMPv6.
     *
     * @param word octets 4 to 7
     */
    static byte[] icmp(String from, String to, int type, int code, int word, int trafficClass, int hops, byte[] data) {
        byte[] source = address(from);
        byte[] destination = address(to);
        ByteBuffer icmp = ByteBuffer.allocate(8 + data.length);
        icmp.put((byte) type).put((byte) code).putShort((short) 0).putInt(word).put(data);
        int checksum = source.length == 4
                ? ~Checksum.sum(icmp, 0, icmp.capacity()) & 0xFFFF
                : checksum(source, destination, ICMP_V6, icmp.array());
        icmp.putShort(2, (short) checksum);
        int protocol = source.length == 4 ? ICMP_V4 : ICMP_V6;
        return ip(source, destination, protocol, trafficClass, hops, new byte[0], icmp.array());
    }

    /** A packet of any protocol; IPv6 with an extension header says that header's type by {@code protocol}. */
    static byte[] ip(
            byte[] source,
            byte[] destination,
            int protocol,
            int trafficClass,
            int hops,
            byte[] between,
            byte[] content) {
        int header = source.length == 4 ? 20 : 40;
        ByteBuffer ip = ByteBuffer.allocate(header + between.length + content.length);
        if (source.length == 4) {
            ip.put((byte) (0x40 | 5 + between.length / 4)).put((byte) trafficClass);
            ip.putShort((short) ip.capacity()).putShort((short) 0x1234).putShort((short) 0);
            ip.put((byte) hops)
                    .put((byte) protocol)
                    .putShort((short) 0)
                    .put(source)
                    .put(destination);
        } else {
            ip.putInt(6 << 28 | trafficClass << 20 | 0x12345);
            ip.putShort((short) (between.length + content.length));
            ip.put((byte) (between.length > 0 && (protocol == UDP || protocol == TCP) ? 0 : protocol))
                    .put((byte) hops);
            ip.put(source).put(destination);
        }
        ip.put(between).put(content);
        return sealed(ip.array());
    }

    /** Puts the header checksum of IPv4 right. */
    static byte[] sealed(byte[] packet) {
        if (packet[0] >>> 4 == 4) {
            ByteBuffer ip = ByteBuffer.wrap(packet);
            ip.putShort(10, (short) 0);
            ip.putShort(10, (short) (~Checksum.sum(ip, 0, (packet[0] & 15) * 4) & 0xFFFF));
        }
        return packet;
    }

    /** Returns what a router makes of it: one hop less. */
    static byte[] routed(byte[] packet) {
        byte[] routed = packet.clone();
        routed[packet[0] >>> 4 == 4 ? 8 : 7]--;
        return sealed(routed);
    }

    /** Returns it with what an IPv4 sender chooses anew, identification, as 0, and an IPv6 flow label as 0. */
    static byte[] comparable(byte[] packet) {
        byte[] same = packet.clone();
        if (packet[0] >>> 4 == 4) {
            same[4] = 0;
            same[5] = 0;
            return sealed(same);
        }
        same[1] &= (byte) 0xF0;
        same[2] = 0;
        same[3] = 0;
        return same;
    }

    private static int checksum(byte[] source, byte[] destination, int protocol, byte[] content) {
        ByteBuffer pseudo = ByteBuffer.allocate(2 * source.length + 8 + content.length + 1);
        pseudo.put(source)
                .put(destination)
                .putInt(content.length)
                .putInt(protocol)
                .put(content);
        return ~Checksum.sum(pseudo, 0, 2 * source.length + 8 + content.length) & 0xFFFF;
    }

    static byte[] address(String text) {
        try {
            return InetAddress.getByName(text).getAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    /** Returns it in an untagged Ethernet frame. */
    static byte[] framed(byte[] to, byte[] from, byte[] packet) {
        ByteBuffer frame = ByteBuffer.allocate(PlainWire.IP_AT + packet.length);
        frame.put(to)
                .put(from)
                .putShort((short) (packet[0] >>> 4 == 4 ? 0x0800 : 0x86DD))
                .put(packet);
        return frame.array();
    }
}
