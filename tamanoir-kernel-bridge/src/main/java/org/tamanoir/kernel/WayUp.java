package org.tamanoir.kernel;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.LevelException;

/**
 * The way up: packets that a level has marked are delivered to this host, whatever their destination.
 *
 * <pre>
 *   ip rule add fwmark MARK/0xfff00000 lookup TABLE priority PRIORITY protocol 84
 *   ip route add local default dev lo table TABLE protocol 84
 * </pre>
 *
 * for IPv4, and for IPv6 where the namespace has it. All numbers derive from the instance, so that what a killed node
 * left behind is found.
 *
 * <p>Thread contract: one thread at a time.
 */
final class WayUp implements AutoCloseable {
    /** Of instance 0; the table is this one's and no other's. */
    static final int FIRST_TABLE = 0x54_4D00;
    /** Of instance 0: behind the local table (0), before what operators and other programs use. */
    static final int FIRST_PRIORITY = 84;
    /** Who put a rule or route there, as in /etc/iproute2/rt_protos. */
    static final int PROTOCOL = 84;

    private static final Logger LOG = LoggerFactory.getLogger(WayUp.class);

    private static final int GET_ADDRESS = 22;
    private static final int NEW_ROUTE = 24;
    private static final int DELETE_ROUTE = 25;
    private static final int NEW_RULE = 32;
    private static final int DELETE_RULE = 33;

    private static final int RULE_TO_TABLE = 1;
    private static final int RULE_PRIORITY = 6;
    private static final int RULE_MARK = 10;
    private static final int RULE_TABLE = 15;
    private static final int RULE_MASK = 16;
    private static final int RULE_PROTOCOL = 21;

    private static final int ROUTE_LOCAL = 2;
    private static final int ROUTE_INTERFACE = 4;
    private static final int ROUTE_TABLE = 15;
    private static final int SCOPE_HOST = 254;

    private static final int LINK_FLAGS_AT = 8;
    private static final int LINK_UP = 1;

    private static final int ADDRESS_HEADER_BYTES = 8;
    private static final int ADDRESS_OF_PEER = 1; // or its own, where there is none of that
    private static final int ADDRESS_OWN = 2;

    /** More equal rules than this nobody adds; the kernel takes one at a time away. */
    private static final int MAX_REMOVALS = 64;

    /** lo has this number in every network namespace. */
    private static final int LOOPBACK_INDEX = 1;

    private static final int[] FAMILIES = {LibC.AF_INET, LibC.AF_INET6};

    private final NetlinkSocket socket;

    private WayUp(NetlinkSocket socket) {
        this.socket = socket;
    }

    static WayUp open() throws NetlinkException {
        return new WayUp(NetlinkSocket.open(NetlinkSocket.ROUTE));
    }

    /**
     * Makes the way up of an instance; what is there of it stays.
     *
     * @throws LevelException if it cannot for IPv4, or the way is interrupted; what it had made is gone then
     */
    void make(int instance) throws LevelException {
        try {
            if (!loopbackIsUp()) {
                throw new LevelException("way up: interface lo is down: ip link set lo up");
            }
        } catch (NetlinkException refused) {
            throw new LevelException("way up: " + refused.getMessage(), refused);
        }
        for (int family : FAMILIES) {
            try {
                add(route(NEW_ROUTE, family, instance, NetlinkRequest.CREATE | NetlinkRequest.EXCLUSIVE));
                add(rule(NEW_RULE, family, instance, NetlinkRequest.CREATE | NetlinkRequest.EXCLUSIVE));
            } catch (NetlinkException refused) {
                if (family == LibC.AF_INET6) {
                    LOG.info("levels: no IPv6 here, its packets do not come up: {}", refused.getMessage());
                    continue;
                }
                removeQuietly(instance);
                throw new LevelException("way up: " + refused.getMessage() + remedy(refused.errno()), refused);
            }
        }
    }

    /** Asks for the link; a struct ifinfomsg answers. */
    private boolean loopbackIsUp() throws NetlinkException {
        for (ByteBuffer answer : socket.exchange(NetlinkRequest.link(LOOPBACK_INDEX))) {
            return answer.capacity() > LINK_FLAGS_AT + 3 && (answer.getInt(LINK_FLAGS_AT) & LINK_UP) != 0;
        }
        return false;
    }

    private static String remedy(int errno) {
        return errno == LibC.EPERM ? "; give the node CAP_NET_ADMIN" : "";
    }

    private void add(NetlinkRequest request) throws NetlinkException {
        try {
            socket.exchange(request);
        } catch (NetlinkException refused) {
            if (refused.errno() != LibC.EEXIST) {
                throw refused;
            }
        }
    }

    /**
     * Takes the way up of an instance away.
     *
     * @return how many rules and routes there were
     */
    int remove(int instance) throws NetlinkException {
        int removed = 0;
        for (int family : FAMILIES) {
            removed += removeAll(rule(DELETE_RULE, family, instance, 0));
            removed += removeAll(route(DELETE_ROUTE, family, instance, 0));
        }
        return removed;
    }

    private void removeQuietly(int instance) {
        try {
            remove(instance);
        } catch (NetlinkException refused) {
            LOG.warn("levels: {}", refused.getMessage());
        }
    }

    private int removeAll(NetlinkRequest request) throws NetlinkException {
        for (int removed = 0; removed < MAX_REMOVALS; removed++) {
            try {
                socket.exchange(request);
            } catch (NetlinkException refused) {
                switch (refused.errno()) {
                    case LibC.ENOENT, LibC.ESRCH, LibC.EAFNOSUPPORT, LibC.EOPNOTSUPP -> {
                        return removed;
                    }
                    default -> throw refused;
                }
            }
        }
        return MAX_REMOVALS;
    }

    /** Returns addresses of this namespace's interfaces, in the kernel's order, each once. */
    Set<InetAddress> addresses() throws NetlinkException {
        Set<InetAddress> addresses = new LinkedHashSet<>();
        NetlinkRequest request = new NetlinkRequest(GET_ADDRESS, NetlinkRequest.DUMP).header(0, 0, 0, 0, 0, 0, 0, 0);
        for (ByteBuffer answer : socket.exchange(request)) {
            ByteBuffer own = NetlinkAttributes.find(answer, ADDRESS_HEADER_BYTES, ADDRESS_OWN);
            if (own == null) {
                own = NetlinkAttributes.find(answer, ADDRESS_HEADER_BYTES, ADDRESS_OF_PEER);
            }
            if (own != null) {
                byte[] bytes = new byte[own.capacity()];
                own.get(0, bytes);
                try {
                    addresses.add(InetAddress.getByAddress(bytes));
                } catch (UnknownHostException broken) {
                    throw new NetlinkException(0, "route netlink: address of " + bytes.length + " bytes");
                }
            }
        }
        return addresses;
    }

    /** Returns a struct fib_rule_hdr and its attributes. */
    private static NetlinkRequest rule(int type, int family, int instance, int flags) {
        return new NetlinkRequest(type, NetlinkRequest.ACK | flags)
                .header(family, 0, 0, 0, 0, 0, 0, RULE_TO_TABLE, 0, 0, 0, 0)
                .attribute(RULE_PRIORITY, FIRST_PRIORITY + instance)
                .attribute(RULE_MARK, AbiEncoder.upMark(instance))
                .attribute(RULE_MASK, Abi.MARK_MASK)
                .attribute(RULE_TABLE, FIRST_TABLE + instance)
                .attributeByte(RULE_PROTOCOL, PROTOCOL);
    }

    /** Returns a struct rtmsg and its attributes. */
    private static NetlinkRequest route(int type, int family, int instance, int flags) {
        return new NetlinkRequest(type, NetlinkRequest.ACK | flags)
                .header(family, 0, 0, 0, 0, PROTOCOL, SCOPE_HOST, ROUTE_LOCAL, 0, 0, 0, 0)
                .attribute(ROUTE_TABLE, FIRST_TABLE + instance)
                .attribute(ROUTE_INTERFACE, LOOPBACK_INDEX);
    }

    @Override
    public void close() {
        socket.close();
    }
}
