package org.tamanoir.node.reflect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.reflect.Format;
import org.tamanoir.cluster.reflect.MemberConfig;
import org.tamanoir.cluster.reflect.SessionConfig;
import org.tamanoir.cluster.reflect.Terms;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.Kind;
import org.tamanoir.node.config.MemberText;
import org.tamanoir.node.config.Section;
import org.tamanoir.node.config.Setting;
import org.tamanoir.node.config.Values;
import org.tamanoir.routing.Prefix;

/** The settings of a reflector. */
final class ReflectTable {
    static final int DEFAULT_PORT = 5004;
    static final int ADMIN_PORT = 3326;

    static final Kind<Format> FORMAT = Kind.choice(Map.of("udp", Format.UDP, "rtp", Format.RTP, "anep", Format.ANEP));

    static final Setting.Table TABLE = new Setting.Table("reflect");
    static final Setting<Optional<InetSocketAddress>> ADMIN = TABLE.add(
            "admin.listen", Kind.addressOrOff(ADMIN_PORT), Optional.of(new InetSocketAddress("127.0.0.1", ADMIN_PORT)));
    static final Setting<Path> ADMIN_TOKEN = TABLE.add("admin.token-file", AdminConfig.TOKEN_FILE, null, "none");

    static final Setting<Boolean> ADMIN_PLAIN = TABLE.add("admin.plain", AdminConfig.PLAIN, false);

    static final Setting.Table SESSIONS = new Setting.Table("reflect.sessions");
    private static final Setting<String> NAME =
            SESSIONS.require("name", Kind.text("1 to 63 letters, digits, `.`, `_`, `-`", text -> text), "lecture");
    private static final Setting<InetSocketAddress> LISTEN = SESSIONS.require(
            "listen",
            Kind.of("`HOST:PORT`", text -> Endpoint.ofAny(text, DEFAULT_PORT), Endpoint::toString),
            "'*:5004'");
    private static final Setting<Format> WHAT = SESSIONS.add("format", FORMAT, Format.UDP);
    private static final Setting<InetAddress> GROUP = SESSIONS.add(
            "group",
            Kind.of("address", text -> new Endpoint(text, 0).address(), InetAddress::getHostAddress),
            null,
            "none");
    private static final Setting<List<MemberConfig>> MEMBERS = SESSIONS.add(
            "members",
            Kind.list("list of `HOST:PORT[,send\\|receive\\|both][,RATE][,class=N]`", MemberText::member),
            List.of(),
            "none");
    private static final Setting<List<Prefix>> JOIN =
            SESSIONS.add("join", Kind.list("list of prefixes, at most 64", Prefix::parse), List.of(), "none");
    private static final Setting<Terms> JOINED = SESSIONS.add(
            "joined",
            Kind.of("`send\\|receive\\|both[,RATE][,class=N]`", MemberText::terms, MemberText::of),
            Terms.OPEN);
    private static final Setting<Duration> TIMEOUT = SESSIONS.add(
            "join-timeout",
            Kind.duration(Duration.ofSeconds(1), SessionConfig.MAX_TIMEOUT),
            SessionConfig.DEFAULT_TIMEOUT);
    private static final Setting<List<Prefix>> SEND =
            SESSIONS.add("send", Kind.list("list of prefixes, at most 64", Prefix::parse), List.of(), "none");
    private static final Setting<Integer> MAX_MEMBERS =
            SESSIONS.add("max-members", Kind.number("", 1, SessionConfig.MAX_MEMBERS), SessionConfig.DEFAULT_MEMBERS);
    private static final Setting<Integer> PER_ADDRESS = SESSIONS.add(
            "max-members-per-address",
            Kind.number("", 1, SessionConfig.MAX_MEMBERS),
            SessionConfig.DEFAULT_PER_ADDRESS);
    private static final Setting<Integer> CLOCK =
            SESSIONS.add("clock-rate", Kind.number("Hz, ", 1, 1_000_000), SessionConfig.DEFAULT_CLOCK);

    private ReflectTable() {}

    /**
     * Reads a session; null when something is missing, which is told.
     *
     * @throws IllegalArgumentException in one line, if its values do not fit together
     */
    static @Nullable SessionConfig session(Section section) {
        Values values = Values.of(section, SESSIONS.settings());
        String name = values.find(NAME);
        InetSocketAddress listen = values.find(LISTEN);
        if (name == null || listen == null) {
            return null;
        }
        return new SessionConfig(
                name,
                listen,
                values.find(GROUP),
                values.get(WHAT),
                values.get(MEMBERS),
                values.get(JOIN),
                values.get(SEND),
                values.get(JOINED),
                values.get(TIMEOUT),
                values.get(MAX_MEMBERS),
                values.get(PER_ADDRESS),
                values.get(CLOCK));
    }
}
