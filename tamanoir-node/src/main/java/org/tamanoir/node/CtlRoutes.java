package org.tamanoir.node;

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
        List<Argument> parsed = routes.stream().map(Argument::parse).toList();
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

    private static String path(String prefix) {
        return "/v1/routes/" + CtlCommand.encoded(prefix);
    }

    /** A route of the command line. */
    private record Argument(String prefix, Map<String, Object> body) {
        static Argument parse(String text) {
            try {
                return read(text);
            } catch (IllegalArgumentException e) {
                throw new CommandException(Main.USAGE, text + ": " + e.getMessage(), e);
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
