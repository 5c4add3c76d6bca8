package org.tamanoir.testkit;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;

/**
 * One stream of packets with text in them, as {@code tamanoir send} makes it.
 *
 * <p>Thread contract: one thread.
 */
final class TextPackets {
    private static final InetAddress SOURCE = address(10, 0, 1, 2);
    private static final InetAddress DESTINATION = address(10, 0, 2, 7);
    private static final int HOP_BUDGET = 16;

    private final PacketBuilder builder;

    /** For the service of this name. */
    TextPackets(String service) {
        builder = new PacketBuilder()
                .source(SOURCE).destination(DESTINATION).service(service).classOfService(0, 0).stream(1)
                        .hopBudget(HOP_BUDGET)
                        .checksum();
    }

    Packet next(String payload) {
        return builder.build(ByteBuffer.wrap(payload.getBytes(StandardCharsets.UTF_8)));
    }

    static InetAddress address(int a, int b, int c, int d) {
        try {
            return InetAddress.getByAddress(new byte[] {(byte) a, (byte) b, (byte) c, (byte) d});
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 bytes are an address", e);
        }
    }
}
