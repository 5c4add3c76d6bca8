package org.tamanoir.node.director;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.HealthPolicy;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.cluster.config.Vrrp;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.DeploySettings;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.Kind;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.node.config.Section;
import org.tamanoir.node.config.Values;
import org.tamanoir.node.ctl.AdminKind;

/**
 * Reads a director's configuration file. Every error is collected as {@code FILE:LINE: path: what, value, bound,
 * remedy}; keys and bounds stand in docs/cluster.md. One thread.
 */
public final class DirectorFile {
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final int MAX_REPOSITORIES = 16;
    private static final int MAX_PUBLISHERS = 64;
    private static final int MAX_DEPLOYED = 256;

    /** IFNAMSIZ of Linux is 16 bytes with the zero at the end. */
    private static final Pattern INTERFACE_NAME = Pattern.compile("[^/\\s:]{1,15}");

    private static final Pattern SETTING = Pattern.compile("[a-z][a-z0-9_]{0,62}");
    private static final Pattern SETTING_VALUE = Pattern.compile("[A-Za-z0-9_ -]{1,64}");

    static final Kind<InetAddress> ADDRESS = Kind.of("IPv4 or IPv6", Endpoint::ofHost, InetAddress::getHostAddress);
    static final Kind<String> INTERFACE = Kind.text("name", DirectorFile::networkInterface);

    private final Problems problems;
    private final Values values = new Values();

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
        List<String> keys = new ArrayList<>(DirectorTable.topKeys());
        keys.addAll(List.of("services", "back-ends", "vrrp"));
        root.allow(keys.toArray(String[]::new));
        List<ClusterService> services = new DirectorServices(root).services();
        DirectorBackEnds listed = new DirectorBackEnds(root, services);
        List<BackEnd> backEnds = listed.backEnds();
        DirectorTable.of("").forEach(setting -> values.read(root, setting));
        for (String section : List.of("health", "weights", "admin", "code", "tls")) {
            values.read(root.section(section), DirectorTable.of(section));
        }
        DirectorTable.TLS.check(values, problems);
        AdminConfig admin = admin(root.section("admin"));
        RegistrationPolicy registration =
                root.has("registration") ? registration(root.section("registration"), backEnds.size(), admin) : null;
        Path token = values.find(DirectorTable.REGISTRATION_TOKEN);
        DirectorTokens.requireDifferent(root, admin.tokens(), token, listed.tokens());
        CodeSources code = code(root.section("code"));
        Vrrp vrrp = root.has("vrrp") ? DirectorVrrp.read(root.section("vrrp"), services) : null;
        String networkInterface = values.find(DirectorTable.INTERFACE);
        if (root.has("vrrp") && networkInterface != null) {
            problems.add(
                    root.where("interface"),
                    networkInterface + " cannot have the virtual addresses: with vrrp keepalived puts them on the "
                            + "interface there; remove interface or vrrp");
        }
        if (!problems.isEmpty()) {
            return null;
        }
        String name = values.find(DirectorTable.NAME);
        DirectorConfig config = new DirectorConfig(
                name == null ? hostName() : name,
                values.get(DirectorTable.STATE),
                networkInterface,
                services,
                backEnds,
                health(),
                weights(),
                values.get(DirectorTable.DRAIN),
                values.get(DirectorTable.REMOVE_AT_END),
                values.get(DirectorTable.SETTINGS),
                registration,
                vrrp,
                code,
                DirectorTable.TLS.files(values));
        return new DirectorSettings(
                config, admin, values.find(DirectorTable.READY), token, listed.tokens(), listed.adminTokens());
    }

    private HealthPolicy health() {
        return new HealthPolicy(
                values.get(DirectorTable.HEALTH_INTERVAL),
                values.get(DirectorTable.HEALTH_TIMEOUT),
                values.get(DirectorTable.FAILURES),
                values.get(DirectorTable.SUCCESSES),
                values.get(DirectorTable.FLAP_LIMIT));
    }

    private WeightPolicy weights() {
        return new WeightPolicy(
                values.get(DirectorTable.MODE),
                values.get(DirectorTable.FIXED),
                values.get(DirectorTable.PER_PROCESSOR),
                values.get(DirectorTable.WEIGHTS_INTERVAL));
    }

    static Map<String, String> settings(Section root, String key) {
        Section settings = root.section(key);
        Map<String, String> all = new HashMap<>(DirectorConfig.DEFAULT_SETTINGS);
        settings.texts().forEach((name, value) -> {
            if (!SETTING.matcher(name).matches()) {
                settings.problems()
                        .add(
                                settings.where(name),
                                "'" + name + "' is no setting below net.ipv4.vs: its last name alone is wanted, as in "
                                        + "expire_nodest_conn");
            } else if (!SETTING_VALUE.matcher(value).matches()) {
                settings.problems()
                        .add(
                                settings.where(name),
                                "'" + value + "' is no value: 1 to 64 letters, digits, spaces, '_' or '-' are wanted");
            }
            all.put(name, value);
        });
        return all;
    }

    private AdminConfig admin(Section admin) {
        boolean withTls = values.get(DirectorTable.ADMIN_TLS);
        if (withTls && !DirectorTable.TLS.hasCertificate(values)) {
            problems.add(
                    admin.where("tls"),
                    "a server must show a certificate; name files of a certificate and its key under tls");
        }
        InetSocketAddress listen = values.get(DirectorTable.ADMIN).orElse(null);
        AdminConfig.whyNotPlain(listen, withTls || values.get(DirectorTable.ADMIN_PLAIN), AdminConfig.PLAIN_REMEDY)
                .ifPresent(why -> problems.add(admin.where("listen"), why));
        return new AdminConfig(
                listen,
                true,
                new AdminConfig.Tokens(
                        values.find(DirectorTable.ADMIN_TOKEN),
                        values.find(DirectorTable.READ_TOKEN),
                        List.of(),
                        List.of()),
                values.get(DirectorTable.READ_ONLY),
                values.get(DirectorTable.HOSTS),
                withTls,
                null);
    }

    private RegistrationPolicy registration(Section registration, int listed, AdminConfig admin) {
        values.read(registration, DirectorTable.of("registration"));
        Duration interval = values.get(DirectorTable.REGISTRATION_INTERVAL);
        Duration expiry = values.get(DirectorTable.EXPIRY);
        int maxBackEnds = values.get(DirectorTable.MAX_BACK_ENDS);
        if (expiry.compareTo(interval.multipliedBy(2)) < 0) {
            problems.add(
                    registration.where("expiry"),
                    Quantity.toString(expiry) + " must be at least twice the interval of " + Quantity.toString(interval)
                            + ", or back-ends are forgotten between two registrations");
            expiry = interval.multipliedBy(2);
        }
        if (maxBackEnds < listed) {
            problems.add(
                    registration.where("max-back-ends"),
                    maxBackEnds + " must be at least " + listed + ": that many are listed in back-ends");
        }
        InetSocketAddress listen = admin.listen();
        if (listen == null) {
            problems.add(
                    registration.where(), "needs the API, and admin.listen is off: give it an address, or remove it");
        } else if (!values.get(DirectorTable.PLAIN)
                && !admin.tls()
                && !listen.getAddress().isLoopbackAddress()) {
            problems.add(
                    registration.where(),
                    "the token would cross the network in clear, since admin.listen is " + Endpoint.toString(listen)
                            + " without TLS: set admin.tls, or plain: true on a network that nobody else is on");
        }
        return new RegistrationPolicy(values.get(DirectorTable.NETWORKS), interval, expiry, maxBackEnds);
    }

    private CodeSources code(Section code) {
        CodeSources sources = new CodeSources(
                values.get(DirectorTable.REPOSITORIES),
                values.get(DirectorTable.TRUST),
                values.get(DirectorTable.DEPLOY));
        atMost(code, "repositories", sources.repositories().size(), MAX_REPOSITORIES);
        atMost(code, "trust", sources.publishers().size(), MAX_PUBLISHERS);
        atMost(code, "deploy", sources.services().size(), MAX_DEPLOYED);
        return sources;
    }

    static CodeSources.Publisher publisher(Path file, List<String> names) {
        try {
            DeploySettings.trusted(file, names); // Says what is wrong; its bounds hold for the text too.
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

    private static String networkInterface(String text) {
        if (!INTERFACE_NAME.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no network interface: 1 to 15 characters are wanted, as ip link names it");
        }
        return text;
    }

    static InetSocketAddress loopback(String text) {
        InetSocketAddress address = Endpoint.listening(text, AdminKind.DIRECTOR_PORT + 1);
        if (!address.getAddress().isLoopbackAddress()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not loopback: it is for programs of this host, as in 127.0.0.1:3326");
        }
        return address;
    }

    static String service(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            return ServiceId.requireName(text);
        }
        return ServiceId.parse(text).toString();
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
}
