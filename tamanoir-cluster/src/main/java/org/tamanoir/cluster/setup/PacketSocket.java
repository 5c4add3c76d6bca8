package org.tamanoir.cluster.setup;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Frames of one kind on one Ethernet interface, by a packet socket (packet(7)) of the calling thread's network namespace;
 * the kernel makes and takes off the Ethernet header. Needs CAP_NET_RAW.
 *
 * <p>Thread contract: one thread.
 */
final class PacketSocket implements AutoCloseable {
    static final int HARDWARE_OCTETS = 6;

    private static final int AF_PACKET = 17;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int SOL_SOCKET = 1;
    private static final int SO_ATTACH_FILTER = 26;
    private static final int SOL_PACKET = 263;
    private static final int PACKET_ADD_MEMBERSHIP = 1;
    private static final int ETHERNET = 1; // ARPHRD_ETHER
    private static final int OUTGOING = 4; // PACKET_OUTGOING
    private static final int ADDRESS_OCTETS = 20; // struct sockaddr_ll
    private static final int TYPE_AT = 8;
    private static final int DIRECTION_AT = 10;
    private static final int HARDWARE_AT = 12;
    private static final short POLLIN = 1;

    /**
     * What was received.
     *
     * @param length of the frame; the rest of the buffer is of none
     * @param source hardware address of the Ethernet header
     */
    record Received(int length, byte[] source) {}

    private final int socket;
    private final String name;
    private final int index;
    private final short etherType; // in the network's order
    private byte[] hardware = new byte[HARDWARE_OCTETS];
    private int type;

    private PacketSocket(int socket, String name, int index, int etherType) {
        this.socket = socket;
        this.name = name;
        this.index = index;
        this.etherType = networkOrder(etherType);
    }

    /** @param etherType such as 0x0806 */
    static PacketSocket open(String name, int etherType) throws IOException {
        int index = Calls.if_nametoindex(name);
        if (index == 0) {
            throw new IOException("no interface " + name + ": see ip link");
        }
        int socket = Calls.socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0); // 0: nothing before it is bound
        if (socket < 0) {
            throw failure(name, "socket", "; needs root or CAP_NET_RAW");
        }
        PacketSocket opened = new PacketSocket(socket, name, index, etherType);
        try {
            opened.bind();
            return opened;
        } catch (IOException e) {
            opened.close();
            throw e;
        }
    }

    private void bind() throws IOException {
        byte[] address = address(new byte[HARDWARE_OCTETS]);
        if (Calls.bind(socket, address, address.length) < 0) {
            throw failure(name, "bind", "");
        }
        int[] length = {address.length};
        if (Calls.getsockname(socket, address, length) < 0) {
            throw failure(name, "getsockname", "");
        }
        type = ByteBuffer.wrap(address).order(ByteOrder.nativeOrder()).getShort(TYPE_AT);
        hardware = Arrays.copyOfRange(address, HARDWARE_AT, HARDWARE_AT + HARDWARE_OCTETS);
    }

    /** Whether there can be neighbours at all: not on the loopback interface, nor in a tunnel. */
    boolean isEthernet() {
        return type == ETHERNET;
    }

    byte[] hardware() {
        return hardware.clone();
    }

    /** Takes what is sent to a group of hosts. */
    void join(byte[] group) throws IOException {
        byte[] wish = ByteBuffer.allocate(16) // struct packet_mreq, PACKET_MR_MULTICAST
                .order(ByteOrder.nativeOrder())
                .putInt(index)
                .putShort((short) 0)
                .putShort((short) HARDWARE_OCTETS)
                .put(group, 0, HARDWARE_OCTETS)
                .array();
        if (Calls.setsockopt(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, wish, wish.length) < 0) {
            throw failure(name, "PACKET_ADD_MEMBERSHIP", "");
        }
    }

    /**
     * Takes only what a program of classic BPF lets through, so that other traffic does not fill the socket.
     *
     * @param program instructions: code, jump if true, jump if false, operand
     */
    void filter(int[][] program) throws IOException {
        try (Memory code = new Memory(8L * program.length);
                Memory head = new Memory(16)) {
            for (int i = 0; i < program.length; i++) {
                code.setShort(8L * i, (short) program[i][0]);
                code.setByte(8L * i + 2, (byte) program[i][1]);
                code.setByte(8L * i + 3, (byte) program[i][2]);
                code.setInt(8L * i + 4, program[i][3]);
            }
            head.clear();
            head.setShort(0, (short) program.length);
            head.setPointer(Native.POINTER_SIZE, code);
            int octets = 2 * Native.POINTER_SIZE;
            if (Calls.setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, head, octets) < 0) {
                throw failure(name, "SO_ATTACH_FILTER", "");
            }
        }
    }

    void send(byte[] frame, byte[] destination) throws IOException {
        byte[] address = address(destination);
        if (Calls.sendto(socket, frame, frame.length, 0, address, address.length) < 0) {
            throw failure(name, "sendto", "; is it up?");
        }
    }

    /** Waits for a frame from elsewhere; {@code length} is -1 if none came. */
    Received receive(byte[] buffer, int timeoutMs) throws IOException {
        Received none = new Received(-1, new byte[HARDWARE_OCTETS]);
        byte[] wanted = ByteBuffer.allocate(8) // struct pollfd
                .order(ByteOrder.nativeOrder())
                .putInt(socket)
                .putShort(POLLIN)
                .array();
        if (Calls.poll(wanted, 1, timeoutMs) <= 0) {
            return none; // a signal, too
        }
        byte[] address = new byte[ADDRESS_OCTETS];
        int[] length = {address.length};
        long octets = Calls.recvfrom(socket, buffer, buffer.length, MSG_DONTWAIT, address, length);
        if (octets < 0 || address[DIRECTION_AT] == OUTGOING) {
            return none; // an error of the interface: what is sent next tells it
        }
        return new Received((int) octets, Arrays.copyOfRange(address, HARDWARE_AT, HARDWARE_AT + HARDWARE_OCTETS));
    }

    private byte[] address(byte[] destination) {
        return ByteBuffer.allocate(ADDRESS_OCTETS)
                .order(ByteOrder.nativeOrder())
                .putShort((short) AF_PACKET)
                .putShort(etherType)
                .putInt(index)
                .putShort((short) 0)
                .put((byte) 0)
                .put((byte) HARDWARE_OCTETS)
                .put(destination, 0, HARDWARE_OCTETS)
                .array();
    }

    private static short networkOrder(int value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? (short) value : Short.reverseBytes((short) value);
    }

    private static IOException failure(String name, String call, String remedy) {
        return new IOException("interface " + name + ": " + call + ": errno " + Native.getLastError() + remedy);
    }

    @Override
    public void close() {
        Calls.close(socket);
    }

    private static final class Calls {
        static {
            Native.register(Calls.class, Platform.C_LIBRARY_NAME);
        }

        private Calls() {}

        static native int socket(int family, int type, int protocol);

        static native int bind(int socket, byte[] address, int length);

        static native int getsockname(int socket, byte[] address, int[] length);

        static native int setsockopt(int socket, int level, int name, byte[] value, int length);

        static native int setsockopt(int socket, int level, int name, Pointer value, int length);

        static native long sendto(int socket, byte[] frame, long octets, int flags, byte[] address, int length);

        static native long recvfrom(int socket, byte[] frame, long octets, int flags, byte[] address, int[] length);

        static native int poll(byte[] wanted, long count, int timeoutMs);

        static native int if_nametoindex(String name);

        static native int close(int file);
    }
}
