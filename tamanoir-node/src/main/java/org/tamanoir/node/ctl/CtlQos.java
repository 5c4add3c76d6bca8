package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.text;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.TextTable;
import org.tamanoir.node.cli.Version;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.config.QosSection;
import org.tamanoir.node.config.QosTable;
import org.tamanoir.node.config.Yaml;
import org.tamanoir.qdisc.QosConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code tamanoir ctl qos}: the quality of service of a running node. */
@Command(name = "qos", mixinStandardHelpOptions = true, versionProvider = Version.class)
final class CtlQos implements Runnable {
    private static final String PATH = "/v1/qos";
    private static final String OFF = "quality of service is off";

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CtlCommand ctl;

    /** Made by picocli. */
    CtlQos() {}

    @Override
    public void run() {
        status();
    }

    /** Prints the rules for the host's classes, and their last changes. */
    static void trafficControl(JsonNode answer, Consumer<String> lines) {
        JsonTable.print(
                answer.get("rules"),
                lines,
                text("INTERFACE", "device"),
                text("CLASS", "classId"),
                text("STATE", "state"),
                text("GIVES", "given"),
                JsonTable.number("CHANGES", "changes"),
                text("WHY", "why"));
        for (JsonNode rule : answer.get("rules")) {
            rule.get("last").forEach(line -> lines.accept(line.asString()));
        }
        if (answer.get("dryRun").asBoolean()) {
            lines.accept("dry run: nothing is really changed");
        }
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void status() {
        ctl.show(PATH + "/status", CtlQos::table);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void show() {
        ctl.show(PATH, (answer, lines) -> {
            String yaml = yaml(answer);
            (yaml.isEmpty() ? "# " + OFF : yaml).lines().forEach(lines);
        });
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void set(
            @Parameters(
                            paramLabel = "FILE",
                            description =
                                    "YAML or JSON with the content of the configuration's section qos; /dev/stdin for standard input.")
                    Path file) {
        Problems problems = new Problems();
        List<QosConfig> read = new ArrayList<>();
        ConfigFile.read(file, problems, section -> read.add(QosSection.readParts(section)));
        if (!problems.isEmpty()) {
            throw new CommandException(ExitCode.USAGE, file + " is no quality of service", null, problems.lines());
        }
        ctl.change("PUT", PATH, QosTable.data(read.get(0)), CtlQos::changed);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void off() {
        ctl.change("DELETE", PATH, null, CtlQos::changed);
    }

    private static void changed(JsonNode answer, Consumer<String> lines) {
        boolean off = answer.get("pre").isNull() && answer.get("links").isEmpty();
        lines.accept(off ? OFF : "quality of service set");
        yaml(answer).lines().forEach(lines);
    }

    private static String yaml(JsonNode answer) {
        return Yaml.of(new JsonMapper().treeToValue(answer, Map.class));
    }

    private static void table(JsonNode answer, Consumer<String> lines) {
        if (answer.get("points").isEmpty()) {
            lines.accept(OFF);
            return;
        }
        TextTable table = new TextTable(
                "POINT", "DISCIPLINE", "CLASS", "WAITING", "TURNS", "SERVED", "DROPPED", "SHARE", "P50", "P99");
        for (JsonNode point : answer.get("points")) {
            for (JsonNode each : point.get("classes")) {
                table.row(
                        text(point, "name"),
                        text(point, "discipline"),
                        text(each, "name"),
                        each.get("waitingPackets").asLong(),
                        each.get("waitingTurns").asLong(),
                        each.get("servedPackets").asLong(),
                        each.get("droppedPackets").asLong(),
                        String.format(
                                Locale.ROOT, "%5.1f%%", 100 * each.get("share").asDouble()),
                        bound(each.get("waiting"), "p50Seconds"),
                        bound(each.get("waiting"), "p99Seconds"));
            }
        }
        table.lines().forEach(lines);
    }

    private static String bound(JsonNode waiting, String name) {
        if (waiting.get("count").asLong() == 0) {
            return "-";
        }
        JsonNode bound = waiting.get(name);
        if (bound.isNull()) {
            return ">" + time(waiting.get("lastBucketSeconds").asDouble());
        }
        return "<" + time(bound.asDouble());
    }

    private static String time(double seconds) {
        return seconds < 1e-3
                ? Math.round(seconds * 1e6) + "us"
                : String.format(Locale.ROOT, seconds < 1 ? "%.1fms" : "%.1fs", seconds < 1 ? seconds * 1e3 : seconds);
    }
}
