package org.tamanoir.kernel;

/**
 * Asks the kernel over rtnetlink for filters of traffic control.
 *
 * <pre>
 *   struct tcmsg   family 1, padding 3, ifindex 4, handle 4, parent 4, info 4
 * </pre>
 *
 * <p>Thread contract: any thread, in the network namespace of the interface.
 */
final class TcFilters {
    private static final int GET_FILTER = 46;
    private static final int INGRESS = 0xffff_fff2;
    private static final int EGRESS = 0xffff_fff3;

    private TcFilters() {}

    /** Returns whether an interface's {@code clsact} has any. */
    static boolean areThere(int ifindex) throws NetlinkException {
        try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.ROUTE)) {
            return areThere(socket, ifindex, INGRESS) || areThere(socket, ifindex, EGRESS);
        }
    }

    private static boolean areThere(NetlinkSocket socket, int ifindex, int parent) throws NetlinkException {
        NetlinkRequest request = new NetlinkRequest(GET_FILTER, NetlinkRequest.DUMP)
                .header(0, 0, 0, 0)
                .headerNumber(ifindex)
                .headerNumber(0)
                .headerNumber(parent)
                .headerNumber(0);
        return !socket.exchange(request).isEmpty();
    }
}
