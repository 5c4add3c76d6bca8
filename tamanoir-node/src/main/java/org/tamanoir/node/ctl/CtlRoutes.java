package org.tamanoir.node.ctl;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.format.text.StrictUtf8;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Version;
import org.tamanoir.node.config.Choice;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.node.config.RouteFiles;
import org.tamanoir.node.config.RouteTable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Route;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code tamanoir ctl routes}: the routes of a running node. */
@Command(name = "routes", mixinStandardHelpOptions = true, versionProvider = Version.class)
final class CtlRoutes implements Runnable {
    /** The node takes requests of 64 KiB at most. */
    private static final int MAX_BYTES = 64 << 10;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CtlCommand ctl;

    /** Made by picocli. */
    CtlRoutes() {}

    @Override
    public void run() {
        ctl.show("/v1/routes", CtlTables::routes);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void list(
            @Option(names = "--within", paramLabel = "PREFIX") @Nullable String within,
            @Option(names = "--after", paramLabel = "PREFIX") @Nullable String after,
            @Option(names = "--limit", paramLabel = "N", defaultValue = "1000") int limit) {
        ctl.show(
                "/v1/routes?limit=" + limit + parameter("within", within) + parameter("after", after),
                CtlTables::routes);
    }

    private static String parameter(String name, @Nullable String value) {
        return value == null ? "" : "&" + name + "=" + CtlCommand.encoded(value);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void lookup(@Parameters(paramLabel = "ADDRESS", description = "As in 10.0.0.1.") String address) {
        ctl.show(path(address), (answer, lines) -> lines.accept(CtlTables.route(answer)));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void put(
            @Parameters(
                            arity = "1..*",
                            paramLabel = "PREFIX=HOST:PORT[,WORD...]",
                            description =
                                    "As the option --route of the command node; 'destination' in place of the host delivers directly.")
                    List<String> routes) {
        List<Route> parsed = routes.stream().map(route -> route(route, "")).toList();
        for (Route route : parsed) {
            ctl.change(
                    "PUT",
                    path(route.prefix().toString()),
                    fields(route),
                    (answer, lines) -> lines.accept("route set: " + CtlTables.route(answer)));
        }
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void remove(
            @Parameters(arity = "1..*", paramLabel = "PREFIX", description = "As in 10.0.0.0/8.")
                    List<String> prefixes) {
        for (String prefix : prefixes) {
            ctl.change(
                    "DELETE",
                    path(prefix),
                    null,
                    (answer, lines) -> lines.accept("route removed: " + CtlTables.route(answer)));
        }
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void replace(
            @Parameters(
                            paramLabel = "FILE",
                            description =
                                    "One route a line, as 'put' takes them; empty lines and those that begin with # do not "
                                            + "count. Without any route nothing leaves the node any more.")
                    Path file) {
        List<Map<String, Object>> routes = new ArrayList<>();
        int number = 0;
        for (String line : lines(file)) {
            number++;
            String text = line.strip();
            if (!text.isEmpty() && !text.startsWith("#")) {
                Route route = route(text, file + ":" + number + ": ");
                Map<String, Object> fields = fields(route);
                fields.put("prefix", route.prefix().toString());
                routes.add(fields);
            }
        }
        ctl.change("PUT", "/v1/routes", Map.of("routes", routes), CtlTables::routes);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void load(
            @Parameters(
                            paramLabel = "FILE",
                            description = "On the node's host, as --routes of the command node takes it.")
                    Path file,
            @Option(names = "--via", paramLabel = "HOST:PORT[,WORD...]") @Nullable List<String> via,
            @Option(names = "--mrt-peer", paramLabel = "NUMBER") @Nullable Integer mrtPeer) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("file", file.toAbsolutePath().toString());
        if (via != null) {
            fields.put("via", via);
        }
        if (mrtPeer != null) {
            fields.put("mrtPeer", mrtPeer);
        }
        ctl.change(
                "POST",
                "/v1/routes",
                fields,
                (answer, lines) -> lines.accept(answer.get("total").asLong() + " routes in place of those before"
                        + RouteFiles.leftOut(
                                "; ",
                                answer.path("leftOut").asInt(),
                                answer.path("withoutNextHop").asInt())));
    }

    private static List<String> lines(Path file) {
        try {
            return StrictUtf8.decode(SmallFile.read(file, MAX_BYTES)).lines().toList();
        } catch (CharacterCodingException e) {
            throw new CommandException(ExitCode.USAGE, file + ": " + e.getMessage(), e);
        } catch (SmallFile.TooLargeException e) {
            throw new CommandException(
                    ExitCode.USAGE, file + ": it is larger than " + Quantity.toString(MAX_BYTES) + "; shorten it", e);
        } catch (IOException e) {
            throw new CommandException(
                    ExitCode.USAGE, file + ": cannot be read: no such file, or no permission; correct the path", e);
        }
    }

    private static String path(String prefix) {
        return "/v1/routes/" + CtlCommand.encoded(prefix);
    }

    private static Route route(String text, String where) {
        try {
            return RouteTable.parse(text);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, where + text + ": " + e.getMessage(), e);
        }
    }

    /** Makes the request's fields. */
    private static Map<String, Object> fields(Route route) {
        NextHop next = route.nextHop();
        Map<String, Object> fields = new LinkedHashMap<>();
        if (next.address() != null) {
            fields.put("address", Addresses.host(next.address()));
        }
        if (next.name() != null) {
            fields.put("name", next.name());
        }
        fields.put("port", next.port());
        fields.put("transport", Choice.word(next.transport(), Choice.TRANSPORTS));
        fields.put("kind", Choice.word(next.kind(), Choice.KINDS));
        return fields;
    }
}
