package org.tamanoir.node.run;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.HangUp;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.NodeSettings;
import org.tamanoir.node.config.Overrides;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.node.config.RouteFiles;
import org.tamanoir.node.config.Setting;
import org.tamanoir.routing.RouteFileException;
import org.tamanoir.routing.RouteSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tamanoir node}: puts configuration file and options together, then checks them or runs a node. */
@Command(name = "node", mixinStandardHelpOptions = true, sortOptions = false)
public final class NodeCommand implements Callable<Integer> {
    private static final Duration MIN_STATS = Duration.ofMillis(100);
    private static final Duration MAX_STATS = Duration.ofHours(1);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE")
    private @Nullable Path file;

    @Option(names = "--listen", paramLabel = "HOST:PORT")
    private List<String> listen = new ArrayList<>();

    @Option(names = "--route", paramLabel = "PREFIX=HOST:PORT[,WORD...]")
    private List<String> routes = new ArrayList<>();

    @Option(names = "--routes", paramLabel = "FILE")
    private @Nullable Path routesFile;

    @Option(names = "--via", paramLabel = "HOST:PORT[,WORD...]")
    private List<String> via = new ArrayList<>();

    @Option(names = "--mrt-peer", paramLabel = "NUMBER")
    private @Nullable Integer mrtPeer;

    @Option(names = "--direct", paramLabel = "PREFIX")
    private List<String> direct = new ArrayList<>();

    @Option(names = "--service", paramLabel = "NAME[,KEY=VALUE...]")
    private List<String> services = new ArrayList<>();

    @Option(names = "--place", paramLabel = "NAME=LEVEL")
    private List<String> places = new ArrayList<>();

    @Option(names = "--qos", paramLabel = "FILE")
    private @Nullable Path qos;

    @Option(names = "--take-over")
    private boolean takeOver;

    @Option(names = "--validate")
    private boolean validate;

    @Option(names = "--json")
    private boolean json;

    @Option(names = "--stats", paramLabel = "TIME")
    private @Nullable String stats;

    /** Made by picocli. */
    NodeCommand() {}

    /** Adds the options of the settings to those of the fields here. */
    public static void addSettings(CommandSpec node) {
        NodeSettings.withOption().forEach(setting -> node.addOption(setting.spec()));
    }

    @Override
    public Integer call() {
        if (!validate) {
            HangUp.passOver("node");
        }
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        if (file != null) {
            ConfigFile.read(file, settings);
        }
        override(new Overrides(settings));
        settings.check();
        if (takeOver && !settings.handsOver()) {
            problems.add(
                    "--take-over",
                    "there is no hand-over: name the path where the old node hands over, in the file or by --hand-over");
        }
        RouteSet more = routes(problems);
        Duration statsInterval = statsInterval(problems);
        if (!problems.isEmpty()) {
            problems.lines().forEach(spec.commandLine().getErr()::println);
            return ExitCode.USAGE;
        }
        if (validate) {
            List<String> refused = Node.refused(settings.build());
            if (!refused.isEmpty()) {
                refused.forEach(spec.commandLine().getErr()::println);
                return ExitCode.USAGE;
            }
            settings.warnings().forEach(line -> spec.commandLine().getErr().println("warning: " + line));
            spec.commandLine().getOut().println((file == null ? "command line" : file) + ": OK");
            return ExitCode.OK;
        }
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, Output.isTerminal());
        NodeReport report = new NodeReport(output);
        Path source = file;
        return new NodeProcess(settings.build(), more, routesFile, report, statsInterval)
                .reloadedFrom(source == null ? null : found -> readAgain(source, found))
                .takingOver(takeOver)
                .run();
    }

    /** Reads the file that the node was started with, by the same command line; null when there are problems. */
    private @Nullable NodeConfig readAgain(Path file, Problems problems) {
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        String text = ConfigFile.readAgain(file, settings);
        if (!problems.isEmpty()) {
            return null; // Options would be compared with what is half there.
        }
        override(new Overrides(settings));
        settings.check();
        ConfigFile.requireSame(file, text, problems);
        return problems.isEmpty() ? settings.build() : null;
    }

    private void override(Overrides overrides) {
        routes.forEach(overrides::route);
        direct.forEach(overrides::direct);
        services.forEach(overrides::service);
        places.forEach(overrides::place);
        overrides.qos(qos);
        for (Setting<?> setting : NodeSettings.withOption()) {
            OptionSpec given = spec.commandLine().getParseResult().matchedOption(setting.option());
            if (given != null) {
                overrides.setting(setting, texts(given.getValue()));
            }
        }
        overrides.listen(listen);
    }

    private RouteSet routes(Problems problems) {
        if (routesFile == null) {
            if (!via.isEmpty() || mrtPeer != null) {
                problems.add("--via, --mrt-peer", "say how to read --routes, which is missing; add it or remove them");
            }
            return new RouteSet();
        }
        try {
            RouteSet read = RouteFiles.read(routesFile, via, mrtPeer == null ? RouteFiles.FIRST_PEER : mrtPeer);
            String leftOut = RouteFiles.leftOut("; ", read.leftOut(), read.withoutNextHop());
            if (!leftOut.isEmpty()) {
                spec.commandLine().getErr().println(routesFile + ": " + read.size() + " routes" + leftOut);
            }
            return read;
        } catch (RouteFileException e) {
            e.problems().forEach(problems::add);
            return new RouteSet();
        }
    }

    private static List<String> texts(Object value) {
        return value instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : List.of(value.toString());
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
