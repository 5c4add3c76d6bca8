package org.tamanoir.node.admin;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** A pcap file of IPv4 packets (link type 101), as they would be captured on the way from one host to another. */
public final class RawCapture {
    private static final int CLIENT_PORT = 50_000;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int serverPort;
    private int clientPort = CLIENT_PORT;
    private int sequence = 1;

    public RawCapture(int serverPort) {
        this.serverPort = serverPort;
        ByteBuffer header =
                ByteBuffer.allocate(24).putInt(0xA1B2C3D4).putShort((short) 2).putShort((short) 4);
        bytes.writeBytes(header.putInt(16, 262_144).putInt(20, 101).array());
    }

    public RawCapture datagram(byte[] content) {
        ByteBuffer udp = ByteBuffer.allocate(8 + content.length);
        udp.putShort((short) clientPort).putShort((short) serverPort).putShort((short) udp.capacity());
        return frame(17, udp.putShort((short) 0).put(content).array());
    }

    /** A new TCP connection. */
    public RawCapture connection() {
        clientPort++;
        sequence = 1;
        return segment(new byte[0], 0x02);
    }

    public RawCapture segment(byte[] content) {
        return segment(content, 0x18);
    }

    private RawCapture segment(byte[] content, int flags) {
        ByteBuffer tcp = ByteBuffer.allocate(20 + content.length);
        tcp.putShort((short) clientPort)
                .putShort((short) serverPort)
                .putInt(sequence)
                .putInt(1);
        tcp.put((byte) 0x50)
                .put((byte) flags)
                .putShort((short) 0xFFFF)
                .putInt(0)
                .put(content);
        sequence += content.length + (flags == 0x02 ? 1 : 0);
        return frame(6, tcp.array());
    }

    private RawCapture frame(int protocol, byte[] content) {
        int length = 20 + content.length;
        ByteBuffer frame = ByteBuffer.allocate(16 + length);
        frame.putInt(0).putInt(0).putInt(length).putInt(length);
        frame.putShort((short) 0x4500).putShort((short) length).putInt(0);
        frame.put((byte) 64)
                .put((byte) protocol)
                .putShort((short) 0)
                .putInt(0x0A000001)
                .putInt(0x0A000002);
        bytes.writeBytes(frame.put(content).array());
        return this;
    }

    public Path writeTo(Path file) throws IOException {
        return Files.write(file, bytes.toByteArray());
    }
}
