package org.tamanoir.kernel;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.FeedPath;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.RouteFeed;

/**
 * Reads what the kernel says of routes and interfaces, rtnetlink(7), in the host's byte order; whatever the bytes are,
 * it looks at none outside of them:
 *
 * <pre>
 *   message:    0 u32 length | 4 u16 type | 6 u16 flags | 8 u32 sequence | 12 u32 port | 16 body ..., multiple of 4
 *   route:      0 u8 family, 1 length of the destination, 2 of the source, 3 TOS, 4 table, 5 protocol, 6 scope, 7 type |
 *               8 u32 flags | 12 attributes ...
 *   link:       0 u8 family | 4 u32 number of the interface | 8 u32 flags | 16 attributes ...
 *   next hop:   0 u16 length | 2 u8 flags, 3 u8 weight | 4 u32 number of the interface | 8 attributes ..., multiple of 4
 *   attribute:  0 u16 length | 2 u16 type | 4 value ..., multiple of 4
 * </pre>
 *
 * <p>Thread contract: one thread, the feed's.
 */
final class RouteMessages {
    static final int GET_ROUTE = 26;
    static final int ROUTE_TABLE = 15;

    private static final int DONE = 3;
    private static final int ERROR = 2;
    private static final int INTERRUPTED = 0x10;
    private static final int REPLACE = 0x100;

    private static final int NEW_LINK = 16;
    private static final int DELETE_LINK = 17;
    private static final int DELETE_ADDRESS = 21;
    private static final int NEW_ROUTE = 24;
    private static final int DELETE_ROUTE = 25;

    private static final int LINK_BYTES = 16;
    private static final int LINK_NAME = 3;
    private static final int LINK_UP = 1;

    private static final int ROUTE_BYTES = 12;
    private static final int DESTINATION = 1;
    private static final int INTERFACE = 4;
    private static final int GATEWAY = 5;
    private static final int PRIORITY = 6;
    private static final int MULTIPATH = 9;
    private static final int VIA = 18; // a gateway of the other family: u16 family, address

    private static final int TYPE_MASK = 0x3fff;
    private static final int HOP_BYTES = 8;
    /** Of one route; the kernel has as many at most as fit into a message. */
    private static final int MAX_HOPS = 256;

    private static final int UNICAST = 1;
    private static final int BLACKHOLE = 6;
    private static final int THROW = 9;
    private static final int CLONED = 0x200;
    private static final int DEAD = 1;

    private final int table;
    private final Set<Integer> protocols;
    private final IntFunction<String> deviceNames;
    private final RouteFeed feed;
    private boolean wasInterrupted;

    /** @param deviceNames of interfaces by number */
    RouteMessages(int table, Set<Integer> protocols, IntFunction<String> deviceNames, RouteFeed feed) {
        this.table = table;
        this.protocols = Set.copyOf(protocols);
        this.deviceNames = deviceNames;
        this.feed = feed;
    }

    /**
     * Reads a part of a list of routes.
     *
     * @return whether it was the last
     * @throws NetlinkException if the kernel refuses it, or the bytes are none that it would send
     */
    boolean readDump(ByteBuffer datagram) throws NetlinkException {
        ByteBuffer bytes = datagram.slice().order(ByteOrder.nativeOrder());
        for (int at = 0; at < bytes.limit(); at = next(bytes, at)) {
            ByteBuffer body = body(bytes, at);
            int type = Short.toUnsignedInt(bytes.getShort(at + 4));
            int flags = Short.toUnsignedInt(bytes.getShort(at + 6));
            wasInterrupted |= (flags & INTERRUPTED) != 0;
            if (type == DONE || type == ERROR) {
                int error = body.limit() < Integer.BYTES ? 0 : body.getInt(0);
                if (error < 0) {
                    throw new NetlinkException(-error, "route netlink: " + LibC.strerror(-error));
                }
                return true;
            }
            if (type == NEW_ROUTE) {
                readRoute(body, true, false);
            }
        }
        return false;
    }

    /** Returns whether routes changed while the last list was made, so that it may lack some; forgets it. */
    boolean wasInterrupted() {
        boolean was = wasInterrupted;
        wasInterrupted = false;
        return was;
    }

    /**
     * Reads a notification.
     *
     * @return why all routes have to be read anew, null = they need not
     * @throws NetlinkException if the bytes are none that the kernel would send
     */
    @Nullable
    String readNotice(ByteBuffer datagram) throws NetlinkException {
        ByteBuffer bytes = datagram.slice().order(ByteOrder.nativeOrder());
        String why = null;
        for (int at = 0; at < bytes.limit(); at = next(bytes, at)) {
            ByteBuffer body = body(bytes, at);
            int flags = Short.toUnsignedInt(bytes.getShort(at + 6));
            String more = switch (Short.toUnsignedInt(bytes.getShort(at + 4))) {
                case NEW_ROUTE -> readRoute(body, true, (flags & REPLACE) != 0);
                case DELETE_ROUTE -> readRoute(body, false, false);
                case NEW_LINK -> readLink(body, false);
                case DELETE_LINK -> readLink(body, true);
                // The kernel says nothing of IPv4 routes that go with an address or an interface.
                case DELETE_ADDRESS ->
                    body.limit() > 0 && body.get(0) == LibC.AF_INET ? "an address was removed" : null;
                default -> null;
            };
            why = more != null ? more : why;
        }
        return why;
    }

    private static int next(ByteBuffer bytes, int at) {
        return at + bytes.getInt(at) + 3 & ~3;
    }

    private static ByteBuffer body(ByteBuffer bytes, int at) throws NetlinkException {
        int left = bytes.limit() - at;
        int length = left < NetlinkRequest.HEADER_BYTES ? 0 : bytes.getInt(at);
        if (length < NetlinkRequest.HEADER_BYTES || length > left) {
            throw broken("message of " + length + " bytes in " + left);
        }
        return slice(bytes, at + NetlinkRequest.HEADER_BYTES, length - NetlinkRequest.HEADER_BYTES);
    }

    private static ByteBuffer slice(ByteBuffer bytes, int at, int length) {
        return bytes.slice(at, length).order(ByteOrder.nativeOrder());
    }

    private static NetlinkException broken(String what) {
        return new NetlinkException(0, "route netlink: broken answer, " + what);
    }

    private interface Visitor {
        void attribute(int type, ByteBuffer value) throws NetlinkException;
    }

    private static void readAttributes(ByteBuffer body, int from, Visitor visitor) throws NetlinkException {
        for (int at = from; at < body.limit(); ) {
            int left = body.limit() - at;
            int length = left < 4 ? 0 : Short.toUnsignedInt(body.getShort(at));
            if (length < 4 || length > left) {
                throw broken("attribute of " + length + " bytes in " + left);
            }
            visitor.attribute(body.getShort(at + 2) & TYPE_MASK, slice(body, at + 4, length - 4));
            at += length + 3 & ~3;
        }
    }

    /** Returns why all routes have to be read anew, null = they need not. */
    private @Nullable String readLink(ByteBuffer body, boolean isGone) throws NetlinkException {
        if (body.limit() < LINK_BYTES) {
            throw broken("link of " + body.limit() + " bytes");
        }
        String[] name = {""};
        readAttributes(body, LINK_BYTES, (type, value) -> {
            if (type == LINK_NAME) {
                name[0] = NetlinkAttributes.text(value);
            }
        });
        boolean isDown = isGone || (body.getInt(8) & LINK_UP) == 0;
        return isDown && feed.uses(name[0]) ? "interface " + name[0] + " is down" : null;
    }

    /** What the attributes of a route or of one of its next hops say. */
    private static final class Attributes {
        byte @Nullable [] destination;
        int table;
        long metric;
        int device;

        @Nullable
        InetAddress gateway;

        @Nullable
        ByteBuffer hops;

        void read(int type, ByteBuffer value) throws NetlinkException {
            switch (type) {
                case DESTINATION -> destination = bytes(value, 0);
                case GATEWAY -> gateway = address(bytes(value, 0));
                case VIA -> gateway = address(bytes(value, 2));
                case INTERFACE -> device = number(value);
                case PRIORITY -> metric = Integer.toUnsignedLong(number(value));
                case ROUTE_TABLE -> table = number(value);
                case MULTIPATH -> hops = value;
                default -> {}
            }
        }

        private static int number(ByteBuffer value) throws NetlinkException {
            if (value.limit() < Integer.BYTES) {
                throw broken("number of " + value.limit() + " bytes");
            }
            return value.getInt(0);
        }

        private static byte[] bytes(ByteBuffer value, int from) throws NetlinkException {
            int length = value.limit() - from;
            if (length != 4 && length != 16) {
                throw broken("address of " + length + " bytes");
            }
            byte[] bytes = new byte[length];
            value.get(from, bytes);
            return bytes;
        }

        private static InetAddress address(byte[] bytes) throws NetlinkException {
            try {
                return InetAddress.getByAddress(bytes);
            } catch (UnknownHostException e) {
                throw broken("address of " + bytes.length + " bytes");
            }
        }
    }

    /** Returns why all routes have to be read anew, null = they need not. */
    private @Nullable String readRoute(ByteBuffer body, boolean isNew, boolean isInPlace) throws NetlinkException {
        if (body.limit() < ROUTE_BYTES) {
            throw broken("route of " + body.limit() + " bytes");
        }
        int type = Byte.toUnsignedInt(body.get(7));
        boolean isUseful = type == UNICAST || type >= BLACKHOLE && type <= THROW;
        if (!protocols.contains(Byte.toUnsignedInt(body.get(5))) || !isUseful || (body.getInt(8) & CLONED) != 0) {
            return null;
        }
        Attributes attributes = new Attributes();
        attributes.table = Byte.toUnsignedInt(body.get(4));
        readAttributes(body, ROUTE_BYTES, attributes::read);
        if (attributes.table != table) {
            return null;
        }
        Prefix prefix = prefix(body, attributes.destination);
        boolean isIpv4 = body.get(0) == LibC.AF_INET;
        String unfit = prefix.isIpv4() != isIpv4
                ? "IPv4 in an IPv6 prefix"
                : body.get(2) != 0 ? "it is for some sources alone" : body.get(3) != 0 ? "it is for a TOS alone" : "";
        if (!unfit.isEmpty()) {
            if (isNew) {
                feed.leaveOut(prefix + ": " + unfit);
            }
            return null;
        }
        List<FeedPath> paths = type == UNICAST ? paths(attributes, isNew, body.getInt(8)) : List.of();
        if (paths.isEmpty()) {
            paths = List.of(new FeedPath(attributes.metric, null, ""));
        }
        if (isNew) {
            feed.announce(prefix, paths, isInPlace);
            return null;
        }
        return feed.withdraw(prefix, paths) ? null : "a route that went was not known so: " + prefix;
    }

    private static Prefix prefix(ByteBuffer body, byte @Nullable [] destination) throws NetlinkException {
        int family = body.get(0);
        int size = family == LibC.AF_INET ? 4 : 16;
        int length = Byte.toUnsignedInt(body.get(1));
        byte[] bytes = destination == null && length == 0 ? new byte[size] : destination;
        if (family != LibC.AF_INET && family != LibC.AF_INET6
                || bytes == null
                || bytes.length != size
                || length > 8 * size) {
            throw broken("destination of family " + family + " with " + length + " bits");
        }
        return Prefix.of(bytes, length);
    }

    /** Returns the paths; of a route that is there without those that are dead. */
    private List<FeedPath> paths(Attributes route, boolean isNew, int flags) throws NetlinkException {
        List<FeedPath> paths = new ArrayList<>(1);
        ByteBuffer hops = route.hops;
        if (hops == null) {
            add(paths, route, route.metric, isNew && (flags & DEAD) != 0);
            return paths;
        }
        for (int at = 0; at < hops.limit() && paths.size() < MAX_HOPS; ) {
            int left = hops.limit() - at;
            int length = left < HOP_BYTES ? 0 : Short.toUnsignedInt(hops.getShort(at));
            if (length < HOP_BYTES || length > left) {
                throw broken("next hop of " + length + " bytes in " + left);
            }
            Attributes hop = new Attributes();
            hop.device = hops.getInt(at + 4);
            readAttributes(slice(hops, at, length), HOP_BYTES, hop::read);
            add(paths, hop, route.metric, isNew && (hops.get(at + 2) & DEAD) != 0);
            at += length + 3 & ~3;
        }
        return paths;
    }

    private void add(List<FeedPath> paths, Attributes hop, long metric, boolean isDead) {
        if (!isDead) {
            paths.add(new FeedPath(metric, hop.gateway, deviceNames.apply(hop.device)));
        }
    }
}
