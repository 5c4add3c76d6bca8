package org.tamanoir.benchmarks;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.tamanoir.anep.PacketBuilder;

/** The packets that all loads are made of: to 127.0.0.1, for the Monitor service. */
public final class Load {
    /** What one write of a flooding sender takes, in octets. */
    public static final int BATCH_OCTETS = 256 * 1024;

    /** Whom packets ask for. */
    public static final String SERVICE = "org.tamanoir.services.Monitor";

    private static final int HOP_BUDGET = 16;

    private Load() {}

    /** 127.0.0.1 and this port. */
    public static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(loopback(), port);
    }

    private static InetAddress loopback() {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 octets are an address", e);
        }
    }

    /** Destination, service key, class of service, stream and sequence, hop budget: 64 octets. */
    static PacketBuilder header(int streamId) {
        return header(loopback(), streamId);
    }

    /** The same to another address. */
    public static PacketBuilder header(InetAddress destination, int streamId) {
        return new PacketBuilder()
                .destination(destination).service(SERVICE).classOfService(0, 0).stream(streamId)
                        .hopBudget(HOP_BUDGET);
    }

    /**
     * The payload that makes a packet of {@code packetOctets} with this header.
     *
     * @throws IllegalArgumentException if the header alone is larger
     */
    public static ByteBuffer payload(PacketBuilder header, int packetOctets) {
        if (packetOctets < header.headerLength() || packetOctets > 65_535) {
            throw new IllegalArgumentException("packets of " + packetOctets + " octets: " + header.headerLength()
                    + " to 65535 are possible with the options of this load");
        }
        ByteBuffer payload = ByteBuffer.allocate(packetOctets - header.headerLength());
        for (int i = 0; i < payload.capacity(); i++) {
            payload.put(i, (byte) i);
        }
        return payload;
    }

    /** As many packets as fit {@code maxOctets}, at most {@code maxPackets}, back to back in one direct buffer. */
    public static ByteBuffer batch(int streamId, int packetOctets, int maxOctets, int maxPackets) {
        PacketBuilder header = header(streamId);
        ByteBuffer payload = payload(header, packetOctets);
        int packets = Math.max(1, Math.min(maxPackets, maxOctets / packetOctets));
        ByteBuffer batch = ByteBuffer.allocateDirect(packets * packetOctets);
        for (int i = 0; i < packets; i++) {
            header.write(batch, payload);
        }
        return batch.flip();
    }
}
