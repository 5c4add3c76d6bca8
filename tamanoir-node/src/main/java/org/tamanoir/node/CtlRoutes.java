package org.tamanoir.node;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code tamanoir ctl routes}: the routes of a running node. */
@Command(
        name = "routes",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = "List the routes of the node (also without a command), or change them while packets cross it.")
final class CtlRoutes implements Runnable {
    /** The node takes requests of 64 KiB at most. */
    private static final int MAX_OCTETS = 64 << 10;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CtlCommand ctl;

    /** Made by picocli. */
    CtlRoutes() {}

    @Override
    public void run() {
        list();
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "List them, longest prefix first.")
    void list() {
        ctl.show("/v1/routes", CtlTables::routes);
    }

    @Command(
            name = "put",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Add a route, or replace that of the same prefix.")
    void put(
            @Parameters(
                            arity = "1..*",
                            paramLabel = "PREFIX=HOST:PORT[,WORD...]",
                            description = "As the option --route of the command node; 'destination' in place of the "
                                    + "host delivers directly.")
                    List<String> routes) {
        List<Argument> parsed =
                routes.stream().map(route -> Argument.parse(route, "")).toList();
        for (Argument route : parsed) {
            ctl.change(
                    "PUT",
                    path(route.prefix),
                    route.body,
                    (answer, lines) -> lines.accept("route set: " + CtlTables.route(answer)));
        }
    }

    @Command(
            name = "remove",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Remove the routes of exactly these prefixes.")
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

    @Command(
            name = "replace",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Put the routes of a file in place of all routes, at once.")
    void replace(
            @Parameters(
                            paramLabel = "FILE",
                            description = "One route a line, as 'put' takes them; empty lines and those that begin "
                                    + "with # do not count. Without any route nothing leaves the node any more.")
                    Path file) {
        List<Map<String, Object>> routes = new ArrayList<>();
        int number = 0;
        for (String line : lines(file)) {
            number++;
            String text = line.strip();
            if (!text.isEmpty() && !text.startsWith("#")) {
                Argument route = Argument.parse(text, file + ":" + number + ": ");
                route.body.put("prefix", route.prefix);
                routes.add(route.body);
            }
        }
        ctl.change("PUT", "/v1/routes", Map.of("routes", routes), CtlTables::routes);
    }

    private static List<String> lines(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] octets = in.readNBytes(MAX_OCTETS + 1);
            if (octets.length > MAX_OCTETS) {
                throw new CommandException(
                        Main.USAGE,
                        file + ": it is larger than " + Quantity.toString(MAX_OCTETS) + "; shorten it",
                        null);
            }
            return new String(octets, StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new CommandException(
                    Main.USAGE, file + ": cannot be read: no such file, or no permission; correct the path", e);
        }
    }

    private static String path(String prefix) {
        return "/v1/routes/" + CtlCommand.encoded(prefix);
    }

    /** A route of the command line. */
    private record Argument(String prefix, Map<String, Object> body) {
        static Argument parse(String text, String where) {
            try {
                return read(text);
            } catch (IllegalArgumentException e) {
                throw new CommandException(Main.USAGE, where + text + ": " + e.getMessage(), e);
            }
        }

        private static Argument read(String text) {
            int equals = text.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("PREFIX=HOST:PORT is wanted, as in 10.0.2.0/24=127.0.0.1:3322");
            }
            String[] words = text.substring(equals + 1).split(",", -1);
            Endpoint via = Endpoint.parse(words[0], 1);
            if (via.host().isEmpty()) {
                throw new IllegalArgumentException("'" + words[0] + "' is a port alone: HOST:PORT is wanted");
            }
            Map<String, Object> body = new LinkedHashMap<>();
            if (!via.host().equals(Settings.DIRECT)) {
                body.put("address", via.address().getHostAddress());
            }
            body.put("port", via.port() == Endpoint.NO_PORT ? 0 : via.port());
            for (int i = 1; i < words.length; i++) {
                String field = Choice.isTransport(words[i]) ? "transport" : "kind";
                @Nullable Object before = body.put(field, field.equals("kind") ? kind(words[i]) : words[i]);
                if (before != null) {
                    throw new IllegalArgumentException(
                            "'" + words[i] + "' is too much: one transport and one kind are wanted");
                }
            }
            return new Argument(Prefix.parse(text.substring(0, equals)).toString(), body);
        }

        private static String kind(String word) {
            return Choice.kind(word) == NextHop.Kind.HOST ? "host" : "active";
        }
    }
}
