package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * One family of generic netlink.
 *
 * <p>Thread contract: {@link #call} one thread at a time; {@link #tell} any thread.
 */
final class GenericNetlink implements AutoCloseable {
    /** Bytes in front of the attributes: command, version, two of padding. */
    static final int HEADER_BYTES = 4;

    private static final int CONTROL = 16;
    private static final int GET_FAMILY = 3;
    private static final int FAMILY_ID = 1;
    private static final int FAMILY_NAME = 2;
    private static final int VERSION = 1;
    private static final int MESSAGE_BYTES = 128;

    private final NetlinkSocket socket;
    private final int family;

    private GenericNetlink(NetlinkSocket socket, int family) {
        this.socket = socket;
        this.family = family;
    }

    /**
     * Looks a family up.
     *
     * @throws NetlinkException with {@link LibC#ENOENT} if the kernel has none of this name
     */
    static GenericNetlink open(String familyName) throws NetlinkException {
        NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.GENERIC);
        try {
            return new GenericNetlink(socket, lookUp(socket, familyName));
        } catch (NetlinkException failed) {
            socket.close();
            throw failed;
        }
    }

    private static int lookUp(NetlinkSocket socket, String name) throws NetlinkException {
        NetlinkRequest request = new NetlinkRequest(CONTROL, NetlinkRequest.ACK)
                .header(GET_FAMILY, VERSION, 0, 0)
                .attribute(FAMILY_NAME, name);
        for (ByteBuffer answer : socket.exchange(request)) {
            ByteBuffer id = NetlinkAttributes.find(answer, HEADER_BYTES, FAMILY_ID);
            if (id != null && id.capacity() >= Short.BYTES) {
                return Short.toUnsignedInt(id.getShort(0));
            }
        }
        throw new NetlinkException(0, "generic netlink: the kernel named no number for family " + name);
    }

    /** Returns a request to this family, which the kernel answers. */
    NetlinkRequest request(int command) {
        return new NetlinkRequest(family, NetlinkRequest.ACK).header(command, VERSION, 0, 0);
    }

    /** Returns a message to this family with a few numbers, which the kernel answers only if it refuses it. */
    NetlinkRequest message(int command) {
        return new NetlinkRequest(family, 0, MESSAGE_BYTES).header(command, VERSION, 0, 0);
    }

    /** Answers from the family's header on. */
    List<ByteBuffer> call(NetlinkRequest request) throws NetlinkException {
        return socket.exchange(request);
    }

    /** Sends without waiting for an answer. */
    void tell(NetlinkRequest message) throws NetlinkException {
        socket.send(message);
    }

    @Override
    public void close() {
        socket.close();
    }
}
