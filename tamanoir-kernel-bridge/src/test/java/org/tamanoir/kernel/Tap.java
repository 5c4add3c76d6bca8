package org.tamanoir.kernel;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.tamanoir.anep.Checksum;
import org.tamanoir.support.TestNet;

/**
 * A network interface of a router whose frames come from this process (TAP).
 *
 * <p>Thread contract: one thread at a time.
 */
final class Tap implements AutoCloseable {
    static final String NAME = "tap0";

    private static final String ADDRESS = "020000000002";
    private static final long SET_INTERFACE = 0x400454caL; // TUNSETIFF
    private static final short FLAGS = 0x1002; // IFF_TAP, IFF_NO_PI
    private static final int REQUEST_BYTES = 40; // struct ifreq: name 16, flags 2, and more
    private static final int LINK = 14;
    private static final int IPV4 = 20;
    private static final int UDP = 8;

    private final int fd;

    static {
        Native.register(Tap.class, Platform.C_LIBRARY_NAME);
    }

    private static native int open(String path, int flags);

    private static native int ioctl(int fd, long request, long argument);

    private static native long write(int fd, byte[] bytes, long count);

    private Tap() {
        fd = open("/dev/net/tun", 2);
        try (Memory request = new Memory(REQUEST_BYTES)) {
            request.clear();
            request.setString(0, NAME);
            request.setShort(16, FLAGS);
            if (fd < 0 || ioctl(fd, SET_INTERFACE, Pointer.nativeValue(request)) < 0) {
                throw new IllegalStateException(NAME + ": errno " + Native.getLastError());
            }
        }
    }

    /** Makes one in the router, and sets it up. */
    static Tap in(TestNet net) throws Exception {
        Tap tap = net.namespaces().in(net.router(), Tap::new);
        net.namespaces()
                .run(
                        net.router(),
                        "ip link set " + NAME + " address " + ADDRESS.replaceAll("..(?!$)", "$0:") + " && ip link set "
                                + NAME + " up");
        return tap;
    }

    /** Has a datagram of the client's to the server come in: IPv4, without UDP's checksum. */
    void datagram(byte[] payload) throws UnknownHostException {
        ByteBuffer frame = ByteBuffer.allocate(LINK + IPV4 + UDP + payload.length);
        frame.put(HexFormat.of().parseHex(ADDRESS))
                .put(new byte[] {2, 0, 0, 0, 0, 1})
                .putShort((short) 0x800);
        frame.putShort((short) 0x4500)
                .putShort((short) (IPV4 + UDP + payload.length))
                .putInt(0);
        frame.putShort((short) (64 << 8 | 17)).putShort((short) 0);
        frame.put(InetAddress.getByName(TestNet.CLIENT4).getAddress());
        frame.put(InetAddress.getByName(TestNet.SERVER4).getAddress());
        frame.putShort(LINK + 10, (short) ~Checksum.sum(frame, LINK, IPV4));
        frame.putShort((short) 5000).putShort((short) BpfBed.PORT).putShort((short) (UDP + payload.length));
        frame.putShort((short) 0).put(payload);
        if (write(fd, frame.array(), frame.capacity()) != frame.capacity()) {
            throw new IllegalStateException(NAME + ": errno " + Native.getLastError());
        }
    }

    @Override
    public void close() {
        LibC.close(fd);
    }
}
