package org.tamanoir.kernel;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * One netlink message on its way to the kernel, in the host's byte order; lengths and attributes as in netlink(7):
 *
 * <pre>
 *   0        4      6       8          12       16
 *  +--------+------+-------+----------+--------+---------------+-----------------+
 *  | length | type | flags | sequence | port 0 | family header | attributes ...  |
 *  +--------+------+-------+----------+--------+---------------+-----------------+
 *            each attribute: u16 length, u16 type, value, padding to a multiple of 4
 * </pre>
 *
 * <p>Thread contract: one thread at a time.
 */
final class NetlinkRequest {
    static final int HEADER_BYTES = 16;
    static final int ACK = 0x4;
    static final int DUMP = 0x300;
    static final int EXCLUSIVE = 0x200;
    static final int CREATE = 0x400;

    private static final int REQUEST = 0x1;
    private static final int GET_LINK = 18;
    /** Enough for any; the longest holds a policy of 432 bytes. */
    static final int CAPACITY_BYTES = 1024;

    private static final int SEQUENCE_AT = 8;
    private static final int ATTRIBUTE_HEADER_BYTES = 4;

    private final byte[] bytes;
    private final ByteBuffer message;
    private final int flags;

    /**
     * Begins a message.
     *
     * @param flags of {@link #ACK} (the kernel says that it is done), {@link #DUMP} (and ends its list), and others
     */
    NetlinkRequest(int type, int flags) {
        this(type, flags, CAPACITY_BYTES);
    }

    /** Makes one of at most so many bytes. */
    NetlinkRequest(int type, int flags, int capacityBytes) {
        this.flags = flags;
        bytes = new byte[capacityBytes];
        message = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        message.putInt(0)
                .putShort((short) type)
                .putShort((short) (REQUEST | flags))
                .putInt(0)
                .putInt(0);
    }

    /** Asks for an interface by its number, with a struct ifinfomsg. */
    static NetlinkRequest link(int number) {
        return new NetlinkRequest(GET_LINK, ACK)
                .header(0, 0, 0, 0)
                .headerNumber(number)
                .headerNumber(0)
                .headerNumber(0);
    }

    /** Bytes of the family's own header. */
    NetlinkRequest header(int... unsignedBytes) {
        for (int unsignedByte : unsignedBytes) {
            message.put((byte) unsignedByte);
        }
        return this;
    }

    /** Appends four bytes of the family's own header. */
    NetlinkRequest headerNumber(int number) {
        message.putInt(number);
        return this;
    }

    NetlinkRequest attribute(int type, int value) {
        return attribute(type, allocate(Integer.BYTES).putInt(0, value));
    }

    NetlinkRequest attribute(int type, long value) {
        return attribute(type, allocate(Long.BYTES).putLong(0, value));
    }

    NetlinkRequest attributeByte(int type, int value) {
        return attribute(type, allocate(1).put(0, (byte) value));
    }

    NetlinkRequest attribute(int type, String value) {
        return attribute(type, ByteBuffer.wrap((value + "\0").getBytes(StandardCharsets.UTF_8)));
    }

    /** Appends all bytes of a buffer, whatever its position. */
    NetlinkRequest attribute(int type, ByteBuffer value) {
        int length = ATTRIBUTE_HEADER_BYTES + value.capacity();
        if (message.remaining() < length + 3) {
            throw new BufferOverflowException();
        }
        message.putShort((short) length)
                .putShort((short) type)
                .put(value.duplicate().clear());
        message.position(message.position() + 3 & ~3);
        return this;
    }

    private static ByteBuffer allocate(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    }

    boolean isDump() {
        return (flags & DUMP) == DUMP;
    }

    /** Returns the message so far, under this number, as an array that is longer than {@link #length}. */
    byte[] finish(int sequence) {
        message.putInt(0, message.position()).putInt(SEQUENCE_AT, sequence);
        return bytes;
    }

    int length() {
        return message.position();
    }
}
