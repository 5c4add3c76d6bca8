package org.tamanoir.node;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.ClusterException;
import org.tamanoir.cluster.Director;
import org.tamanoir.cluster.lvs.Change;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.cluster.lvs.Plan;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code tamanoir director}: runs the front-end's control, or shows what it would do. */
@Command(
        name = "director",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Steer the kernel's LVS so that a cluster of nodes looks like one, until told to stop (SIGTERM, Ctrl-C); "
                    + "see docs/cluster.md.",
            "The virtual services stay when it stops: the kernel goes on without it."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done; the configuration is good (--validate); nothing is missing (check)",
            "1:the command failed, the director refused, or something is missing (check)",
            "2:wrong usage or configuration, it could not start, or the director cannot be reached",
            "130, 143:the director was stopped by Ctrl-C or SIGTERM, in order"
        })
final class DirectorCommand implements Callable<Integer> {
    private static final Duration MAX_DEADLINE = Duration.ofHours(24);
    private static final long WATCH_NS = Duration.ofSeconds(1).toNanos();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    private final DirectorFileOption config = new DirectorFileOption();

    @Option(
            names = "--validate",
            description = "Check the file, print every error with its line, open no socket and change nothing.")
    private boolean validate;

    @Option(
            names = "--json",
            scope = ScopeType.INHERIT,
            description = "Print JSON, one object per line: events of a director that runs, answers of the others.")
    private boolean json;

    /** Made by picocli. */
    DirectorCommand() {}

    @Override
    public Integer call() {
        DirectorSettings settings = config.read(spec);
        if (settings == null) {
            return Main.USAGE;
        }
        DirectorReport report = new DirectorReport(output());
        if (validate) {
            report.valid(String.valueOf(config.file), settings);
            return Main.OK;
        }
        return new DirectorProcess(settings, report).run();
    }

    @Command(
            name = "plan",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print what a start would change of the kernel's table, as lines for ipvsadm --restore; "
                    + "change nothing.")
    int plan(@Mixin DirectorFileOption file) {
        DirectorSettings settings = file.read(spec);
        return settings == null
                ? Main.USAGE
                : planned(ipvs -> Director.plan(settings.director(), ipvs), "nothing to change");
    }

    @Command(
            name = "remove",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Take away the virtual services, and the addresses, that this file's director has made, "
                    + "with their connections; for when it does not run.")
    int remove(@Mixin DirectorFileOption file) {
        DirectorSettings settings = file.read(spec);
        return settings == null
                ? Main.USAGE
                : planned(ipvs -> Director.remove(settings.director(), ipvs), "nothing to remove");
    }

    @Command(
            name = "check",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print what this host and the listed back-ends lack, with the remedy; change nothing.")
    int check(@Mixin DirectorFileOption file) {
        DirectorSettings settings = file.read(spec);
        if (settings == null) {
            return Main.USAGE;
        }
        return DirectorCheck.run(settings.director(), output());
    }

    @Command(
            name = "keepalived",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print keepalived's configuration for this director, checked by keepalived where that is "
                    + "installed.")
    int keepalived(
            @Mixin DirectorFileOption file,
            @Option(
                            names = {"-o", "--output"},
                            paramLabel = "FILE",
                            description = "Write it to this file instead, readable by its owner alone.")
                    @Nullable
                    Path target) {
        DirectorSettings settings = file.read(spec);
        if (settings == null) {
            return Main.USAGE;
        }
        return DirectorKeepalived.run(settings, target, output());
    }

    // ---- of a director that runs -----------------------------------------------------------------------------------

    @Command(
            name = "status",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print a running director's virtual services with the kernel's counters, and its back-ends.")
    void status(
            @Mixin DirectorAddress director,
            @Option(names = "--watch", description = "Print it again every second, until Ctrl-C.") boolean watch) {
        AdminClient client = director.client();
        print(client, client.text("/v1/status"), DirectorTables::status);
        if (watch) {
            try (StopSignal stop = new StopSignal(Duration.ZERO)) {
                while (!stop.await(WATCH_NS)) {
                    String answer = client.text("/v1/status");
                    if (!json) {
                        out().println();
                    }
                    print(client, answer, DirectorTables::status);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Command(
            name = "drain",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Give a back-end no new streams; it leaves the table when it has none any more, or at the "
                    + "deadline. Returns at once.")
    void drain(
            @Mixin DirectorAddress director,
            @Parameters(paramLabel = "NAME", description = "Of the back-end.") String name,
            @Option(
                            names = "--deadline",
                            paramLabel = "TIME",
                            description = "For its streams, 0s to 24h. Default: the director's drain.")
                    @Nullable
                    String deadline) {
        Map<String, Object> body = new LinkedHashMap<>();
        try {
            if (deadline != null) {
                Duration time = Quantity.duration(deadline, Duration.ZERO, MAX_DEADLINE);
                body.put("deadlineSeconds", time.toMillis() / 1000.0);
            }
        } catch (IllegalArgumentException e) {
            throw new CommandException(Main.USAGE, "--deadline: " + e.getMessage(), e);
        }
        change(director, "POST", "/v1/back-ends/" + CtlCommand.encoded(name) + "/drain", body, name + " drains");
    }

    @Command(
            name = "join",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Take a drained back-end, or one that is held for flapping, in again, once it answers.")
    void join(
            @Mixin DirectorAddress director,
            @Parameters(paramLabel = "NAME", description = "Of the back-end.") String name) {
        String path = "/v1/back-ends/" + CtlCommand.encoded(name) + "/join";
        change(director, "POST", path, Map.of(), name + " joins as soon as it answers");
    }

    @Command(
            name = "leave",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Forget a back-end that has registered; one that is listed stays drained. Its streams are "
                    + "cut: drain it first.")
    void leave(
            @Mixin DirectorAddress director,
            @Parameters(paramLabel = "NAME", description = "Of the back-end.") String name) {
        change(director, "DELETE", "/v1/back-ends/" + CtlCommand.encoded(name), null, name + " has left");
    }

    @Command(
            name = "deploy",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Have a service run on every node of the cluster, also on those that come later.")
    void deploy(
            @Mixin DirectorAddress director,
            @Parameters(paramLabel = "SERVICE[:VERSION]", description = "Without a version the newest.")
                    String service) {
        change(
                director,
                "POST",
                CtlCommand.path(service, "deploy"),
                CtlCommand.version(service),
                service + ": every node that registers is told to deploy it; 'director status' shows who has");
    }

    @Command(
            name = "undeploy",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Take that back: nodes that register later do not deploy it any more. What runs goes on.")
    void undeploy(
            @Mixin DirectorAddress director,
            @Parameters(paramLabel = "SERVICE[:VERSION]", description = "As it was deployed.") String service) {
        change(
                director,
                "POST",
                CtlCommand.path(service, "undeploy"),
                CtlCommand.version(service),
                service + ": no further node is told to deploy it; it runs on where it is");
    }

    // ---- for the commands ------------------------------------------------------------------------------------------

    private interface Planning {
        Plan plan(Ipvs ipvs) throws ClusterException;
    }

    private int planned(Planning planning, String empty) {
        Ipvs ipvs = open();
        try {
            List<String> lines =
                    planning.plan(ipvs).changes().stream().map(Change::line).toList();
            Output output = output();
            output.json(Map.of("lines", lines));
            lines.forEach(output::line);
            if (lines.isEmpty()) {
                output.line(empty);
            }
            return Main.OK;
        } catch (ClusterException e) {
            throw new CommandException(Main.FAILED, e);
        }
    }

    /** The kernel's table; without it no command that needs it can start. */
    static Ipvs open() {
        try {
            return Ipvs.open();
        } catch (ClusterException e) {
            throw new CommandException(Main.USAGE, e);
        }
    }

    private void change(DirectorAddress director, String method, String path, @Nullable Object body, String done) {
        AdminClient client = director.client();
        print(client, client.change(method, path, body), (answer, lines) -> lines.accept(done));
    }

    private void print(AdminClient client, String answer, CtlCommand.View view) {
        JsonNode parsed = client.json(answer);
        if (json) {
            out().println(answer);
        } else {
            view.print(parsed, out()::println);
        }
        out().flush();
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }

    private Output output() {
        return new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, Output.isTerminal());
    }
}
