package org.tamanoir.node.config;

import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.tamanoir.admission.StreamLimits;
import org.tamanoir.anep.Anep;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.cluster.MembershipSettings.SetUp;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.format.FormatLimits;
import org.tamanoir.kernel.PlainConfig;
import org.tamanoir.node.tc.TcRule;
import org.tamanoir.nodeos.Level;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.platform.ServiceGrouping;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.platform.ThreadPriorities;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.sapf.SapfSettings;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.transport.QuicPort;
import org.tamanoir.transport.TransportKind;

/** The settings of a node, but for its routes, services and quality of service. */
public final class NodeSettings {
    /** The code server of a neighbour whose address has no port. */
    static final int CODE_SERVER_PORT = 3323;

    private static final EeConfig DEFAULTS = EeConfig.defaults();
    private static final UdpBounds UDP = DEFAULTS.udpBounds();
    private static final StreamLimits STREAMS = DEFAULTS.streamLimits();
    private static final List<InetSocketAddress> LOOPBACK =
            List.of(new InetSocketAddress("127.0.0.1", Anep.DEFAULT_PORT));
    private static final Duration US = Duration.ofNanos(1_000);
    private static final Duration ELEMENT_WAIT = Duration.ofSeconds(10);
    private static final Duration MS = Duration.ofMillis(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofHours(24);
    private static final int MAX_STREAMS_BOUND = 1_000_000;

    private static final Setting.Table TABLE = new Setting.Table("node");

    static final Setting<List<InetSocketAddress>> TCP = TABLE.add(
                    "listen.tcp", Kind.addresses(Anep.DEFAULT_PORT), LOOPBACK, "`[127.0.0.1:3322]`")
            .option("--tcp", "HOST:PORT");
    static final Setting<List<InetSocketAddress>> UDP_ADDRESSES = TABLE.add(
                    "listen.udp", Kind.addresses(Anep.DEFAULT_PORT), LOOPBACK, "`[127.0.0.1:3322]`")
            .option("--udp", "HOST:PORT");
    static final Setting<List<InetSocketAddress>> TLS_ADDRESSES = TABLE.add(
                    "listen.tls", Kind.addresses(Anep.DEFAULT_PORT), List.of(), "none")
            .option("--tls", "HOST:PORT");

    public static final Setting<List<InetSocketAddress>> QUIC_ADDRESSES = TABLE.add(
                    "listen.quic", Kind.addresses(Anep.DEFAULT_PORT), List.of(), "none")
            .option("--quic", "HOST:PORT");

    public static final Setting<List<GatewayLine>> GATEWAYS = TABLE.add(
                    "listen.gateways",
                    Kind.list("list of `LISTEN=TO,FORMAT[,SERVICE][,class=N]`", GatewayLine::parse, GatewayLine::text),
                    List.of(),
                    "none")
            .option("--gateway", "LISTEN=TO,FORMAT[,SERVICE][,class=N]")
            .repeatedInErrors();

    static final TlsTable TLS = new TlsTable(TABLE);
    static final AuthTable AUTHENTICATION = new AuthTable(TABLE);

    static final Setting<List<DeploySettings.Trusted>> TRUST = TABLE.add(
                    "deploy.trust", DeploySettings.TRUST, List.of(), "empty")
            .option("--trust", "FILE[=NAME,...]")
            .repeatedInErrors()
            .added()
            .live();
    static final Setting<List<URI>> REPOSITORIES = TABLE.add(
                    "deploy.repositories",
                    Kind.list("list of `http://` or `https://` addresses", DeploySettings::repository),
                    List.of(),
                    "empty")
            .option("--repository", "URL")
            .repeatedInErrors()
            .live();
    public static final Setting<List<InetSocketAddress>> NEIGHBOURS = TABLE.add(
            "deploy.neighbours",
            Kind.list(
                    "list of addresses; port 3323", text -> Endpoint.of(text, CODE_SERVER_PORT, 1), Endpoint::toString),
            List.of(),
            "empty");
    public static final Setting<Boolean> ON_DEMAND = TABLE.add("deploy.on-demand", Kind.flag(), true);
    static final Setting<Path> CACHE = TABLE.add(
                    "deploy.cache", Kind.path("folder"), null, "`~/.cache/tamanoir/node-PORT`")
            .option("--cache", "FOLDER");
    static final Setting<Long> CACHE_SIZE = TABLE.add("deploy.cache-size", Kind.size(1 << 20, 1L << 40), 1L << 30);
    public static final Setting<Optional<InetSocketAddress>> CODE_SERVER = TABLE.add(
            "deploy.code-server",
            Kind.addressOrOff(CODE_SERVER_PORT),
            null,
            "the first TCP address of `listen`, with a free port");
    static final Setting<List<String>> REVOKED = TABLE.add(
                    "deploy.revoked", Kind.list("list", NodeSettings::revoked), List.of(), "empty")
            .live();
    static final Setting<Boolean> ALLOW_UNSIGNED = TABLE.add("deploy.allow-unsigned", Kind.flag(), false);
    public static final Setting<Long> MAX_JAR = TABLE.add(
            "deploy.max-jar", Kind.memory(1 << 10, 1L << 30), half(64L << 20), "`64MiB`, or half of the heap");
    public static final Setting<Long> MAX_UNPACKED = TABLE.add(
            "deploy.max-unpacked", Kind.memory(1 << 10, 1L << 34), half(256L << 20), "`256MiB`, or half of the heap");
    public static final Setting<Duration> FETCH_CONNECT_TIMEOUT =
            TABLE.add("deploy.connect-timeout", Kind.duration(MS, HOUR), Duration.ofSeconds(2));
    public static final Setting<Duration> FETCH_IDLE_TIMEOUT =
            TABLE.add("deploy.idle-timeout", Kind.duration(MS, HOUR), Duration.ofSeconds(5));
    public static final Setting<Duration> FETCH_TOTAL_TIMEOUT =
            TABLE.add("deploy.total-timeout", Kind.duration(MS, HOUR), Duration.ofSeconds(30));
    public static final Setting<CheckpointPolicy> CHECKPOINTS =
            TABLE.add("deploy.checkpoints", Kind.choice(Choice.CHECKPOINTS), CheckpointPolicy.REQUIRED);
    public static final Setting<Boolean> DEPLOY_TLS = TABLE.add("deploy.tls", Kind.flag(), false);

    public static final Setting<List<Path>> FORMAT_FILES = TABLE.add(
                    "formats.files", Kind.list("list of FFS files", FormatFiles::readable), List.of(), "empty")
            .option("--formats", "FILE")
            .repeatedInErrors();
    public static final Setting<List<URI>> FORMAT_SERVERS = TABLE.add(
                    "formats.servers",
                    Kind.list("list of `http://` or `https://` addresses", FormatFiles::server),
                    List.of(),
                    "empty")
            .option("--format-server", "URL")
            .repeatedInErrors();
    public static final Setting<Boolean> FORMATS_ON_DEMAND = TABLE.add("formats.on-demand", Kind.flag(), true);
    public static final Setting<Boolean> FORMATS_SIGNED = TABLE.add("formats.signed", Kind.flag(), false);
    public static final Setting<Boolean> FORMATS_REGISTER = TABLE.add("formats.register", Kind.flag(), true);
    public static final Setting<Integer> MAX_FORMATS =
            TABLE.add("formats.cache", Kind.number("formats, ", 8, 1 << 20), 4_096);
    public static final Setting<Long> FORMAT_BYTES =
            TABLE.add("formats.cache-size", Kind.size(FormatLimits.DESCRIPTION_BYTES, 1L << 30), 16L << 20);
    public static final Setting<Duration> FORMAT_TIMEOUT =
            TABLE.add("formats.total-timeout", Kind.duration(MS, HOUR), Duration.ofSeconds(5));

    static final Setting<Set<Level>> LEVELS = TABLE.add(
                    "levels.allowed", LevelKinds.KIND, Set.of(Level.values()), "all")
            .option("--levels", "LEVEL,...");
    static final Setting<List<String>> INTERFACES = TABLE.add(
                    "levels.interfaces",
                    Kind.list("list of up to 16 names as `ip link` shows them", LevelKinds::networkInterface),
                    List.of(),
                    "none: no level below the JVM")
            .option("--interface", "NAME");
    static final Setting<Boolean> UNKNOWN_UP = TABLE.add("levels.unknown", LevelKinds.UNKNOWN_UP, true);

    public static final Setting<List<PlainRule>> PLAIN = TABLE.add(
                    "plain", PlainTable.KIND, List.of(), "none: datagrams without ANEP go by")
            .live();
    public static final Setting<List<String>> PLAIN_INTERFACES = TABLE.add(
                    "plain-interfaces",
                    Kind.list("list of up to 16 names as `ip link` shows them", LevelKinds::networkInterface),
                    List.of(),
                    "none")
            .option("--plain-interface", "NAME");
    public static final Setting<Integer> PLAIN_ALERTS = TABLE.add(
                    "plain-alerts", PlainTable.ALERTS, PlainConfig.DEFAULT_ALERTS)
            .live();

    public static final Setting<List<TcRule>> TRAFFIC_CONTROL =
            TABLE.add("traffic-control", TcTable.KIND, List.of(), "none: the host's classes stay as they are");
    public static final Setting<Boolean> TC_DRY_RUN = TABLE.add("traffic-control-dry-run", Kind.flag(), false);

    static final Setting<Optional<InetSocketAddress>> ADMIN = TABLE.add(
                    "admin.listen",
                    Kind.addressOrOff(AdminConfig.DEFAULT_PORT),
                    Optional.of(new InetSocketAddress("127.0.0.1", AdminConfig.DEFAULT_PORT)),
                    "127.0.0.1:3324, or a free port when that is taken")
            .option("--admin", "HOST:PORT");
    static final Setting<Path> ADMIN_TOKEN =
            TABLE.add("admin.token-file", AdminConfig.TOKEN_FILE, null, "none").option("--admin-token-file", "FILE");
    static final Setting<Path> READ_TOKEN = TABLE.add("admin.read-token-file", AdminConfig.TOKEN_FILE, null, "none")
            .option("--admin-read-token-file", "FILE");
    static final Setting<List<AdminConfig.NamedToken>> TOKENS =
            TABLE.add("admin.tokens", Kind.list("list of `NAME=FILE`", AdminConfig.NamedToken::of), List.of(), "empty");
    static final Setting<List<AdminConfig.ControlRight>> CONTROL = TABLE.add(
            "admin.control", Kind.list("list of `FILE=NAME,...`", AdminConfig.ControlRight::of), List.of(), "empty");
    static final Setting<Boolean> READ_ONLY = TABLE.add("admin.read-only", Kind.flag(), false);
    static final Setting<List<String>> HOSTS =
            TABLE.add("admin.hosts", Kind.list("list of host names", AdminConfig::host), List.of(), "empty");
    static final Setting<Path> ACCESS_LOG = TABLE.add("admin.access-log", Kind.path("file"), null, "none");
    static final Setting<Boolean> ADMIN_TLS = TABLE.add("admin.tls", Kind.flag(), false);
    static final Setting<Boolean> ADMIN_PLAIN =
            TABLE.add("admin.plain", AdminConfig.PLAIN, false).option("--admin-plain", "WHETHER");

    public static final Setting<URI> TRACING_ENDPOINT = TABLE.add(
            "tracing.endpoint",
            Kind.of("`http://` or `https://` address with its path", NodeSettings::collector, URI::toString),
            null,
            "none");
    public static final Setting<Double> TRACING_SAMPLE =
            TABLE.add("tracing.sample", Kind.of("share, 0 to 1", Quantity::share, share -> share), 1.0);

    static final Setting<List<URI>> DIRECTORS = TABLE.add(
                    "cluster.directors",
                    Kind.listOrOne(
                            "list of up to 8 `http://HOST:PORT` or `https://HOST:PORT`; port 3325",
                            ClusterSettings::director),
                    List.of(),
                    "none: the node is no back-end")
            .option("--cluster", "URL")
            .repeatedInErrors();
    static final Setting<Path> CLUSTER_TOKEN = TABLE.add("cluster.token-file", AdminConfig.TOKEN_FILE, null, "required")
            .option("--cluster-token-file", "FILE");
    static final Setting<String> CLUSTER_NAME = TABLE.add(
                    "cluster.name",
                    Kind.text("1 to 63 letters, digits, dots, hyphens, underscores", ClusterSettings::name),
                    null,
                    "the host's name")
            .option("--cluster-name", "NAME");
    static final Setting<String> CLUSTER_ADDRESS = TABLE.add(
                    "cluster.address",
                    Kind.text("literal address", ClusterSettings::address),
                    null,
                    "the one that a director sees")
            .option("--cluster-address", "ADDRESS");
    static final Setting<String> CLUSTER_INTERFACE = TABLE.add(
                    "cluster.interface",
                    Kind.text("name as `ip link` shows it", LevelKinds::networkInterface),
                    null,
                    "the one that leads to a director")
            .option("--cluster-interface", "NAME");
    static final Setting<Integer> CLUSTER_WEIGHT = TABLE.add(
                    "cluster.weight", Kind.number("", 1, 65_535), null, "as the directors say")
            .option("--cluster-weight", "N");
    static final Setting<SetUp> CLUSTER_SET_UP = TABLE.add(
                    "cluster.set-up",
                    Kind.choice(Map.of("auto", SetUp.AUTO, "print", SetUp.PRINT, "off", SetUp.OFF)),
                    SetUp.AUTO)
            .option("--cluster-setup", "MODE");
    static final Setting<Boolean> CLUSTER_PLAIN =
            TABLE.add("cluster.plain", Kind.flag(), false).flag("--cluster-plain");

    static final Setting<Integer> UNIT = TABLE.add("element.unit", Kind.number("", 0, 63), null, "required");
    static final Setting<List<InetSocketAddress>> UNITS = TABLE.add(
            "element.units",
            Kind.list(
                    "list of up to 64 addresses; port 3328",
                    text -> Endpoint.of(text, ElementSettings.CONTROL_PORT, 1),
                    Endpoint::toString),
            List.of(),
            "none: the node is no unit");
    static final Setting<InetSocketAddress> DISTRIBUTOR = TABLE.add(
            "element.distributor",
            Kind.of(
                    "address; port 3328",
                    text -> Endpoint.of(text, ElementSettings.CONTROL_PORT, 1),
                    Endpoint::toString),
            null,
            "none");
    static final Setting<Integer> RING_ID = TABLE.add("element.ring", Kind.number("", 0, Integer.MAX_VALUE), 1);
    static final Setting<Path> RING_KEY =
            TABLE.add("element.key-file", Kind.of("file", ElementSettings::keyFile, Path::toString), null, "required");
    static final Setting<Boolean> GROUP =
            TABLE.add("element.membership", Kind.choice(Map.of("listed", false, "group", true)), false);
    static final Setting<Boolean> DISCARD =
            TABLE.add("element.policy", Kind.choice(Map.of("lenient", false, "discard", true)), false);
    static final Setting<Integer> HOLD_BUDGET =
            TABLE.add("element.hold-budget", Kind.number("packets, ", 0, 65_535), 0);
    static final Setting<Duration> BARRIER =
            TABLE.add("element.barrier", Kind.shortDuration(Duration.ZERO, Duration.ofSeconds(1)), Duration.ZERO);
    static final Setting<Duration> HOLD_MAX =
            TABLE.add("element.hold-max", Kind.shortDuration(US, ELEMENT_WAIT), Duration.ofNanos(200_000));
    static final Setting<Duration> IDLE_MAX =
            TABLE.add("element.idle-max", Kind.shortDuration(US, ELEMENT_WAIT), Duration.ofMillis(200));

    public static final Setting<Boolean> COMPACT_ROUTES =
            TABLE.add("routing.fib", Kind.choice(Map.of("fast", false, "compact", true)), false);
    public static final Setting<FeedConfig> ROUTE_FEED = TABLE.add("routing.feed", FeedConfig.KIND, null, "none");

    public static final Setting<Boolean> SAPF_ACCEPT =
            TABLE.add("sapf.accept", Kind.flag(), false).flag("--sapf");
    public static final Setting<List<InetSocketAddress>> SAPF_NEXT_HOPS = TABLE.add(
                    "sapf.next-hops",
                    Kind.list(
                            "list of addresses; port 3322",
                            text -> Endpoint.of(text, Anep.DEFAULT_PORT, 1),
                            Endpoint::toString),
                    List.of(),
                    "none")
            .option("--sapf-to", "HOST:PORT");
    public static final Setting<Duration> SAPF_LIFETIME = TABLE.add(
            "sapf.lifetime",
            Kind.duration(SapfSettings.MIN_LIFETIME, SapfSettings.MAX_LIFETIME),
            SapfSettings.OFF.lifetime());

    static final Setting<Integer> MAX_STREAMS = TABLE.add(
                    "limits.max-streams", Kind.number("places, ", 1, MAX_STREAMS_BOUND), DEFAULTS.maxStreams())
            .option("--max-streams", "N");
    static final Setting<Integer> MAX_STREAMS_PER_PEER = TABLE.add(
            "limits.max-streams-per-peer",
            Kind.of(
                    "places, 1 to 1000000, or `auto`",
                    text -> text.equals("auto") ? StreamLimits.AUTOMATIC : Quantity.number(text, 1, MAX_STREAMS_BOUND),
                    number -> number == StreamLimits.AUTOMATIC ? "auto" : String.valueOf(number)),
            STREAMS.perPeer());
    static final Setting<Integer> MAX_BRANCHES = TABLE.add(
            "limits.max-branches", Kind.number("services, ", 0, StreamLimits.MAX_BRANCHES), STREAMS.branches());
    public static final Setting<Integer> QUIC_CONNECTIONS = TABLE.add(
            "limits.quic-connections", Kind.number("connections, ", 1, 65_536), QuicPort.Limits.DEFAULT.connections());
    static final Setting<Integer> INBOX = TABLE.add(
            "limits.inbox",
            Kind.of(
                    "size, 256KiB to 1GiB, a power of two, half of the heap at most",
                    NodeSettings::inbox,
                    size -> Quantity.toString((long) size)),
            DEFAULTS.inboxBytes());
    static final Setting<Integer> UDP_GROWTH =
            TABLE.add("limits.udp-growth", Kind.number("factor, ", 1, UdpBounds.MAX_GROWTH), UDP.growth());
    static final Setting<Long> UDP_BYTES =
            TABLE.add("limits.udp-bytes", Kind.size(UdpBounds.MIN_BYTES, UdpBounds.MAX_BYTES), (long) UDP.bytes());
    static final Setting<Integer> UDP_ANSWER_GROWTH =
            TABLE.add("limits.udp-answer-growth", Kind.number("factor, ", 1, UdpBounds.MAX_GROWTH), UDP.answerGrowth());
    static final Setting<Map<String, Integer>> UDP_AMPLIFIERS = TABLE.add(
            "limits.udp-amplifiers",
            Kind.structured("services, each with a factor of 1 to 65536", NodeSettings::amplifiers, growths -> growths),
            Map.of(),
            "none");

    static final Setting<Duration> FIRST_PACKET =
            TABLE.add("timeouts.first-packet", Kind.duration(MS, HOUR), DEFAULTS.firstPacketTimeout());
    static final Setting<Duration> CONNECT =
            TABLE.add("timeouts.connect", Kind.duration(MS, HOUR), DEFAULTS.connectTimeout());
    static final Setting<Duration> STALL = TABLE.add("timeouts.stall", Kind.duration(MS, DAY), DEFAULTS.stallTimeout());
    static final Setting<Duration> LINGER =
            TABLE.add("timeouts.linger", Kind.duration(Duration.ZERO, DAY), DEFAULTS.lingerTimeout());
    static final Setting<Duration> IDLE = TABLE.add("timeouts.idle", Kind.duration(Duration.ZERO, DAY), STREAMS.idle());
    public static final Setting<Duration> DRAIN = TABLE.add(
                    "timeouts.drain", Kind.duration(Duration.ZERO, DAY), Duration.ofSeconds(10))
            .option("--drain", "TIME")
            .live();

    static final Setting<FailurePolicy> UNKNOWN_SERVICE =
            TABLE.add("unknown-service", Kind.choice(Choice.POLICIES), DEFAULTS.unknownService());
    static final Setting<Integer> TYPE_ID =
            TABLE.add("type-id", Kind.number("", 1, 65_535), DEFAULTS.typeId(), "0x544D");
    static final Setting<Integer> HOP_BUDGET =
            TABLE.add("hop-budget", Kind.number("active hops, ", 1, 65_535), DEFAULTS.hopBudget());
    public static final Setting<Integer> JVM_NICE = TABLE.add("jvm-nice", Kind.number("", 0, 19), 0);
    public static final Setting<Duration> REHEARSE = TABLE.add(
                    "rehearse", Kind.duration(Duration.ZERO, Duration.ofSeconds(60)), Duration.ZERO)
            .option("--rehearse", "TIME");
    public static final Setting<ThreadKind> THREADS = TABLE.add(
                    "threads", Kind.choice(Choice.THREADS), DEFAULTS.threads())
            .option("--threads", "KIND");
    public static final Setting<ThreadPriorities> PRIORITIES =
            TABLE.add("priorities", Kind.choice(Choice.PRIORITIES), ThreadPriorities.AUTO);
    public static final Setting<ServiceGrouping> GROUPS =
            TABLE.add("groups", Kind.choice(Choice.GROUPS), ServiceGrouping.OFF);
    public static final Setting<Path> ARENA = TABLE.add("arena", Kind.path("file"), null, "none");
    public static final Setting<TransportKind> TRANSPORT = TABLE.add(
                    "transport", Kind.choice(Choice.SOCKETS), DEFAULTS.transport())
            .option("--transport", "KIND");

    public static final Setting<Path> HAND_OVER = TABLE.add(
                    "hand-over", Kind.path("path of a UNIX socket"), null, "none")
            .option("--hand-over", "FILE");

    static final List<Setting<?>> ALL = TABLE.settings();

    private NodeSettings() {}

    /** The options of the command line that override a setting. */
    public static List<Setting<?>> withOption() {
        return ALL.stream().filter(setting -> setting.option() != null).toList();
    }

    /** The settings of a section; empty stands for those of the file itself. */
    static List<Setting<?>> of(String section) {
        return ALL.stream().filter(setting -> setting.section().equals(section)).toList();
    }

    private static URI collector(String text) {
        URI uri = URI.create(text);
        boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        if (!http
                || uri.getHost() == null
                || uri.getPath().length() < 2
                || uri.getPort() == 0
                || uri.getUserInfo() != null
                || uri.getQuery() != null
                || uri.getFragment() != null) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no collector: http:// or https:// with a host and path is wanted, as in "
                            + "http://127.0.0.1:4318/v1/traces");
        }
        return uri;
    }

    private static Map<String, Integer> amplifiers(Section limits, String key) {
        Section section = limits.section(key);
        Map<String, Integer> growths = new TreeMap<>();
        for (String service : section.texts().keySet()) {
            section.value(service, text -> {
                String name = NodeConfigBuilder.serviceName(service);
                if (growths.put(name, Quantity.number(text, 1, UdpBounds.MAX_GROWTH)) != null) {
                    throw new IllegalArgumentException(Kind.repeated(name));
                }
                return name;
            });
        }
        return growths;
    }

    private static long half(long bytes) {
        return Math.min(bytes, Quantity.HALF_OF_HEAP);
    }

    private static String revoked(String text) {
        TrustPolicy.NOBODY.revoking(text);
        return text;
    }

    private static Integer inbox(String text) {
        int bytes = (int) Quantity.memoryBytes(text, 256 << 10, 1 << 30);
        if (Integer.bitCount(bytes) != 1) {
            throw new IllegalArgumentException(text + " is no power of two: take "
                    + Quantity.toString(Integer.highestOneBit(bytes)) + " or twice that");
        }
        return bytes;
    }
}
