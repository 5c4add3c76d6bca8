package org.tamanoir.kernel;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;

/**
 * Frames as they are on a device of a test's network: sends and takes them whole.
 *
 * <p>Thread contract: one thread.
 */
final class PlainWire implements AutoCloseable {
    private static final int AF_PACKET = 17;
    private static final int SOCK_RAW = 3;
    private static final short ALL_BE = 0x0300;
    private static final int DONTWAIT = 0x40;
    private static final int FRAME_BYTES = 65_536;
    private static final long PATIENCE_NS = Waiting.PATIENCE.toNanos();
    static final int IP_AT = 14;

    private final Memory memory = new Memory(FRAME_BYTES);
    private final int fd;

    private PlainWire(String device) {
        fd = LibC.socket(AF_PACKET, SOCK_RAW | LibC.SOCK_CLOEXEC, ALL_BE & 0xFFFF);
        ByteBuffer address = memory.getByteBuffer(0, 20).order(ByteOrder.nativeOrder());
        address.putShort(0, (short) AF_PACKET).putShort(2, ALL_BE).putInt(4, LibC.if_nametoindex(device));
        if (fd < 0 || LibC.bind(fd, Pointer.nativeValue(memory), 20) != 0) {
            throw new IllegalStateException("no packet socket on " + device);
        }
    }

    static PlainWire open(TestNet net, String namespace, String device) throws Exception {
        return net.namespaces().in(namespace, () -> new PlainWire(device));
    }

    /** Returns the 6 octets of a device's link address. */
    static byte[] linkAddress(TestNet net, String namespace, String device) {
        String shown = net.namespaces().run(namespace, "ip -o link show " + device);
        return HexFormat.ofDelimiter(":").parseHex(shown.replaceFirst("(?s).*link/ether (\\S+).*", "$1"));
    }

    /** Leaves out what has come so far. */
    void forget() {
        while (LibC.recv(fd, Pointer.nativeValue(memory), FRAME_BYTES, DONTWAIT) >= 0) {}
    }

    void send(byte[] frame) {
        long sent = LibC.send(fd, frame, frame.length, 0);
        if (sent != frame.length) {
            throw new IllegalStateException("sent " + sent + " of " + frame.length);
        }
    }

    /** Returns IP packets, without link header and padding, that come in time and are wanted, until there are so many. */
    List<byte[]> packets(int count, Predicate<byte[]> wanted) {
        List<byte[]> packets = new ArrayList<>();
        long endNs = System.nanoTime() + PATIENCE_NS;
        while (packets.size() < count) {
            byte[] packet = next();
            if (packet != null && wanted.test(packet)) {
                packets.add(packet);
            } else if (packet == null && System.nanoTime() - endNs > 0) {
                throw new AssertionError(packets.size() + " packets came, not " + count);
            }
        }
        return packets;
    }

    private byte @Nullable [] next() {
        int bytes = (int) LibC.recv(fd, Pointer.nativeValue(memory), FRAME_BYTES, DONTWAIT);
        if (bytes < IP_AT + 20) {
            Thread.onSpinWait();
            return bytes < 0 ? null : new byte[20];
        }
        byte[] frame = memory.getByteArray(0, bytes);
        ByteBuffer ip = ByteBuffer.wrap(frame, IP_AT, bytes - IP_AT).slice();
        int length = switch (ip.get(0) >>> 4 & 0xF) {
            case 4 -> ip.getShort(2) & 0xFFFF;
            case 6 -> 40 + (ip.getShort(4) & 0xFFFF);
            default -> bytes - IP_AT;
        };
        return Arrays.copyOfRange(frame, IP_AT, IP_AT + Math.min(length, bytes - IP_AT));
    }

    @Override
    public void close() {
        LibC.close(fd);
    }
}
