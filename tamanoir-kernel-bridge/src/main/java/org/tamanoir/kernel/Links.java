package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
 * @param kind of a virtual one, as "ip link add type" names it; else empty
 * @param above index of the interface through which what comes in through this one comes in again: the bridge, bond or
 *     team that it is a port of; 0: none
 * @param beneath index of the interface of this namespace that this one shares (macvlan, ipvlan); 0: none
 * @param address of its link layer; empty where it has none
 */
record Links(int index, String name, int hardwareType, String kind, int above, int beneath, ByteBuffer address) {

    private static final int GET_LINK = 18;
    private static final int HEADER_BYTES = 16;
    private static final int ADDRESS = 1;
    private static final int NAME = 3;
    private static final int LINK = 5;
    private static final int MASTER = 10;
    private static final int LINK_INFO = 18;
    private static final int LINK_NAMESPACE = 37;
    private static final int LINK_INFO_KIND = 1;
    private static final Set<String> SHARING = Set.of("macvlan", "macvtap", "ipvlan", "ipvtap");
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
                addTo(links, answer);
            }
            return links;
        }
    }

    /** Returns these as they are now, without those that are gone, and without reading all that there are. */
    static List<Links> again(List<Links> links) throws NetlinkException {
        try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.ROUTE)) {
            List<Links> now = new ArrayList<>();
            for (Links link : links) {
                try {
                    for (ByteBuffer answer : socket.exchange(NetlinkRequest.link(link.index))) {
                        addTo(now, answer);
                    }
                } catch (NetlinkException e) {
                    if (e.errno() != LibC.ENODEV) {
                        throw e;
                    }
                }
            }
            return now;
        }
    }

    private static void addTo(List<Links> links, ByteBuffer answer) {
        ByteBuffer name = NetlinkAttributes.find(answer, HEADER_BYTES, NAME);
        String kind = kind(answer);
        if (name != null) {
            links.add(new Links(
                    answer.getInt(4),
                    NetlinkAttributes.text(name),
                    Short.toUnsignedInt(answer.getShort(2)),
                    kind,
                    number(answer, MASTER),
                    beneath(answer, kind),
                    address(answer)));
        }
    }

    private static int beneath(ByteBuffer link, String kind) {
        boolean isOfOtherNamespace = NetlinkAttributes.find(link, HEADER_BYTES, LINK_NAMESPACE) != null;
        return SHARING.contains(kind) && !isOfOtherNamespace ? number(link, LINK) : 0;
    }

    private static ByteBuffer address(ByteBuffer link) {
        ByteBuffer value = NetlinkAttributes.find(link, HEADER_BYTES, ADDRESS);
        return value == null ? ByteBuffer.allocate(0) : value;
    }

    private static int number(ByteBuffer link, int attribute) {
        ByteBuffer value = NetlinkAttributes.find(link, HEADER_BYTES, attribute);
        return value == null ? 0 : value.getInt(0);
    }

    private static String kind(ByteBuffer link) {
        ByteBuffer info = NetlinkAttributes.find(link, HEADER_BYTES, LINK_INFO);
        ByteBuffer kind = info == null ? null : NetlinkAttributes.find(info, 0, LINK_INFO_KIND);
        return kind == null ? "" : NetlinkAttributes.text(kind);
    }

    /** Returns whether it is one of two virtual interfaces, where what one sends comes in through the other (veth). */
    boolean isVirtualPair() {
        return kind.equals("veth");
    }

    /**
     * Looks whether each packet comes in through one of these alone. A VLAN's interface is apart from that beneath it,
     * whose tagged frames no level looks at, and a VRF's has no ingress.
     *
     * @param all that there are, through some of which packets come from one to another
     * @throws LevelException if a packet comes in through two of them, and a policy would act on it twice
     */
    static void checkApart(List<Links> links, List<Links> all) throws LevelException {
        for (Links lower : links) {
            Set<Links> uppers = new HashSet<>();
            addUppers(lower, all, uppers);
            for (Links upper : links) {
                if (uppers.contains(upper)) {
                    throw new LevelException("packets that come in through " + lower.name + " come in through "
                            + upper.name + " again, and policies would act on them twice: name one of the two");
                }
            }
        }
    }

    /** Adds all through which what comes in through one comes in again. */
    private static void addUppers(Links lower, List<Links> all, Set<Links> uppers) {
        for (Links upper : all) {
            boolean isPort = lower.above == upper.index && !upper.kind.equals("vrf");
            if ((isPort || upper.beneath == lower.index) && uppers.add(upper)) {
                addUppers(upper, all, uppers);
            }
        }
    }

    /**
     * Returns those of these names, through one of which alone each packet comes in.
     *
     * @throws LevelException if one cannot be had, or not with the others
     */
    static List<Links> namedApart(List<String> names) throws LevelException {
        try {
            List<Links> all = all();
            List<Links> named = named(names, all);
            checkApart(named, all);
            return named;
        } catch (NetlinkException e) {
            throw unreadable(e);
        }
    }

    /**
     * Returns those of these names.
     *
     * @throws LevelException if one is not there, or its frames do not begin as Ethernet's
     */
    static List<Links> named(List<String> names) throws LevelException {
        try {
            return named(names, all());
        } catch (NetlinkException e) {
            throw unreadable(e);
        }
    }

    private static List<Links> named(List<String> names, List<Links> all) throws LevelException {
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
    }

    private static LevelException unreadable(NetlinkException e) {
        return new LevelException("network interfaces: " + e.getMessage(), e);
    }
}
