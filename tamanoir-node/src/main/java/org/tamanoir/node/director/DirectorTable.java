package org.tamanoir.node.director;

import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.HealthPolicy;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.DeploySettings;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.Kind;
import org.tamanoir.node.config.Setting;
import org.tamanoir.node.config.TlsTable;
import org.tamanoir.node.ctl.AdminKind;
import org.tamanoir.routing.Prefix;

/** The settings of a director, but for its virtual services, back-ends, kernel settings and VRRP. */
final class DirectorTable {
    static final Duration MIN_INTERVAL = Duration.ofMillis(100);

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofHours(24);
    private static final int MAX_TIMES = 100;
    private static final HealthPolicy HEALTHY = HealthPolicy.DEFAULT;
    private static final WeightPolicy WEIGHT = WeightPolicy.DEFAULT;
    private static final RegistrationPolicy REGISTERED = RegistrationPolicy.DEFAULT;

    private static final Setting.Table TABLE = new Setting.Table("director");

    static final Setting<String> NAME = TABLE.add(
            "name", Kind.text("1 to 63 letters, digits, `.`, `_`, `-`", DirectorFile::name), null, "the host's name");
    static final Setting<Path> STATE = TABLE.add("state", Kind.path("folder"), Path.of("/var/lib/tamanoir/director"));
    static final Setting<String> INTERFACE = TABLE.add("interface", DirectorFile.INTERFACE, null, "none");
    static final Setting<Duration> DRAIN =
            TABLE.add("drain", Kind.duration(Duration.ZERO, DAY), Duration.ofSeconds(60));
    static final Setting<Boolean> REMOVE_AT_END = TABLE.add("remove-at-end", Kind.flag(), false);

    static final Setting<Map<String, String>> SETTINGS = TABLE.add(
            "settings",
            Kind.structured("name: value", DirectorFile::settings, TreeMap::new),
            DirectorConfig.DEFAULT_SETTINGS,
            "`expire_nodest_conn: 1`, `expire_quiescent_template: 1`");

    static final Setting<Duration> HEALTH_INTERVAL =
            TABLE.add("health.interval", Kind.duration(MIN_INTERVAL, HOUR), HEALTHY.interval());
    static final Setting<Duration> HEALTH_TIMEOUT =
            TABLE.add("health.timeout", Kind.duration(MIN_INTERVAL, HOUR), HEALTHY.timeout());
    static final Setting<Integer> FAILURES =
            TABLE.add("health.failures", Kind.number("", 1, MAX_TIMES), HEALTHY.failures());
    static final Setting<Integer> SUCCESSES =
            TABLE.add("health.successes", Kind.number("", 1, MAX_TIMES), HEALTHY.successes());
    static final Setting<Integer> FLAP_LIMIT =
            TABLE.add("health.flap-limit", Kind.number("", 0, MAX_TIMES), HEALTHY.flapLimit());

    static final Setting<Boolean> MODE =
            TABLE.add("weights.mode", Kind.choice(Map.of("fixed", false, "capacity", true)), WEIGHT.dynamic());
    static final Setting<Integer> FIXED =
            TABLE.add("weights.fixed", Kind.number("", 1, RealServer.MAX_WEIGHT), WEIGHT.fixed());
    static final Setting<Integer> PER_PROCESSOR =
            TABLE.add("weights.per-processor", Kind.number("", 1, RealServer.MAX_WEIGHT), WEIGHT.perProcessor());
    static final Setting<Duration> WEIGHTS_INTERVAL =
            TABLE.add("weights.interval", Kind.duration(MIN_INTERVAL, HOUR), WEIGHT.interval());

    static final Setting<Path> REGISTRATION_TOKEN =
            TABLE.require("registration.token-file", AdminConfig.TOKEN_FILE, "/etc/tamanoir/registration.token");
    static final Setting<List<Prefix>> NETWORKS =
            TABLE.add("registration.networks", Kind.list("list of prefixes", Prefix::parse), List.of(), "none");
    static final Setting<Duration> REGISTRATION_INTERVAL =
            TABLE.add("registration.interval", Kind.duration(MIN_INTERVAL, HOUR), REGISTERED.interval());
    static final Setting<Duration> EXPIRY =
            TABLE.add("registration.expiry", Kind.duration(MIN_INTERVAL, Duration.ofHours(168)), REGISTERED.expiry());
    static final Setting<Integer> MAX_BACK_ENDS = TABLE.add(
            "registration.max-back-ends", Kind.number("", 1, REGISTERED.maxBackEnds()), REGISTERED.maxBackEnds());
    static final Setting<Boolean> PLAIN = TABLE.add("registration.plain", Kind.flag(), false);

    static final Setting<Optional<InetSocketAddress>> ADMIN = TABLE.add(
            "admin.listen",
            Kind.addressOrOff(AdminKind.DIRECTOR_PORT),
            Optional.of(new InetSocketAddress("127.0.0.1", AdminKind.DIRECTOR_PORT)));
    static final Setting<Path> ADMIN_TOKEN = TABLE.add("admin.token-file", AdminConfig.TOKEN_FILE, null, "none");
    static final Setting<Path> READ_TOKEN = TABLE.add("admin.read-token-file", AdminConfig.TOKEN_FILE, null, "none");
    static final Setting<Boolean> READ_ONLY = TABLE.add("admin.read-only", Kind.flag(), false);
    static final Setting<List<String>> HOSTS =
            TABLE.add("admin.hosts", Kind.list("list of names", AdminConfig::host), List.of(), "none");
    static final Setting<Boolean> ADMIN_TLS = TABLE.add("admin.tls", Kind.flag(), false);
    static final Setting<Boolean> ADMIN_PLAIN = TABLE.add("admin.plain", AdminConfig.PLAIN, false);
    static final Setting<InetSocketAddress> READY = TABLE.add(
            "admin.ready", Kind.of("loopback `HOST:PORT`", DirectorFile::loopback, Endpoint::toString), null, "none");

    static final Setting<List<URI>> REPOSITORIES = TABLE.add(
            "code.repositories", Kind.list("list of URLs, at most 16", DeploySettings::repository), List.of(), "none");
    static final Setting<List<CodeSources.Publisher>> TRUST = TABLE.add(
            "code.trust",
            Kind.structured(
                    "list of `key: FILE`, `names: [pattern]`, at most 64",
                    (code, key) -> DeploySettings.publishers(code, key, DirectorFile::publisher),
                    String::valueOf),
            List.of(),
            "none");
    static final Setting<List<String>> DEPLOY = TABLE.add(
            "code.deploy",
            Kind.list("list of `NAME` or `NAME:VERSION`, at most 256", DirectorFile::service),
            List.of(),
            "none");

    static final TlsTable TLS = new TlsTable(TABLE);

    static final List<Setting<?>> ALL = TABLE.settings();

    private DirectorTable() {}

    static List<Setting<?>> of(String section) {
        return ALL.stream().filter(setting -> setting.section().equals(section)).toList();
    }

    /** The keys of the file itself that are settings or sections of settings. */
    static List<String> topKeys() {
        List<String> keys = new ArrayList<>();
        ALL.forEach(setting -> keys.add(setting.path().replaceFirst("\\..*", "")));
        return keys.stream().distinct().toList();
    }
}
