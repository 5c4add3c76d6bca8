package org.tamanoir.node;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tamanoir node}: puts configuration file and options together, then checks them or runs a node. */
@Command(
        name = "node",
        subcommands = {ObserveCommand.class, CaptureCommand.class},
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Run a node until it is told to stop (SIGTERM, Ctrl-C).",
            "Options override the configuration file. Without either it listens on 127.0.0.1:3322, TCP and UDP, and "
                    + "forwards nothing: packets leave only along routes."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the configuration is good (--validate)",
            "2:wrong usage or configuration, or the node could not start",
            "130, 143:the node was stopped by Ctrl-C or SIGTERM, in order"
        },
        footer = {
            "",
            "A node starts a third faster from an archive of its classes. This makes one, and has to be done again "
                    + "for another jar or Java: java -XX:ArchiveClassesAtExit=node.jsa -jar tamanoir-node.jar demo",
            "This uses it: export JAVA_TOOL_OPTIONS=-XX:SharedArchiveFile=node.jsa"
        })
final class NodeCommand implements Callable<Integer> {
    private static final Duration MIN_STATS = Duration.ofMillis(100);
    private static final Duration MAX_STATS = Duration.ofHours(1);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description = "Configuration file in YAML, at most 1 MiB; see docs/configuration.md.")
    private @Nullable Path file;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            description = "Listen on this address for TCP and UDP. Port 0 takes a free one; a port alone means "
                    + "loopback, *:PORT all of IPv4. Repeatable; --listen, --tcp, --udp and --tls replace all addresses of "
                    + "the file. Default: the file's, or 127.0.0.1:3322.")
    private List<String> listen = new ArrayList<>();

    @Option(names = "--tcp", paramLabel = "HOST:PORT", description = "Listen on this address for TCP. Repeatable.")
    private List<String> tcp = new ArrayList<>();

    @Option(names = "--udp", paramLabel = "HOST:PORT", description = "Listen on this address for UDP. Repeatable.")
    private List<String> udp = new ArrayList<>();

    @Option(
            names = "--tls",
            paramLabel = "HOST:PORT",
            description = "Listen on this address for TCP inside TLS; needs --tls-cert and --tls-key. Repeatable.")
    private List<String> tls = new ArrayList<>();

    @Mixin
    private final TlsOptions tlsFiles = new TlsOptions();

    @Option(
            names = "--tls-require-client",
            description = "Refuse TLS connections of those that show no certificate from --tls-trust.")
    private boolean requireClient;

    @Option(
            names = "--route",
            paramLabel = "PREFIX=HOST:PORT[,WORD...]",
            description =
                    "Packets to the prefix go to this next hop. Words: same, tcp, udp or tls, how they go (same = "
                            + "as they came, the default); active or host, who is there (an active node is the default). Without "
                            + "a port: that of the packet's destination-port option. Repeatable; replaces the file's route for "
                            + "the same prefix.")
    private List<String> routes = new ArrayList<>();

    @Option(
            names = "--direct",
            paramLabel = "PREFIX",
            description = "Packets to the prefix may go straight to their own destination. Repeatable.")
    private List<String> direct = new ArrayList<>();

    @Option(
            names = "--service",
            paramLabel = "NAME[,KEY=VALUE...]",
            description = "A service with settings put over the file's; NAME is a class on the class path, without a "
                    + "dot one that ships with the node. Repeatable.")
    private List<String> services = new ArrayList<>();

    @Option(
            names = "--interface",
            paramLabel = "NAME",
            description =
                    "Let levels below the JVM look at packets that come in through this network interface, also at "
                            + "those on their way to other hosts; see docs/levels.md. Repeatable; replaces the file's. Default: "
                            + "the file's, or none: no level below the JVM.")
    private List<String> interfaces = new ArrayList<>();

    @Option(
            names = "--levels",
            paramLabel = "LEVEL,...",
            description = "Levels that may be used: jvm, module, tc, xdp. Default: the file's, or all.")
    private @Nullable String levels;

    @Option(
            names = "--place",
            paramLabel = "NAME=LEVEL",
            description =
                    "Have this service's UDP packets handled at this level: jvm, module, tc, xdp, or auto for the "
                            + "nearest to the wire that can. Repeatable; over the file's.")
    private List<String> places = new ArrayList<>();

    @Option(
            names = "--repository",
            paramLabel = "URL",
            description = "Fetch services from this repository, http or https; several are asked in this order. "
                    + "Repeatable; replaces the file's.")
    private List<String> repositories = new ArrayList<>();

    @Option(
            names = "--trust",
            paramLabel = "FILE[=NAME,...]",
            description = "Run code that is signed with this publisher's key, for services of these names, as in "
                    + "org.example.*; without names for all. Repeatable; adds to the file's.")
    private List<String> trust = new ArrayList<>();

    @Option(
            names = "--cache",
            paramLabel = "FOLDER",
            description = "Keep fetched code here. Default: the file's, or a folder under ~/.cache/tamanoir.")
    private @Nullable Path cache;

    @Option(
            names = "--qos",
            paramLabel = "FILE",
            description = "Quality of service: a YAML file with the content of the configuration's section qos, in "
                    + "place of that; see docs/qos.md.")
    private @Nullable Path qos;

    @Option(
            names = "--admin",
            paramLabel = "HOST:PORT",
            description = "Admin API on this address; off = none. Default: the file's, or 127.0.0.1:3324, and a free "
                    + "port when that one is taken.")
    private @Nullable String admin;

    @Option(
            names = "--admin-token-file",
            paramLabel = "FILE",
            description = "Who sends the token in this file may change the node; without it nobody may.")
    private @Nullable Path adminTokenFile;

    @Mixin
    private final ClusterOptions cluster = new ClusterOptions();

    @Option(
            names = "--transport",
            paramLabel = "KIND",
            completionCandidates = Transports.class,
            description =
                    "Sockets: ${COMPLETION-CANDIDATES}. auto takes native (Linux: epoll, batch system calls) where "
                            + "it works, else nio. Default: the file's, or auto.")
    private @Nullable String transport;

    @Option(
            names = "--max-streams",
            paramLabel = "N",
            description = "TCP connections at once, 1 to 1000000. Default: the file's, or 4096.")
    private @Nullable String maxStreams;

    @Option(
            names = "--drain",
            paramLabel = "TIME",
            description = "How long streams may take to finish once the node is told to stop, 0s to 24h, as in 500ms, "
                    + "10s or 5m. Default: the file's, or 10s.")
    private @Nullable String drain;

    @Option(
            names = "--validate",
            description = "Check file and options, print every error with its line, open no socket.")
    private boolean validate;

    @Option(
            names = "--json",
            description = "Print one JSON object per line on standard output: event started, stats or stopped.")
    private boolean json;

    @Option(
            names = "--stats",
            paramLabel = "TIME",
            description = "Print rates this often, 100ms to 1h. Default: 1s on a terminal and with --json, else not "
                    + "at all.")
    private @Nullable String stats;

    /** Made by picocli. */
    NodeCommand() {}

    /** The words that {@code --transport} takes, for shell completion. */
    static final class Transports implements Iterable<String> {
        /** Made by picocli. */
        Transports() {}

        @Override
        public Iterator<String> iterator() {
            return List.of("auto", "native", "nio").iterator();
        }
    }

    @Override
    public Integer call() {
        Problems problems = new Problems();
        Settings settings = new Settings(problems);
        if (file != null) {
            ConfigFile.read(file, settings);
        }
        override(new Overrides(settings));
        settings.check();
        Duration statsInterval = statsInterval(problems);
        if (!problems.isEmpty()) {
            problems.lines().forEach(spec.commandLine().getErr()::println);
            return Main.USAGE;
        }
        if (validate) {
            spec.commandLine().getOut().println((file == null ? "command line" : file) + ": OK");
            return Main.OK;
        }
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, Output.isTerminal());
        NodeReport report = json ? new JsonReport(output) : new TextReport(output);
        return new NodeProcess(settings.build(), report, statsInterval).run();
    }

    private void override(Overrides overrides) {
        overrides.listen(listen, tcp, udp, tls);
        overrides.tls(tlsFiles, requireClient);
        routes.forEach(overrides::route);
        direct.forEach(overrides::direct);
        services.forEach(overrides::service);
        places.forEach(overrides::place);
        overrides.interfaces(interfaces);
        overrides.levels(levels);
        overrides.repositories(repositories);
        trust.forEach(overrides::trust);
        overrides.cache(cache);
        overrides.qos(qos);
        overrides.admin(admin, adminTokenFile);
        overrides.cluster(cluster);
        overrides.transport(transport);
        overrides.maxStreams(maxStreams);
        overrides.drain(drain);
    }

    /** Null = no rates. */
    private @Nullable Duration statsInterval(Problems problems) {
        if (stats == null) {
            return json || Output.isTerminal() ? Duration.ofSeconds(1) : null;
        }
        try {
            return Quantity.duration(stats, MIN_STATS, MAX_STATS);
        } catch (IllegalArgumentException e) {
            problems.add("--stats", String.valueOf(e.getMessage()));
            return null;
        }
    }
}
