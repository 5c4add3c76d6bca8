package org.tamanoir.node;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.ee.Placement;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;

/**
 * Reads a node's configuration file into {@link Settings}. Every error is collected as
 * {@code FILE:LINE: path: what, value, bound, remedy}; keys and bounds stand in docs/configuration.md.
 */
final class ConfigFile {
    static final int MAX_OCTETS = 1 << 20;
    private static final int MIN_INBOX_OCTETS = 256 << 10;
    private static final int MAX_INBOX_OCTETS = 1 << 30;
    private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);
    private static final Duration MAX_WAIT = Duration.ofHours(1);
    private static final Duration MAX_IDLE = Duration.ofHours(24);

    private final Settings settings;

    private ConfigFile(Settings settings) {
        this.settings = settings;
    }

    /** Puts what the file says over the settings. */
    static void read(Path file, Settings settings) {
        read(file, settings.problems, root -> new ConfigFile(settings).root(root));
    }

    /** Gives the mapping that a file holds to a reader, unless there is something wrong with it. */
    static void read(Path file, Problems problems, Consumer<Section> reader) {
        String name = file.toString();
        try {
            parse(name, text(file), problems, reader);
        } catch (NoSuchFileException e) {
            problems.add(name, "cannot be read: there is no such file");
        } catch (CharacterCodingException e) {
            problems.add(name, "cannot be read: it is not UTF-8 text; convert it");
        } catch (IOException e) {
            problems.add(name, "cannot be read: " + reason(e));
        }
    }

    /** Puts what the text of a file of this name says over the settings. */
    static void parse(String name, String text, Settings settings) {
        parse(name, text, settings.problems, root -> new ConfigFile(settings).root(root));
    }

    private static void parse(String name, String text, Problems problems, Consumer<Section> reader) {
        try {
            YamlNode root = YamlTree.parse(text);
            reader.accept(new Section(name, "", root, problems));
        } catch (YamlTree.SyntaxException e) {
            problems.add(name + ":" + e.line, String.valueOf(e.getMessage()));
        }
    }

    private static String text(Path file) throws IOException {
        byte[] octets;
        try (InputStream in = Files.newInputStream(file)) {
            octets = in.readNBytes(MAX_OCTETS + 1);
        }
        if (octets.length > MAX_OCTETS) {
            throw new IOException("it is larger than " + Quantity.toString(MAX_OCTETS) + ", too much for settings");
        }
        String text = StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(octets))
                .toString();
        return text.startsWith("\uFEFF") ? text.substring(1) : text;
    }

    private static String reason(IOException e) {
        return e instanceof java.nio.file.AccessDeniedException
                ? "permission denied"
                : e.getMessage() == null ? e.toString() : e.getMessage();
    }

    private void root(Section root) {
        root.allow(
                "listen",
                "routes",
                "services",
                "limits",
                "timeouts",
                "unknown-service",
                "type-id",
                "hop-budget",
                "transport",
                "tls",
                "qos",
                "deploy",
                "levels",
                "admin",
                "cluster");
        listen(root);
        root.sections("routes").forEach(this::route);
        root.sections("services").forEach(this::service);
        limits(root.section("limits"));
        timeouts(root.section("timeouts"));
        settings.unknownService = root.value("unknown-service", settings.unknownService, Choice::failurePolicy);
        settings.typeId = root.value("type-id", settings.typeId, number(1, Settings.MAX_TYPE_ID));
        settings.hopBudget = root.value("hop-budget", settings.hopBudget, number(1, Settings.MAX_HOPS));
        settings.transport = root.value("transport", settings.transport, Choice::sockets);
        settings.tls.read(root.section("tls"));
        settings.qos = QosSection.read(root.section("qos"));
        DeploySection.read(root.section("deploy"), settings.deploy);
        settings.levels.read(root.section("levels"));
        admin(root.section("admin"));
        settings.cluster.read(root.section("cluster"));
    }

    private void admin(Section admin) {
        admin.allow("listen", "token-file", "read-only", "hosts", "tls", "access-log");
        AdminConfig given = settings.admin;
        InetSocketAddress listen = given.listen();
        if (admin.has("listen")) {
            listen = admin.value("listen", AdminConfig::address);
        }
        settings.admin = new AdminConfig(
                listen,
                given.portIsGiven() || admin.has("listen"),
                admin.value("token-file", AdminConfig::tokenFile),
                admin.value("read-only", false, Choice::flag),
                admin.values("hosts", AdminConfig::host),
                admin.value("tls", false, Choice::flag),
                admin.value("access-log", Path::of));
    }

    private void listen(Section root) {
        if (!root.has("listen")) {
            return;
        }
        int problemsBefore = settings.problems.lines().size();
        Section listen = root.section("listen");
        listen.allow("tcp", "udp", "tls");
        settings.tcp = addresses(listen, "tcp");
        settings.udp = addresses(listen, "udp");
        settings.tlsAddresses = addresses(listen, "tls");
        boolean sound = settings.problems.lines().size() == problemsBefore;
        if (sound && settings.tcp.isEmpty() && settings.udp.isEmpty() && settings.tlsAddresses.isEmpty()) {
            settings.problems.add(
                    root.where("listen"),
                    "no address to listen on; add one under tcp, udp or tls, or remove the key for the defaults");
        }
    }

    private List<InetSocketAddress> addresses(Section listen, String key) {
        Set<InetSocketAddress> seen = new HashSet<>();
        return listen.values(key, text -> {
            InetSocketAddress address = Endpoint.listening(text, Anep.DEFAULT_PORT);
            if (address.getPort() != 0 && !seen.add(address)) {
                throw new IllegalArgumentException(
                        Endpoint.toString(address) + " stands here a second time; remove one");
            }
            return address;
        });
    }

    private void route(Section route) {
        route.allow("to", "via", "transport", "kind", "tls");
        Prefix prefix = route.required("to", "10.0.2.0/24", Prefix::parse);
        NextHop.Transport given = route.value("transport", NextHop.Transport.SAME, Choice::transport);
        boolean tls = route.value("tls", false, text -> {
            boolean flag = Choice.flag(text);
            if (flag && given == NextHop.Transport.UDP) {
                throw new IllegalArgumentException("TLS goes over TCP, not over UDP; remove one of the two");
            }
            return flag;
        });
        NextHop.Transport transport = tls ? NextHop.Transport.TLS : given;
        NextHop.@Nullable Kind kind = route.value("kind", Choice::kind);
        route.required("via", "127.0.0.1:3323", via -> {
            if (prefix != null) {
                settings.route(route.where("to"), prefix, via, transport, kind);
            } else {
                Endpoint.parse(via, 1);
            }
            return via;
        });
    }

    private void service(Section service) {
        service.allow("name", "class", "failure-policy", "config", "limits", "level");
        String name = service.required("name", "Monitor", Settings::serviceName);
        var policy = service.value("failure-policy", Choice::failurePolicy);
        Map<String, String> config = service.section("config").texts();
        ServiceLimits limits = limitsOf(service);
        Placement.Wanted level = service.value("level", Placement.Wanted::of);
        String key = service.has("class") ? "class" : "name";
        service.value(key, text -> {
            if (name != null) {
                settings.service(
                        service.where("name"), name, key.equals("class") ? text : null, policy, config, limits, level);
            }
            return text;
        });
    }

    /** Null when it has none. */
    private static @Nullable ServiceLimits limitsOf(Section service) {
        if (!service.has("limits")) {
            return null;
        }
        Section limits = service.section("limits");
        limits.allow("processors", "allocation");
        double processors = limits.value("processors", 0.0, text -> Quantity.processors(text));
        long allocation = limits.value("allocation", 0L, text -> Quantity.octets(text, 1 << 20, 1L << 40));
        return new ServiceLimits(processors, allocation);
    }

    private void limits(Section limits) {
        limits.allow("max-streams", "inbox");
        settings.maxStreams = limits.value("max-streams", settings.maxStreams, number(1, Settings.MAX_STREAMS));
        settings.inboxOctets = limits.value("inbox", settings.inboxOctets, text -> {
            int octets = (int) Quantity.octets(text, MIN_INBOX_OCTETS, MAX_INBOX_OCTETS);
            if (Integer.bitCount(octets) != 1) {
                throw new IllegalArgumentException(text + " is no power of two: take "
                        + Quantity.toString(Integer.highestOneBit(octets)) + " or twice that");
            }
            return octets;
        });
    }

    private void timeouts(Section timeouts) {
        timeouts.allow("first-packet", "connect", "stall", "linger", "drain");
        settings.firstPacketTimeout =
                timeouts.value("first-packet", settings.firstPacketTimeout, duration(MIN_TIMEOUT, MAX_WAIT));
        settings.connectTimeout = timeouts.value("connect", settings.connectTimeout, duration(MIN_TIMEOUT, MAX_WAIT));
        settings.stallTimeout = timeouts.value("stall", settings.stallTimeout, duration(MIN_TIMEOUT, MAX_IDLE));
        settings.lingerTimeout = timeouts.value("linger", settings.lingerTimeout, duration(Duration.ZERO, MAX_IDLE));
        settings.drainTimeout =
                timeouts.value("drain", settings.drainTimeout, duration(Duration.ZERO, Settings.MAX_DRAIN));
    }

    private static Function<String, Integer> number(int min, int max) {
        return text -> Quantity.number(text, min, max);
    }

    private static Function<String, Duration> duration(Duration min, Duration max) {
        return text -> Quantity.duration(text, min, max);
    }
}
