package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.nodeos.LevelException;

/**
 * A network interface, as rtnetlink lists those of the calling thread's network namespace.
 *
 * <pre>
 *   struct ifinfomsg   family 1, padding 1, hardware type 2, index 4, flags 4, change 4
 * </pre>
 *
 * <p>Thread contract: any thread.
 *
 * @param hardwareType ARPHRD_...
 */
record Links(int index, String name, int hardwareType) {
    private static final int GET_LINK = 18;
    private static final int HEADER_BYTES = 16;
    private static final int NAME = 3;
    private static final int ETHERNET = 1;
    private static final int LOOPBACK = 772;

    /** Returns all of them. */
    static List<Links> all() throws NetlinkException {
        try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.ROUTE)) {
            NetlinkRequest request = new NetlinkRequest(GET_LINK, NetlinkRequest.DUMP)
                    .header(0, 0, 0, 0)
                    .headerNumber(0)
                    .headerNumber(0)
                    .headerNumber(0);
            List<Links> links = new ArrayList<>();
            for (ByteBuffer answer : socket.exchange(request)) {
                ByteBuffer name = NetlinkAttributes.find(answer, HEADER_BYTES, NAME);
                if (name != null) {
                    links.add(new Links(
                            answer.getInt(4), NetlinkAttributes.text(name), Short.toUnsignedInt(answer.getShort(2))));
                }
            }
            return links;
        }
    }

    /**
     * Returns those of these names.
     *
     * @throws LevelException if one is not there, or its frames do not begin as Ethernet's
     */
    static List<Links> named(List<String> names) throws LevelException {
        try {
            List<Links> all = all();
            List<Links> named = new ArrayList<>();
            for (String name : names) {
                Links link = all.stream()
                        .filter(other -> other.name.equals(name))
                        .findFirst()
                        .orElseThrow(() -> new LevelException(
                                "network interface " + name + " does not exist: name one that \"ip link\" shows"));
                if (link.hardwareType != ETHERNET && link.hardwareType != LOOPBACK) {
                    throw new LevelException("network interface " + name + " is of hardware type " + link.hardwareType
                            + ": BPF programs read Ethernet frames alone, type 1");
                }
                named.add(link);
            }
            return named;
        } catch (NetlinkException e) {
            throw new LevelException("network interfaces: " + e.getMessage(), e);
        }
    }
}
