package org.tamanoir.node.ctl;

import static org.tamanoir.node.ctl.JsonTable.number;
import static org.tamanoir.node.ctl.JsonTable.text;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.format.FormatException;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.TextTable;
import org.tamanoir.node.cli.Version;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Yaml;
import org.tamanoir.node.config.YamlData;
import org.tamanoir.node.ctl.JsonTable.Column;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code tamanoir ctl morph}: chains of handlers, and other services with a control, on a running node. What a control
 * shows is printed field by field: a list of objects as a table, {@code plan} as YAML.
 */
@Command(name = "morph", mixinStandardHelpOptions = true, versionProvider = Version.class)
final class CtlMorph implements Runnable {
    private static final String NAME = "NAME";
    private static final String NAME_TEXT = "The service.";
    private static final String HANDLER = "HANDLER";
    private static final JsonMapper MAPPER = new JsonMapper();

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CtlCommand ctl;

    /** Made by picocli. */
    CtlMorph() {}

    @Override
    public void run() {
        list();
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void list() {
        ctl.show("/v1/services?limit=100000", (answer, lines) -> {
            List<JsonNode> controlled = new ArrayList<>();
            answer.get("services").forEach(service -> {
                if (service.get("controlled").asBoolean()) {
                    controlled.add(service);
                }
            });
            JsonTable.print(
                    MAPPER.valueToTree(controlled),
                    lines,
                    new Column("SERVICE", CtlTables::label),
                    text("STATE", "state"),
                    number("STREAMS", "tcpStreams"),
                    new Column("UDP", service -> service.get("udp").asBoolean() ? "yes" : "no"),
                    number("IN", "traffic/packetsIn"),
                    number("MADE", "traffic/packetsMade"),
                    number("OUT", "traffic/packetsOut"),
                    number("DROPPED", "traffic/dropped"),
                    number("FAILED", "failures"));
        });
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void show(@Parameters(paramLabel = NAME, description = NAME_TEXT) String name) {
        ctl.show(path(name, "control"), CtlMorph::tree);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void apply(
            @Parameters(paramLabel = NAME, description = NAME_TEXT) String name,
            @Parameters(paramLabel = "FILE", description = "The plan, YAML or JSON.") Path file) {
        change(name, "apply", Map.of("plan", read(file)));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void check(
            @Parameters(paramLabel = NAME, description = NAME_TEXT) String name,
            @Parameters(paramLabel = "FILE", description = "The plan, YAML or JSON.") Path file) {
        change(name, "check", Map.of("plan", read(file)));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void set(
            @Parameters(paramLabel = NAME, description = NAME_TEXT) String name,
            @Parameters(paramLabel = HANDLER, description = "The handler.") String handler,
            @Parameters(
                            paramLabel = "KEY=VALUE",
                            arity = "1..*",
                            description = "Settings that are others now; the rest stays.")
                    List<String> settings) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (String setting : settings) {
            int equals = setting.indexOf('=');
            if (equals <= 0) {
                throw new CommandException(ExitCode.USAGE, "'" + setting + "': KEY=VALUE is wanted", null);
            }
            try {
                values.put(setting.substring(0, equals), YamlData.word(setting.substring(equals + 1)));
            } catch (FormatException e) {
                throw new CommandException(ExitCode.USAGE, "'" + setting + "': " + e.getMessage(), e);
            }
        }
        change(name, "set", Map.of("handler", handler, "settings", values));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void insert(
            @Parameters(paramLabel = NAME, description = NAME_TEXT) String name,
            @Parameters(paramLabel = HANDLER, description = "How the new handler is called.") String handler,
            @Parameters(paramLabel = "FILE", description = "The handler as it would stand in the plan, YAML or JSON.")
                    Path file,
            @Option(names = "--before", paramLabel = HANDLER) @Nullable String before,
            @Option(names = "--after", paramLabel = HANDLER) @Nullable String after,
            @Option(names = "--port", paramLabel = "NUMBER") @Nullable Integer port) {
        if ((before == null) == (after == null) || port != null && after == null) {
            throw new CommandException(
                    ExitCode.USAGE, "either --before HANDLER or --after HANDLER is wanted, --port with --after", null);
        }
        Map<String, Object> body = new LinkedHashMap<>(Map.of("handler", handler, "definition", read(file)));
        if (before != null) {
            body.put("before", before);
        } else {
            body.put("after", String.valueOf(after));
        }
        if (port != null) {
            body.put("port", port);
        }
        change(name, "insert", body);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void replace(
            @Parameters(paramLabel = NAME, description = NAME_TEXT) String name,
            @Parameters(paramLabel = HANDLER, description = "The handler.") String handler,
            @Parameters(paramLabel = "FILE", description = "The handler as it would stand in the plan, YAML or JSON.")
                    Path file) {
        change(name, "replace", Map.of("handler", handler, "definition", read(file)));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void remove(
            @Parameters(paramLabel = NAME, description = NAME_TEXT) String name,
            @Parameters(paramLabel = HANDLER, description = "The handler.") String handler) {
        change(name, "remove", Map.of("handler", handler));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void reload(
            @Parameters(paramLabel = NAME, description = NAME_TEXT) String name,
            @Parameters(paramLabel = HANDLER, description = "The handler.") String handler) {
        change(name, "reload", Map.of("handler", handler));
    }

    private void change(String name, String operation, Map<String, Object> arguments) {
        ctl.change("POST", path(name, "control/" + operation), arguments, CtlMorph::tree);
    }

    /** Of a name the end may be enough, which the node knows. */
    private static String path(String name, String operation) {
        try {
            NodeConfigBuilder.serviceName(name); // Says what is no name.
            return CtlCommand.path(name, operation);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
    }

    private static Map<String, @Nullable Object> read(Path file) {
        try {
            return YamlData.read(file);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
    }

    // ---- what controls show
    // ------------------------------------------------------------------------------------------

    private static void tree(JsonNode answer, Consumer<String> lines) {
        for (Map.Entry<String, JsonNode> field : answer.properties()) {
            String name = OneLine.of(field.getKey());
            JsonNode value = field.getValue();
            if (name.equals("plan") && value.isObject()) {
                lines.accept("plan:");
                Yaml.of(data(value)).lines().forEach(line -> lines.accept("  " + OneLine.of(line)));
            } else if (value.isArray() && !value.isEmpty() && value.get(0).isObject()) {
                lines.accept(name + ":");
                table(value, line -> lines.accept("  " + line));
            } else {
                lines.accept(name + ": " + inLine(value));
            }
        }
    }

    private static void table(JsonNode objects, Consumer<String> lines) {
        Set<String> keys = new LinkedHashSet<>();
        objects.forEach(object -> keys.addAll(object.propertyNames()));
        TextTable table = new TextTable(keys.stream()
                .map(OneLine::of)
                .map(key -> key.toUpperCase(Locale.ROOT))
                .toArray(String[]::new));
        for (JsonNode object : objects) {
            table.row(keys.stream().map(key -> cell(object.get(key))).toArray());
        }
        table.lines().forEach(lines);
    }

    private static Object cell(@Nullable JsonNode value) {
        return value != null && value.isIntegralNumber() ? (Object) value.asLong() : inLine(value);
    }

    /** Objects are written as {@code key value, key value}. */
    private static String inLine(@Nullable JsonNode value) {
        if (value == null || value.isNull() || value.isContainer() && value.isEmpty()) {
            return JsonTable.NONE;
        }
        if (value.isArray()) {
            List<String> items = new ArrayList<>();
            value.forEach(item -> items.add(item.isContainer() ? "(" + inLine(item) + ")" : inLine(item)));
            return String.join(", ", items);
        }
        if (value.isObject()) {
            List<String> fields = new ArrayList<>();
            value.properties()
                    .forEach(field -> fields.add(OneLine.of(field.getKey()) + " "
                            + (field.getValue().isContainer()
                                    ? "(" + inLine(field.getValue()) + ")"
                                    : inLine(field.getValue()))));
            return String.join(", ", fields);
        }
        return OneLine.of(value.asString());
    }

    private static Map<?, ?> data(JsonNode object) {
        return MAPPER.treeToValue(object, Map.class);
    }
}
