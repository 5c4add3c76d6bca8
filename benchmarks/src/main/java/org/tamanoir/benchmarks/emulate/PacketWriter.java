package org.tamanoir.benchmarks.emulate;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.Addresses;

/**
 * Writes packets for arrivals: the header once, then what differs. A packet names a service, its destination, a class
 * and a hop budget; its payload begins with the time at which it came and the place of its service, {@value
 * #STATED_BYTES} bytes. One shorter than header and these is as long as that. Checked against {@link PacketBuilder} by a test.
 *
 * <p>Thread contract: one thread.
 */
final class PacketWriter {
    /** What a payload begins with: the time in ns, 8 bytes, and the place of the service, 4. */
    static final int STATED_BYTES = 12;
    /** The shortest packet, to a destination of IPv4: its header has 48 bytes. */
    static final int LEAST_BYTES = 48 + STATED_BYTES;

    private static final int HOPS = 16;
    private static final int LENGTH_AT = 6;
    private static final int CLASS_AT = 12;
    /** The address is the last in the header. */
    private final byte[] four;

    private final byte[] six;

    PacketWriter(String service) {
        four = header(service, Addresses.of(0, 0xFFFFL << 32));
        six = header(service, Addresses.of(1, 1));
    }

    private static byte[] header(String service, InetAddress address) {
        PacketBuilder builder = new PacketBuilder()
                .classOfService(0, 0)
                .hopBudget(HOPS)
                .service(service)
                .destination(address);
        ByteBuffer bytes = ByteBuffer.allocate(builder.headerLength());
        builder.write(bytes, ByteBuffer.allocate(0));
        return bytes.array();
    }

    /** Returns the bytes of the packet that {@link #write} writes. */
    static int bytes(Arrival arrival) {
        return Math.max(
                isIpv4(arrival) ? LEAST_BYTES : LEAST_BYTES + 12, Math.min(arrival.bytes, Anep.MAX_PACKET_OCTETS));
    }

    private static boolean isIpv4(Arrival arrival) {
        return arrival.high == 0 && arrival.low >>> 32 == 0xFFFF;
    }

    /** Writes a packet, which came at {@code ns}; returns its bytes. */
    int write(ByteBuffer into, int offset, Arrival arrival, long ns) {
        boolean isIpv4 = isIpv4(arrival);
        byte[] header = isIpv4 ? four : six;
        int headerBytes = header.length;
        int bytes = bytes(arrival);
        into.put(offset, header);
        into.putShort(offset + LENGTH_AT, (short) bytes);
        into.put(offset + CLASS_AT, (byte) arrival.trafficClass);
        if (isIpv4) {
            into.putInt(offset + headerBytes - 4, (int) arrival.low);
        } else {
            into.putLong(offset + headerBytes - 16, arrival.high);
            into.putLong(offset + headerBytes - 8, arrival.low);
        }
        into.putLong(offset + headerBytes, ns);
        into.putInt(offset + headerBytes + 8, arrival.service);
        return bytes;
    }
}
