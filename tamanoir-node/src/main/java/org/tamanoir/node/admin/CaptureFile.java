package org.tamanoir.node.admin;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.tamanoir.anep.Anep;
import org.tamanoir.service.StreamInfo.Transport;

/**
 * Writes ANEP packets into a pcap file that Wireshark opens: one frame is one packet, with the time, the transport
 * and the addresses that it came with.
 *
 * <p>The link type is Wireshark's own for exported packets (252, {@code LINKTYPE_WIRESHARK_UPPER_PDU}): each frame
 * names the dissector, {@code anep}, so that Wireshark with {@code docs/wireshark/anep.lua} reads it on whatever
 * ports the node listens. With invented IP, UDP and TCP headers in its place the dissector would apply to ports 3322
 * to 3325 alone, and elsewhere after a setting; a packet of TCP would need several invented segments, since 65,535
 * bytes do not fit one, and sequence numbers that never were on the wire. Without the dissector Wireshark shows
 * times, addresses and bytes. The price: tcpdump, which knows no ANEP either, does not print the addresses.
 *
 * <pre>
 *   file:   magic A1B23C4D (times in ns), version 2.4, 0, 0, snapshot length, link type 252    24 bytes
 *   frame:  seconds, ns, bytes here, bytes of all                                            16 bytes
 *           tags: type (2), length (2), value padded to 4; the last is of type 0 and length 0
 *           the packet
 * </pre>
 *
 * <p>All numbers are big-endian, which the magic says. Thread contract: one thread.
 *
 * @see <a href="https://www.tcpdump.org/linktypes.html">Link-layer header types</a>
 */
public final class CaptureFile implements AutoCloseable {
    private static final int MAGIC_NS = 0xA1B23C4D;
    private static final int LINKTYPE_WIRESHARK_UPPER_PDU = 252;
    private static final int FILE_HEADER_BYTES = 24;
    private static final int FRAME_HEADER_BYTES = 16;
    private static final int MAX_TAGS_BYTES = 80;
    private static final int SNAPSHOT_BYTES = MAX_TAGS_BYTES + Anep.MAX_PACKET_OCTETS;

    // Tags and values of Wireshark's wsutil/exported_pdu_tlvs.h.
    private static final int TAG_END = 0;
    private static final int TAG_DISSECTOR_NAME = 12;
    private static final int TAG_IPV4_SOURCE = 20;
    private static final int TAG_IPV4_DESTINATION = 21;
    private static final int TAG_IPV6_SOURCE = 22;
    private static final int TAG_IPV6_DESTINATION = 23;
    private static final int TAG_PORT_TYPE = 24;
    private static final int TAG_SOURCE_PORT = 25;
    private static final int TAG_DESTINATION_PORT = 26;
    private static final int PORT_TYPE_TCP = 2;
    private static final int PORT_TYPE_UDP = 3;
    private static final byte[] DISSECTOR = "anep".getBytes(StandardCharsets.US_ASCII);

    private final OutputStream out;
    private final ByteBuffer head = ByteBuffer.allocate(FRAME_HEADER_BYTES + MAX_TAGS_BYTES);

    /**
     * Writes the file's header.
     *
     * @param out buffered, if that is wanted; {@link #close} closes it
     */
    public CaptureFile(OutputStream out) throws IOException {
        this.out = out;
        ByteBuffer header = ByteBuffer.allocate(FILE_HEADER_BYTES);
        header.putInt(MAGIC_NS)
                .putShort((short) 2)
                .putShort((short) 4)
                .putInt(0)
                .putInt(0);
        header.putInt(SNAPSHOT_BYTES).putInt(LINKTYPE_WIRESHARK_UPPER_PDU);
        out.write(header.array());
    }

    /**
     * Writes one packet.
     *
     * @param epochNs when it came, in ns since 1970
     * @param source with its address looked up
     * @param destination with its address looked up
     * @throws IllegalArgumentException if the packet has more than 65,535 bytes, or an address was not looked up
     */
    public void write(
            long epochNs, Transport transport, InetSocketAddress source, InetSocketAddress destination, byte[] packet)
            throws IOException {
        if (packet.length > Anep.MAX_PACKET_OCTETS) {
            throw new IllegalArgumentException(
                    "packet of " + packet.length + " bytes: at most " + Anep.MAX_PACKET_OCTETS + " are one of ANEP");
        }
        head.clear().position(FRAME_HEADER_BYTES);
        tag(TAG_DISSECTOR_NAME, DISSECTOR);
        address(source, TAG_IPV4_SOURCE, TAG_IPV6_SOURCE);
        address(destination, TAG_IPV4_DESTINATION, TAG_IPV6_DESTINATION);
        tag(TAG_PORT_TYPE, transport == Transport.TCP ? PORT_TYPE_TCP : PORT_TYPE_UDP);
        tag(TAG_SOURCE_PORT, source.getPort());
        tag(TAG_DESTINATION_PORT, destination.getPort());
        tag(TAG_END, new byte[0]);
        int frameBytes = head.position() - FRAME_HEADER_BYTES + packet.length;
        long second = TimeUnit.SECONDS.toNanos(1);
        head.putInt(0, (int) Math.floorDiv(epochNs, second)).putInt(4, (int) Math.floorMod(epochNs, second));
        head.putInt(8, frameBytes).putInt(12, frameBytes);
        out.write(head.array(), 0, head.position());
        out.write(packet);
    }

    private void address(InetSocketAddress endpoint, int ipv4Tag, int ipv6Tag) {
        InetAddress address = endpoint.getAddress();
        if (address == null) {
            throw new IllegalArgumentException(endpoint + ": a capture has addresses, not names: look it up first");
        }
        tag(address instanceof Inet4Address ? ipv4Tag : ipv6Tag, address.getAddress());
    }

    private void tag(int type, int value) {
        head.putShort((short) type).putShort((short) Integer.BYTES).putInt(value);
    }

    /** Values are of 0, 4 or 16 bytes, so that none needs padding. */
    private void tag(int type, byte[] value) {
        head.putShort((short) type).putShort((short) value.length).put(value);
    }

    /** Makes what was written visible to whoever reads the file. */
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
