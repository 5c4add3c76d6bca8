package org.tamanoir.kernel;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
 *   address:    0 u8 family | 4 u32 number of the interface | 8 attributes ...
 *   object:     0 u8 family | 8 attributes ..., of a next hop that routes share (ip nexthop)
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
    private static final int NEW_SETTINGS = 80;
    private static final int NEW_OBJECT = 104;
    private static final int DELETE_OBJECT = 105;

    private static final int LINK_BYTES = 16;
    private static final int LINK_NAME = 3;
    /** AF_BRIDGE: what a bridge says of an interface, which goes on when it is a port no more. */
    private static final int BRIDGE_PORT = 7;
    /** IFF_UP, IFF_RUNNING, IFF_LOWER_UP. */
    private static final int LINK_STATE = 0x1 | 0x40 | 0x1_0000;

    private static final int ADDRESS_BYTES = 8;
    private static final int ADDRESS_OWN = 2;
    private static final int SETTINGS_BYTES = 4;
    private static final int SETTINGS_INTERFACE = 1;
    private static final int OBJECT_BYTES = 8;
    private static final int OBJECT_NUMBER = 1;

    private static final int ROUTE_BYTES = 12;
    private static final int DESTINATION = 1;
    private static final int INTERFACE = 4;
    private static final int GATEWAY = 5;
    private static final int PRIORITY = 6;
    private static final int SOURCE = 7;
    private static final int MULTIPATH = 9;
    private static final int VIA = 18; // a gateway of the other family: u16 family, address
    private static final int OBJECT = 30;

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
    private final RouteFeed feed;
    private final Map<Integer, Link> links = new HashMap<>();
    /** Own addresses that routes send from, and the objects that they go by: the kernel has them as long as the routes. */
    private final Set<InetAddress> sources = new HashSet<>();

    private final Set<Integer> objects = new HashSet<>();
    private boolean mayLack;

    private static final class Link {
        final String name;
        final int state;
        boolean isUsed;

        Link(String name, int state, boolean isUsed) {
            this.name = name;
            this.state = state;
            this.isUsed = isUsed;
        }
    }

    RouteMessages(int table, Set<Integer> protocols, RouteFeed feed) {
        this.table = table;
        this.protocols = Set.copyOf(protocols);
        this.feed = feed;
    }

    /** Forgets what it knows: a list of interfaces comes, and one of the routes of each family. */
    void beginReading() {
        links.clear();
        sources.clear();
        objects.clear();
    }

    /** Has {@link #mayLack} be about the list that comes. */
    void beginList() {
        mayLack = false;
    }

    /**
     * Reads a part of a list of interfaces or routes.
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
            mayLack |= (flags & INTERRUPTED) != 0;
            if (type == DONE || type == ERROR) {
                int error = body.limit() < Integer.BYTES ? 0 : body.getInt(0);
                if (error < 0) {
                    throw new NetlinkException(-error, "route netlink: " + LibC.strerror(-error));
                }
                return true;
            }
            if (type == NEW_ROUTE) {
                readRoute(body, Kind.LISTED);
            } else if (type == NEW_LINK) {
                readLink(body, false);
            }
        }
        return false;
    }

    /**
     * Returns whether a list of IPv6 routes may lack some that stay, since one went: behind each part of the list the
     * kernel passes over as many as it had listed (fib6_dump_table), where it goes on by the prefix in IPv4.
     */
    boolean mayLack() {
        return mayLack;
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
                case NEW_ROUTE -> readRoute(body, (flags & REPLACE) != 0 ? Kind.REPLACED : Kind.ADDED);
                case DELETE_ROUTE -> readRoute(body, Kind.WITHDRAWN);
                // The kernel says nothing of most routes that go with one of these, or come back.
                case NEW_LINK -> readLink(body, false);
                case DELETE_LINK -> readLink(body, true);
                case DELETE_ADDRESS -> readAddress(body);
                case NEW_SETTINGS -> readSettings(body);
                case NEW_OBJECT, DELETE_OBJECT -> readObject(body);
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
        require(body, LINK_BYTES, "link");
        if (body.get(0) == BRIDGE_PORT) {
            return null;
        }
        ByteBuffer name = NetlinkAttributes.find(body, LINK_BYTES, LINK_NAME);
        int number = body.getInt(4);
        Link before = links.get(number);
        Link now = new Link(
                name == null ? "" : NetlinkAttributes.text(name),
                isGone ? 0 : body.getInt(8) & LINK_STATE,
                before != null && before.isUsed);
        if (isGone) {
            links.remove(number);
        } else {
            links.put(number, now);
        }
        boolean isSame = before == null || !isGone && before.state == now.state && before.name.equals(now.name);
        return now.isUsed && !isSame ? "interface " + now.name + " changed" : null;
    }

    private @Nullable String readAddress(ByteBuffer body) throws NetlinkException {
        require(body, ADDRESS_BYTES, "address");
        ByteBuffer own = NetlinkAttributes.find(body, ADDRESS_BYTES, ADDRESS_OWN);
        boolean isUsed = isUsed(body.getInt(4)) || own != null && sources.contains(Attributes.address(own, 0));
        return isUsed ? "an address was removed" : null;
    }

    private @Nullable String readSettings(ByteBuffer body) throws NetlinkException {
        require(body, SETTINGS_BYTES, "settings");
        ByteBuffer link = NetlinkAttributes.find(body, SETTINGS_BYTES, SETTINGS_INTERFACE);
        return link != null && isUsed(Attributes.number(link)) ? "settings of an interface changed" : null;
    }

    private @Nullable String readObject(ByteBuffer body) throws NetlinkException {
        require(body, OBJECT_BYTES, "next hop object");
        ByteBuffer number = NetlinkAttributes.find(body, OBJECT_BYTES, OBJECT_NUMBER);
        return number != null && objects.contains(Attributes.number(number))
                ? "a next hop of routes changed, ip nexthop"
                : null;
    }

    private boolean isUsed(int number) {
        Link link = links.get(number);
        return link != null && link.isUsed;
    }

    /** Returns the name of an interface that a route goes by. */
    private String use(int number) {
        Link link = links.computeIfAbsent(number, n -> new Link("#" + n, 0, true));
        link.isUsed = true;
        return link.name;
    }

    private static void require(ByteBuffer body, int bytes, String what) throws NetlinkException {
        if (body.limit() < bytes) {
            throw broken(what + " of " + body.limit() + " bytes");
        }
    }

    /** What the attributes of a route or of one of its next hops say. */
    private static final class Attributes {
        byte @Nullable [] destination;
        int table;
        long metric;
        int device;
        int object;

        @Nullable
        InetAddress gateway;

        @Nullable
        InetAddress source;

        @Nullable
        ByteBuffer hops;

        boolean isObjectAlone() {
            return object != 0 && device == 0 && hops == null;
        }

        void read(int type, ByteBuffer value) throws NetlinkException {
            switch (type) {
                case DESTINATION -> destination = bytes(value, 0);
                case GATEWAY -> gateway = address(value, 0);
                case VIA -> gateway = address(value, 2);
                case SOURCE -> source = address(value, 0);
                case OBJECT -> object = number(value);
                case INTERFACE -> device = number(value);
                case PRIORITY -> metric = Integer.toUnsignedLong(number(value));
                case ROUTE_TABLE -> table = number(value);
                case MULTIPATH -> hops = value;
                default -> {}
            }
        }

        static int number(ByteBuffer value) throws NetlinkException {
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

        static InetAddress address(ByteBuffer value, int from) throws NetlinkException {
            byte[] bytes = bytes(value, from);
            try {
                return InetAddress.getByAddress(bytes);
            } catch (UnknownHostException e) {
                throw broken("address of " + bytes.length + " bytes");
            }
        }
    }

    /** How a route is told. */
    private enum Kind {
        LISTED,
        ADDED,
        REPLACED,
        WITHDRAWN
    }

    /** Returns why all routes have to be read anew, null = they need not. */
    private @Nullable String readRoute(ByteBuffer body, Kind kind) throws NetlinkException {
        require(body, ROUTE_BYTES, "route");
        Attributes attributes = new Attributes();
        attributes.table = Byte.toUnsignedInt(body.get(4));
        readAttributes(body, ROUTE_BYTES, attributes::read);
        if (attributes.table != table || (body.getInt(8) & CLONED) != 0) {
            return null;
        }
        boolean isIpv4 = body.get(0) == LibC.AF_INET;
        mayLack |= !isIpv4 && kind == Kind.WITHDRAWN;
        int type = Byte.toUnsignedInt(body.get(7));
        boolean isFollowed = protocols.contains(Byte.toUnsignedInt(body.get(5)))
                && (type == UNICAST || type >= BLACKHOLE && type <= THROW);
        if (!isFollowed && kind != Kind.REPLACED) {
            return null;
        }
        Prefix prefix = prefix(body, attributes.destination);
        String unfit = prefix.isIpv4() != isIpv4
                ? "IPv4 in an IPv6 prefix"
                : body.get(2) != 0
                        ? "it is for some sources alone"
                        : body.get(3) != 0
                                ? "it is for a TOS alone"
                                : type == UNICAST && attributes.isObjectAlone()
                                        ? "its gateways are not told: sysctl net.ipv4.nexthop_compat_mode=1"
                                        : "";
        if (!unfit.isEmpty()) {
            if (isFollowed && kind != Kind.WITHDRAWN) {
                feed.leaveOut(prefix + ": " + unfit);
            }
            return null;
        }
        List<FeedPath> paths = isFollowed ? paths(attributes, kind, type, body.getInt(8)) : List.of();
        boolean isKnown = true;
        switch (kind) {
            case LISTED -> feed.list(prefix, paths);
            case ADDED -> feed.announce(prefix, paths);
            case REPLACED -> isKnown = feed.replace(prefix, attributes.metric, paths);
            case WITHDRAWN -> isKnown = feed.withdraw(prefix, paths);
        }
        return isKnown ? null : "a route that went was not known so: " + prefix;
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

    /** Returns the paths, at least one; of a route that is there without those that are dead. */
    private List<FeedPath> paths(Attributes route, Kind kind, int type, int flags) throws NetlinkException {
        List<FeedPath> paths = new ArrayList<>(1);
        if (type == UNICAST) {
            addAll(paths, route, kind != Kind.WITHDRAWN, flags);
        }
        if (paths.isEmpty()) {
            paths.add(new FeedPath(route.metric, null, ""));
        }
        return paths;
    }

    private void addAll(List<FeedPath> paths, Attributes route, boolean isThere, int flags) throws NetlinkException {
        if (route.source != null) {
            sources.add(route.source);
        }
        if (route.object != 0) {
            objects.add(route.object);
        }
        ByteBuffer hops = route.hops;
        if (hops == null) {
            add(paths, route, route.metric, isThere && (flags & DEAD) != 0);
            return;
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
            add(paths, hop, route.metric, isThere && (hops.get(at + 2) & DEAD) != 0);
            at += length + 3 & ~3;
        }
    }

    private void add(List<FeedPath> paths, Attributes hop, long metric, boolean isDead) {
        String device = use(hop.device);
        if (!isDead) {
            paths.add(new FeedPath(metric, hop.gateway, device));
        }
    }
}
