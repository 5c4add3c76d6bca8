package org.tamanoir.node.director;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.Director;
import org.tamanoir.cluster.lvs.Change;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.cluster.lvs.Plan;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.HangUp;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.OutputFile;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.cli.Version;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.node.ctl.AdminClient;
import org.tamanoir.node.ctl.CtlCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code tamanoir director}: runs the front-end's control, or shows what it would do. */
@Command(name = "director", mixinStandardHelpOptions = true, sortOptions = false)
public final class DirectorCommand implements Callable<Integer> {
    private static final Duration MAX_DEADLINE = Duration.ofHours(24);
    private static final long WATCH_NS = Duration.ofSeconds(1).toNanos();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    private final DirectorFileOption config = new DirectorFileOption();

    @Option(names = "--validate")
    private boolean validate;

    @Option(names = "--json", descriptionKey = "director-json", scope = ScopeType.INHERIT)
    private boolean json;

    /** Made by picocli. */
    DirectorCommand() {}

    @Override
    public Integer call() {
        if (!validate) {
            HangUp.passOver("director");
        }
        DirectorSettings settings = config.read(spec);
        if (settings == null) {
            return ExitCode.USAGE;
        }
        DirectorReport report = new DirectorReport(output());
        if (validate) {
            report.valid(String.valueOf(config.file), settings);
            return ExitCode.OK;
        }
        return new DirectorProcess(Objects.requireNonNull(config.file), settings, report).run();
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    int plan(@Mixin DirectorFileOption file) {
        DirectorSettings settings = file.read(spec);
        return settings == null
                ? ExitCode.USAGE
                : planned(ipvs -> Director.plan(settings.director(), ipvs), "nothing to change");
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    int remove(@Mixin DirectorFileOption file) {
        DirectorSettings settings = file.read(spec);
        return settings == null
                ? ExitCode.USAGE
                : planned(ipvs -> Director.remove(settings.director(), ipvs), "nothing to remove");
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    int check(@Mixin DirectorFileOption file) {
        DirectorSettings settings = file.read(spec);
        if (settings == null) {
            return ExitCode.USAGE;
        }
        return DirectorCheck.run(settings.director(), output());
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    int keepalived(
            @Mixin DirectorFileOption file,
            @Option(
                            names = {"-o", "--output"},
                            paramLabel = "FILE")
                    @Nullable
                    Path target) {
        DirectorSettings settings = file.read(spec);
        if (settings == null) {
            return ExitCode.USAGE;
        }
        Path written = target == null || OutputFile.isStandard(target) ? null : target;
        return DirectorKeepalived.run(settings, written, output());
    }

    // ---- of a director that runs -----------------------------------------------------------------------------------

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void status(@Mixin DirectorAddress director, @Option(names = "--watch") boolean watch) {
        AdminClient client = director.client();
        print(client, client.text("/v1/status"), DirectorTables::status);
        if (watch) {
            try (StopSignal stop = new StopSignal(Duration.ZERO)) {
                while (!out().checkError() && !stop.await(WATCH_NS)) {
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

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void drain(
            @Mixin DirectorAddress director,
            @Parameters(paramLabel = "NAME", description = "Of the back-end.") String name,
            @Option(names = "--deadline", paramLabel = "TIME") @Nullable String deadline) {
        Map<String, Object> body = new LinkedHashMap<>();
        try {
            if (deadline != null) {
                Duration time = Quantity.duration(deadline, Duration.ZERO, MAX_DEADLINE);
                body.put("deadlineSeconds", time.toMillis() / 1000.0);
            }
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, "--deadline: " + e.getMessage(), e);
        }
        change(director, "POST", "/v1/back-ends/" + CtlCommand.encoded(name) + "/drain", body, name + " drains");
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void join(
            @Mixin DirectorAddress director,
            @Parameters(paramLabel = "NAME", description = "Of the back-end.") String name) {
        String path = "/v1/back-ends/" + CtlCommand.encoded(name) + "/join";
        change(director, "POST", path, Map.of(), name + " joins as soon as it answers");
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void leave(
            @Mixin DirectorAddress director,
            @Parameters(paramLabel = "NAME", description = "Of the back-end.") String name) {
        change(director, "DELETE", "/v1/back-ends/" + CtlCommand.encoded(name), null, name + " has left");
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
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

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
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
            return ExitCode.OK;
        } catch (ClusterException e) {
            throw new CommandException(ExitCode.FAILED, e);
        }
    }

    /** The kernel's table; without it no command that needs it can start. */
    static Ipvs open() {
        try {
            return Ipvs.open();
        } catch (ClusterException e) {
            throw new CommandException(ExitCode.USAGE, e);
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
