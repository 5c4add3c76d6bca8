package org.tamanoir.kernel;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A UDP socket as a node has it: on all addresses of IPv4, and with the mark of what it receives. Layouts are those of
 * 64-bit Linux; ports in the network namespace of the thread that opens it.
 *
 * <p>Thread contract: one thread at a time.
 */
final class BridgeSocket implements AutoCloseable {
    private static final int DONTWAIT = 0x40;
    private static final int SO_RCVBUFFORCE = 33;
    private static final int SO_MARK = 36;
    private static final int SO_RCVMARK = 75;
    private static final int BUFFER_BYTES = 8 << 20;
    private static final int DATA_AT = 256;
    private static final int IOVEC_AT = 64;
    private static final int CONTROL_AT = 128;
    private static final int CONTROL_BYTES = 64;

    private final ByteBuffer memory = ByteBuffer.allocateDirect(4096).order(ByteOrder.nativeOrder());
    private final long address = Pointer.nativeValue(Native.getDirectBufferPointer(memory));
    private final int fd;
    private int bytes;

    /** Receives on a port; 0 takes any. */
    BridgeSocket(int port) {
        fd = LibC.socket(LibC.AF_INET, LibC.SOCK_DGRAM | LibC.SOCK_CLOEXEC, 0);
        option(SO_RCVBUFFORCE, BUFFER_BYTES);
        option(SO_RCVMARK, 1);
        name(new byte[4], port);
        if (LibC.bind(fd, address, 16) != 0) {
            throw new IllegalStateException("bind to " + port + ": errno " + Native.getLastError());
        }
    }

    private void option(int option, int value) {
        memory.putInt(0, value);
        if (LibC.setsockopt(fd, LibC.SOL_SOCKET, option, address, Integer.BYTES) != 0) {
            throw new IllegalStateException("option " + option + ": errno " + Native.getLastError());
        }
    }

    private void name(byte[] host, int port) {
        memory.putLong(0, 0).putLong(8, 0).putShort(0, (short) LibC.AF_INET);
        memory.put(2, (byte) (port >> 8)).put(3, (byte) port).put(4, host);
    }

    /** Sends bytes from their position to their limit. */
    void send(ByteBuffer data, byte[] host, int port) {
        name(host, port);
        memory.put(DATA_AT, data, data.position(), data.remaining());
        long sent = Calls.sendto(fd, address + DATA_AT, data.remaining(), 0, address, 16);
        if (sent != data.remaining()) {
            throw new IllegalStateException("sendto: errno " + Native.getLastError());
        }
    }

    /** Receives a datagram if one is there. */
    boolean receive() {
        memory.putLong(0, 0).putInt(8, 0);
        memory.putLong(16, address + IOVEC_AT).putLong(24, 1);
        memory.putLong(32, address + CONTROL_AT).putLong(40, CONTROL_BYTES);
        memory.putLong(IOVEC_AT, address + DATA_AT).putLong(IOVEC_AT + 8, memory.capacity() - DATA_AT);
        memory.putLong(CONTROL_AT, 0);
        bytes = (int) Calls.recvmsg(fd, address, DONTWAIT);
        return bytes >= 0;
    }

    /** Of what was received last. */
    int mark() {
        boolean isThere = memory.getLong(40) >= 20
                && memory.getInt(CONTROL_AT + 8) == LibC.SOL_SOCKET
                && memory.getInt(CONTROL_AT + 12) == SO_MARK;
        return isThere ? memory.getInt(CONTROL_AT + 16) : 0;
    }

    /** What was received last, until the next. */
    ByteBuffer data() {
        return memory.slice(DATA_AT, bytes).order(ByteOrder.BIG_ENDIAN);
    }

    @Override
    public void close() {
        LibC.close(fd);
    }

    private static final class Calls {
        static {
            Native.register(Calls.class, Platform.C_LIBRARY_NAME);
        }

        private Calls() {}

        static native long sendto(int fd, long data, long bytes, int flags, long to, int toBytes);

        static native long recvmsg(int fd, long message, int flags);
    }
}
