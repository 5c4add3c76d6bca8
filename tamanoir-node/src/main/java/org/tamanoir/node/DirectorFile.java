package org.tamanoir.node;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.BackEnd;
import org.tamanoir.cluster.ClusterService;
import org.tamanoir.cluster.CodeSources;
import org.tamanoir.cluster.DirectorConfig;
import org.tamanoir.cluster.HealthPolicy;
import org.tamanoir.cluster.RegistrationPolicy;
import org.tamanoir.cluster.Vrrp;
import org.tamanoir.cluster.WeightPolicy;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.deploy.PublisherKey;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.routing.Prefix;

/**
 * Reads a director's configuration file. Every error is collected as {@code FILE:LINE: path: what, value, bound,
 * remedy}; keys and bounds stand in docs/cluster.md. One thread.
 */
final class DirectorFile {
    static final int DEFAULT_PORT = 3325;
    static final Duration MIN_INTERVAL = Duration.ofMillis(100);

    private static final Path STATE = Path.of("/var/lib/tamanoir/director");
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofHours(24);
    private static final int MAX_TIMES = 100;
    private static final int MAX_REPOSITORIES = 16;
    private static final int MAX_PUBLISHERS = 64;
    private static final int MAX_DEPLOYED = 256;

    /** IFNAMSIZ of Linux is 16 octets with the zero at the end. */
    private static final Pattern INTERFACE = Pattern.compile("[^/\\s:]{1,15}");

    private static final Pattern SETTING = Pattern.compile("[a-z][a-z0-9_]{0,62}");
    private static final Pattern SETTING_VALUE = Pattern.compile("[A-Za-z0-9_ -]{1,64}");
    private static final Pattern FRACTION = Pattern.compile("[01](\\.\\d{1,9})?");

    private final Problems problems;

    private DirectorFile(Problems problems) {
        this.problems = problems;
    }

    /** What a file says; null when there are problems, which are collected. */
    static @Nullable DirectorSettings read(Path file, Problems problems) {
        DirectorSettings[] read = new DirectorSettings[1];
        ConfigFile.read(file, problems, root -> {
            try {
                read[0] = new DirectorFile(problems).root(root);
            } catch (IllegalArgumentException e) { // A bound of the cluster's own.
                problems.add(root.where(), String.valueOf(e.getMessage()));
            }
        });
        return problems.isEmpty() ? read[0] : null;
    }

    private @Nullable DirectorSettings root(Section root) {
        root.allow(
                "name",
                "state",
                "interface",
                "services",
                "back-ends",
                "health",
                "weights",
                "drain",
                "remove-at-end",
                "settings",
                "registration",
                "admin",
                "code",
                "vrrp",
                "tls");
        String name = root.value("name", DirectorFile::name);
        Path state = root.value("state", STATE, Path::of);
        String networkInterface = root.value("interface", DirectorFile::networkInterface);
        List<ClusterService> services = new DirectorServices(root).services();
        List<BackEnd> backEnds = new DirectorBackEnds(root, services).backEnds();
        HealthPolicy health = health(root.section("health"));
        WeightPolicy weights = weights(root.section("weights"));
        Duration drain = root.value("drain", Duration.ofSeconds(60), duration(Duration.ZERO, DAY));
        boolean removeAtEnd = root.value("remove-at-end", false, Choice::flag);
        Map<String, String> settings = settings(root.section("settings"));
        TlsSettings tls = new TlsSettings();
        tls.read(root.section("tls"));
        tls.check(List.of(), List.of(), problems);
        AdminConfig admin = admin(root.section("admin"), tls);
        InetSocketAddress ready = root.section("admin").value("ready", DirectorFile::loopback);
        Section registering = root.section("registration");
        Path token = root.has("registration")
                ? registering.required("token-file", "/etc/tamanoir/registration.token", AdminConfig::tokenFile)
                : null;
        RegistrationPolicy registration =
                root.has("registration") ? registration(registering, backEnds.size(), admin) : null;
        CodeSources code = code(root.section("code"));
        Vrrp vrrp = root.has("vrrp") ? DirectorVrrp.read(root.section("vrrp"), services) : null;
        if (root.has("vrrp") && networkInterface != null) {
            problems.add(
                    root.where("interface"),
                    networkInterface + " cannot have the virtual addresses: with vrrp keepalived puts them on the "
                            + "interface there; remove interface or vrrp");
        }
        if (!problems.isEmpty()) {
            return null;
        }
        DirectorConfig config = new DirectorConfig(
                name == null ? hostName() : name,
                state,
                networkInterface,
                services,
                backEnds,
                health,
                weights,
                drain,
                removeAtEnd,
                settings,
                registration,
                vrrp,
                code,
                tls.files());
        return new DirectorSettings(config, admin, ready, token);
    }

    private static HealthPolicy health(Section health) {
        health.allow("interval", "timeout", "failures", "successes", "flap-window", "flap-limit", "flap-hold");
        HealthPolicy usual = HealthPolicy.DEFAULT;
        return new HealthPolicy(
                health.value("interval", usual.interval(), duration(MIN_INTERVAL, HOUR)),
                health.value("timeout", usual.timeout(), duration(MIN_INTERVAL, HOUR)),
                health.value("failures", usual.failures(), number(1, MAX_TIMES)),
                health.value("successes", usual.successes(), number(1, MAX_TIMES)),
                health.value("flap-window", usual.flapWindow(), duration(MIN_INTERVAL, DAY)),
                health.value("flap-limit", usual.flapLimit(), number(0, MAX_TIMES)),
                health.value("flap-hold", usual.flapHold(), duration(MIN_INTERVAL, DAY)));
    }

    private static WeightPolicy weights(Section weights) {
        weights.allow("mode", "fixed", "per-processor", "interval", "half-life", "hysteresis", "max-step");
        WeightPolicy usual = WeightPolicy.DEFAULT;
        return new WeightPolicy(
                weights.value(
                        "mode", usual.dynamic(), text -> Choice.of(text, Map.of("fixed", false, "capacity", true))),
                weights.value("fixed", usual.fixed(), number(1, RealServer.MAX_WEIGHT)),
                weights.value("per-processor", usual.perProcessor(), number(1, RealServer.MAX_WEIGHT)),
                weights.value("interval", usual.interval(), duration(MIN_INTERVAL, HOUR)),
                weights.value("half-life", usual.halfLife(), duration(MIN_INTERVAL, HOUR)),
                weights.value("hysteresis", usual.hysteresis(), text -> fraction(text, 0, 0.9)),
                weights.value("max-step", usual.maxStep(), text -> fraction(text, 0.01, 1)));
    }

    private Map<String, String> settings(Section settings) {
        Map<String, String> all = new HashMap<>(DirectorConfig.DEFAULT_SETTINGS);
        settings.texts().forEach((name, value) -> {
            if (!SETTING.matcher(name).matches()) {
                problems.add(
                        settings.where(name),
                        "'" + name + "' is no setting below net.ipv4.vs: its last name alone is wanted, as in "
                                + "expire_nodest_conn");
            } else if (!SETTING_VALUE.matcher(value).matches()) {
                problems.add(
                        settings.where(name),
                        "'" + value + "' is no value: 1 to 64 letters, digits, spaces, '_' or '-' are wanted");
            }
            all.put(name, value);
        });
        return all;
    }

    private AdminConfig admin(Section admin, TlsSettings tls) {
        admin.allow("listen", "token-file", "read-only", "hosts", "tls", "ready");
        InetSocketAddress listen = new InetSocketAddress("127.0.0.1", DEFAULT_PORT);
        if (admin.has("listen")) {
            listen = admin.value("listen", text -> text.equals("off") ? null : Endpoint.listening(text, DEFAULT_PORT));
        }
        boolean withTls = admin.value("tls", false, Choice::flag);
        if (withTls && tls.certificate == null) {
            problems.add(
                    admin.where("tls"),
                    "a server must show a certificate; name files of a certificate and its key under tls");
        }
        return new AdminConfig(
                listen,
                true,
                admin.value("token-file", AdminConfig::tokenFile),
                admin.value("read-only", false, Choice::flag),
                admin.values("hosts", AdminConfig::host),
                withTls,
                null);
    }

    private RegistrationPolicy registration(Section registration, int listed, AdminConfig admin) {
        registration.allow("token-file", "networks", "interval", "expiry", "max-back-ends", "plain");
        RegistrationPolicy usual = RegistrationPolicy.DEFAULT;
        List<Prefix> networks = registration.values("networks", Prefix::parse);
        Duration interval = registration.value("interval", usual.interval(), duration(MIN_INTERVAL, HOUR));
        Duration expiry = registration.value("expiry", usual.expiry(), duration(MIN_INTERVAL, Duration.ofHours(168)));
        int maxBackEnds = registration.value("max-back-ends", usual.maxBackEnds(), number(1, usual.maxBackEnds()));
        if (expiry.compareTo(interval.multipliedBy(2)) < 0) {
            problems.add(
                    registration.where("expiry"),
                    Quantity.toString(expiry) + " must be at least twice the interval of " + Quantity.toString(interval)
                            + ", or back-ends are forgotten between two registrations");
            expiry = usual.expiry().plus(interval.multipliedBy(2));
        }
        if (maxBackEnds < listed) {
            problems.add(
                    registration.where("max-back-ends"),
                    maxBackEnds + " must be at least " + listed + ": that many are listed in back-ends");
        }
        boolean plain = registration.value("plain", false, Choice::flag);
        InetSocketAddress listen = admin.listen();
        if (listen == null) {
            problems.add(
                    registration.where(), "needs the API, and admin.listen is off: give it an address, or remove it");
        } else if (!plain && !admin.tls() && !listen.getAddress().isLoopbackAddress()) {
            problems.add(
                    registration.where(),
                    "the token would cross the network in clear, since admin.listen is " + Endpoint.toString(listen)
                            + " without TLS: set admin.tls, or plain: true on a network that nobody else is on");
        }
        return new RegistrationPolicy(networks, interval, expiry, maxBackEnds);
    }

    private CodeSources code(Section code) {
        code.allow("repositories", "trust", "deploy");
        List<URI> repositories = code.values("repositories", DeploySettings::repository);
        List<CodeSources.Publisher> publishers = new ArrayList<>();
        code.sections("trust").forEach(publisher -> trust(publisher, publishers));
        List<String> services = code.values("deploy", DirectorFile::service);
        atMost(code, "repositories", repositories.size(), MAX_REPOSITORIES);
        atMost(code, "trust", publishers.size(), MAX_PUBLISHERS);
        atMost(code, "deploy", services.size(), MAX_DEPLOYED);
        return new CodeSources(repositories, publishers, services);
    }

    private static void trust(Section publisher, List<CodeSources.Publisher> publishers) {
        publisher.allow("key", "names");
        List<String> names = publisher.values("names", Function.identity());
        publisher.required("key", "publisher.pub", file -> publishers.add(publisher(Path.of(file), names)));
    }

    private static CodeSources.Publisher publisher(Path file, List<String> names) {
        try {
            PublisherKey key = PublisherKey.read(file); // Its bounds hold for the text too.
            new TrustPolicy(
                    List.of(new TrustPolicy.Publisher(key, names.isEmpty() ? List.of("*") : names)),
                    Set.of(),
                    Set.of(),
                    false);
            return new CodeSources.Publisher(Files.readString(file, StandardCharsets.US_ASCII), names);
        } catch (IOException e) {
            throw new IllegalArgumentException(String.valueOf(e.getMessage()), e);
        }
    }

    // ---- values ----------------------------------------------------------------------------------------------------

    /** A name of a director, back-end or service of the cluster. */
    static String name(String text) {
        if (!text.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}")) {
            throw new IllegalArgumentException(
                    "'" + text
                            + "' is no name: 1 to 63 letters, digits, '.', '_' and '-' are wanted, the first a letter or digit");
        }
        return text;
    }

    /** An address of a host, not a name: the kernel's table has addresses, and nothing is looked up for it. */
    static InetAddress address(String text) {
        try {
            Prefix.parse(text);
            InetAddress address = text.indexOf('/') < 0 ? InetAddress.getByName(text) : InetAddress.getByName("::");
            if (!address.isAnyLocalAddress() && !address.isMulticastAddress()) {
                return address;
            }
        } catch (IllegalArgumentException | java.net.UnknownHostException e) {
            // The line below says what is wanted.
        }
        throw new IllegalArgumentException("'" + text
                + "' is no address of a host: an IPv4 or IPv6 address is wanted, as in 10.0.0.1; no name, no wildcard");
    }

    static String networkInterface(String text) {
        if (!INTERFACE.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no network interface: 1 to 15 characters are wanted, as ip link names it");
        }
        return text;
    }

    private static InetSocketAddress loopback(String text) {
        InetSocketAddress address = Endpoint.listening(text, DEFAULT_PORT + 1);
        if (!address.getAddress().isLoopbackAddress()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not loopback: it is for programs of this host, as in 127.0.0.1:3326");
        }
        return address;
    }

    private static String service(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            return ServiceId.requireName(text);
        }
        return ServiceId.parse(text).toString();
    }

    private static double fraction(String text, double min, double max) {
        double value = FRACTION.matcher(text).matches() ? Double.parseDouble(text) : -1;
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    "'" + text + "' is out of bounds: a number from " + min + " to " + max + " is wanted, as in 0.25");
        }
        return value;
    }

    private void atMost(Section section, String key, int count, int most) {
        if (count > most) {
            problems.add(section.where(key), count + " are too many: " + most + " are allowed");
        }
    }

    private static String hostName() {
        try {
            String name = Files.readString(HOST_NAME).strip().replaceAll("[^A-Za-z0-9._-]", "-");
            return name(name.substring(0, Math.min(name.length(), 63)));
        } catch (IOException | IllegalArgumentException e) {
            return "director";
        }
    }

    static Function<String, Integer> number(int min, int max) {
        return text -> Quantity.number(text, min, max);
    }

    static Function<String, Duration> duration(Duration min, Duration max) {
        return text -> Quantity.duration(text, min, max);
    }
}
