package org.tamanoir.cluster.reflect;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Prefix;

/**
 * A session.
 *
 * @param input where its datagrams come in, a multicast group if need be; RTCP on the port behind it
 * @param group a multicast group that is received at {@code input}'s port too; null = none
 * @param members listed ones
 * @param joinFrom who may join by a cookie; empty = nobody
 * @param sendFrom who may send without being a member; empty = nobody
 * @param joined for members that join by a cookie
 * @param joinTimeout how long it stays when nothing comes from it, 1 s to 1 min: a proof holds no longer
 * @param maxMembers 1 to {@value #MAX_MEMBERS}
 * @param maxPerAddress of those that join by a cookie, at one address; of IPv6 in one /64
 * @param clockRate of RTP's timestamps, in Hz
 */
public record SessionConfig(
        String name,
        InetSocketAddress input,
        @Nullable InetAddress group,
        Format format,
        List<MemberConfig> members,
        List<Prefix> joinFrom,
        List<Prefix> sendFrom,
        Terms joined,
        Duration joinTimeout,
        int maxMembers,
        int maxPerAddress,
        int clockRate) {
    /** Members of one session at most. */
    public static final int MAX_MEMBERS = 4_096;

    /** Members of one session unless more are asked for. */
    public static final int DEFAULT_MEMBERS = 1_000;

    /** Members that join by a cookie at one address unless said otherwise. */
    public static final int DEFAULT_PER_ADDRESS = 8;

    /** How long a member that joined by a cookie may be silent unless said otherwise. */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

    /** How long it may be silent at most. */
    public static final Duration MAX_TIMEOUT = Duration.ofMinutes(1);

    /** That of video, in Hz (RFC 3551). */
    public static final int DEFAULT_CLOCK = 90_000;

    /** Prefixes of one list at most: they are looked through one by one. */
    public static final int MAX_PREFIXES = 64;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final int MAX_CLOCK = 1_000_000;

    /**
     * Checks bounds, and that members can be reached from the input.
     *
     * @throws IllegalArgumentException in one line
     */
    public SessionConfig {
        members = List.copyOf(members);
        joinFrom = List.copyOf(joinFrom);
        sendFrom = List.copyOf(sendFrom);
        require(NAME.matcher(name).matches(), name, "1 to 63 letters, digits, '.', '_' and '-' make a name");
        require(maxMembers >= 1 && maxMembers <= MAX_MEMBERS, name, maxMembers + " members: 1 to " + MAX_MEMBERS);
        require(
                members.size() <= maxMembers,
                name,
                members.size() + " members are listed and " + maxMembers + " allowed: raise max-members, at most "
                        + MAX_MEMBERS);
        require(
                maxPerAddress >= 1 && maxPerAddress <= MAX_MEMBERS,
                name,
                maxPerAddress + " members of one address: 1 to " + MAX_MEMBERS);
        require(
                joinFrom.size() <= MAX_PREFIXES && sendFrom.size() <= MAX_PREFIXES,
                name,
                "a list of prefixes is too long: " + MAX_PREFIXES + " are allowed");
        require(
                joinTimeout.compareTo(Duration.ofSeconds(1)) >= 0 && joinTimeout.compareTo(MAX_TIMEOUT) <= 0,
                name,
                "join time-out " + joinTimeout.toMillis() + " ms: 1 s to 1 min");
        require(clockRate >= 1 && clockRate <= MAX_CLOCK, name, "clock rate " + clockRate + " Hz: 1 to " + MAX_CLOCK);
        require(
                input.getPort() == 0 || format != Format.RTP || input.getPort() < 65_535,
                name,
                "RTP at port 65535 leaves none for RTCP: use a lower port");
        require(
                group == null || group.isMulticastAddress() && isV6(group) == isV6(input.getAddress()),
                name,
                "group must be a multicast address of the input's family");
        require(
                group == null || input.getAddress().isAnyLocalAddress(),
                name,
                "group needs an input at all addresses, as in *:5004: else its datagrams do not come there");
        require(
                format == Format.ANEP || joined.quality() == Terms.ALL,
                name,
                "who joins gets a class: only ANEP packets have one");
        Set<InetSocketAddress> seen = new HashSet<>();
        for (MemberConfig member : members) {
            checkMember(name, input, format, member);
            requireOther(name, input, group, format, member, OwnAddresses.LOOPBACK);
            require(seen.add(member.address()), name, "member " + Addresses.text(member.address()) + " stands twice");
        }
    }

    /** A session of these members that nobody can join. */
    public static SessionConfig of(String name, InetSocketAddress input, Format format, List<MemberConfig> members) {
        return new SessionConfig(
                name,
                input,
                null,
                format,
                members,
                List.of(),
                List.of(),
                Terms.OPEN,
                DEFAULT_TIMEOUT,
                DEFAULT_MEMBERS,
                DEFAULT_PER_ADDRESS,
                DEFAULT_CLOCK);
    }

    /** Returns whether both cannot be bound side by side. */
    boolean overlaps(SessionConfig other) {
        int first = input.getPort();
        int its = other.input.getPort();
        InetAddress address = input.getAddress();
        InetAddress others = other.input.getAddress();
        boolean sameAddress = isV6(address) == isV6(others)
                && (address.isAnyLocalAddress() || others.isAnyLocalAddress() || address.equals(others));
        return sameAddress
                && first != 0
                && its != 0
                && first <= its + other.portsBehind()
                && its <= first + portsBehind();
    }

    private int portsBehind() {
        return format == Format.RTP ? 1 : 0;
    }

    /** Checks a member that is to be added. */
    void check(MemberConfig member) {
        checkMember(name, input, format, member);
    }

    /**
     * Refuses a member that is the session itself: what it is sent would come back.
     *
     * @param bound the input with its real port
     * @throws IllegalArgumentException in one line
     */
    void requireOther(MemberConfig member, InetSocketAddress bound, OwnAddresses own) {
        requireOther(name, bound, group, format, member, own);
    }

    private static void requireOther(
            String name,
            InetSocketAddress input,
            @Nullable InetAddress group,
            Format format,
            MemberConfig member,
            OwnAddresses own) {
        InetSocketAddress address = member.address();
        // Of RTP both have two ports.
        int apart = Math.abs(address.getPort() - input.getPort());
        boolean isAtOwnPort = input.getPort() != 0 && apart <= (format == Format.RTP ? 1 : 0);
        boolean isGroup =
                address.getAddress().equals(group) || address.getAddress().equals(input.getAddress());
        require(
                !(isAtOwnPort && (isGroup || own.contains(address.getAddress()))),
                name,
                "member " + Addresses.text(address) + " is "
                        + (address.getAddress().isMulticastAddress()
                                ? "a group that it receives"
                                : "an address of this host")
                        + " at the session's own port: it would feed itself; give it another port");
    }

    private static void checkMember(String name, InetSocketAddress input, Format format, MemberConfig member) {
        InetSocketAddress address = member.address();
        String text = "member " + Addresses.text(address);
        require(
                isV6(address.getAddress()) == isV6(input.getAddress()),
                name,
                text + " is of another family than the input " + Addresses.text(input)
                        + ": make a session for each family");
        require(format != Format.RTP || address.getPort() < 65_535, name, text + " leaves no port for RTCP");
        require(
                format == Format.ANEP || member.terms().quality() == Terms.ALL,
                name,
                text + " has a class: only ANEP packets have one");
        require(
                !address.getAddress().isMulticastAddress() || member.terms().direction() == Direction.RECEIVE,
                name,
                text + " is a group, which sends nothing: give it the direction receive");
    }

    private static boolean isV6(InetAddress address) {
        return address instanceof Inet6Address;
    }

    private static void require(boolean holds, String session, String what) {
        if (!holds) {
            throw new IllegalArgumentException("session " + session + ": " + what);
        }
    }
}
