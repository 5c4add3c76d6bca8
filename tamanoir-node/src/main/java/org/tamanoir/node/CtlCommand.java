package org.tamanoir.node;

import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code tamanoir ctl}: looks at a running node and changes it, through its admin API. */
@Command(
        name = "ctl",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        subcommands = {CtlRoutes.class, CtlQos.class},
        synopsisSubcommandLabel = "COMMAND",
        description = "Look at a running node, and change it. Changes need the node's token.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the node refused, or there is no such thing",
            "2:wrong usage, or the node cannot be reached"
        })
final class CtlCommand implements Runnable {
    private static final Duration MAX_DEADLINE = Duration.ofHours(24);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Option(
            names = "--json",
            scope = ScopeType.INHERIT,
            description = "Print the admin API's JSON, one line, in place of a table.")
    private boolean json;

    private @Nullable AdminClient client;

    /** Made by picocli. */
    CtlCommand() {}

    /** Without a command. */
    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getErr());
        throw new CommandException(Main.USAGE, "a command is missing", null);
    }

    // ---- questions -------------------------------------------------------------------------------------------------

    @Command(
            name = "status",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print what the node is and whether it does its work.")
    void status() {
        show("/v1/node", node -> {
            JsonNode streams = client().get("/v1/streams?limit=1");
            JsonNode traffic = client().get("/v1/traffic");
            line("node", "tamanoir " + text(node, "version") + ", Java " + text(node, "java"));
            line("ready", node.get("ready").asBoolean() ? "yes" : "no: " + text(node, "notReady"));
            line(
                    "up",
                    Quantity.toString(Duration.ofSeconds(
                            Math.round(node.get("uptimeSeconds").asDouble()))));
            line("tcp", CtlTables.join(node.get("tcp")));
            line("udp", CtlTables.join(node.get("udp")));
            line("sockets", text(node, "transport"));
            line("admin", text(node, "admin") + (node.get("changes").asBoolean() ? "" : ", no changes"));
            line("streams", text(streams, "open") + " open, " + text(streams, "accepted") + " accepted");
            line(
                    "packets",
                    text(traffic, "packetsIn") + " in, " + text(traffic, "packetsOut") + " out, "
                            + text(traffic, "dropped") + " dropped, " + text(traffic, "held") + " held");
        });
    }

    @Command(
            name = "services",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "List the services of the node, with their versions.")
    void services(
            @Parameters(arity = "0..1", paramLabel = "NAME", description = "Of this service alone.") @Nullable
                    String name) {
        show(name == null ? "/v1/services" : "/v1/services/" + encoded(name), CtlTables::services);
    }

    @Command(
            name = "streams",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "List the TCP streams that services work on now.")
    void streams() {
        show("/v1/streams", CtlTables::streams);
    }

    @Command(
            name = "threads",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "List the threads of the node's JVM with their processor time and allocation.")
    void threads() {
        show("/v1/threads", CtlTables::threads);
    }

    @Command(
            name = "levels",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description =
                    "Print where packets can be handled, why not elsewhere, what levels below the JVM have met, and "
                            + "what their policies did.")
    void levels() {
        show("/v1/levels", CtlLevels::levels);
    }

    @Command(
            name = "cluster",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print what the node knows as a back-end of a cluster: its state at each director, what its "
                    + "host needs, services that directors want.")
    void cluster() {
        show("/v1/cluster", CtlCluster::cluster);
    }

    @Command(
            name = "traffic",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print what crossed the node since its start, and what it dropped for which reason.")
    void traffic() {
        show("/v1/traffic", CtlTables::traffic);
    }

    @Command(
            name = "events",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "List what happened to the node: deployments, quarantines, changes of routes.")
    void events(@Option(names = "--follow", description = "Go on with what happens, until Ctrl-C.") boolean follow) {
        JsonNode past = show("/v1/events", CtlTables::events);
        if (follow) {
            client().follow("/v1/events?after=" + text(past, "lastId"), event -> {
                out().println(json ? event.text() : CtlTables.event(event.data()));
                out().flush();
            });
        }
    }

    @Command(
            name = "deployments",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print how many deployments had which outcome since the start, and what they took.")
    void deployments() {
        show("/v1/deployments", CtlTables::deployments);
    }

    @Command(
            name = "config",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print the configuration in force.")
    void config() {
        show(
                "/v1/config",
                (config, lines) -> config.get("config").asString().lines().forEach(lines));
    }

    @Command(
            name = "metrics",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Print the node's metrics as Prometheus reads them.")
    void metrics() {
        out().print(client().text("/metrics"));
        out().flush();
    }

    // ---- changes ---------------------------------------------------------------------------------------------------

    @Command(
            name = "deploy",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Get a service from the repositories and put it to work.")
    void deploy(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version the newest.") String service,
            @Option(
                            names = "--allow-older",
                            description = "Even if the bare name then means an older version than it did.")
                    boolean allowOlder) {
        Map<String, Object> body = version(service);
        body.put("allowOlder", allowOlder);
        change(
                "POST",
                path(service, "deploy"),
                body,
                (answer, lines) -> lines.accept(CtlTables.label(answer) + " deployed from " + text(answer, "source")));
    }

    @Command(
            name = "undeploy",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Take a service away: streams to come do not get it, those that run it have until the "
                    + "deadline.")
    void undeploy(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version all of them.") String service,
            @Option(
                            names = "--deadline",
                            paramLabel = "TIME",
                            defaultValue = "10s",
                            description = "For streams that run it, 0s to 24h; then they are cut. Default: "
                                    + "${DEFAULT-VALUE}.")
                    String deadline,
            @Option(
                            names = "--on-demand",
                            description = "Let streams that ask for it bring it back; else it stays away until it is "
                                    + "deployed by name, or the node starts anew.")
                    boolean onDemand) {
        Map<String, Object> body = version(service);
        try {
            body.put(
                    "deadlineSeconds",
                    Quantity.duration(deadline, Duration.ZERO, MAX_DEADLINE).toMillis() / 1000.0);
        } catch (IllegalArgumentException e) {
            throw new CommandException(Main.USAGE, "--deadline: " + e.getMessage(), e);
        }
        body.put("block", !onDemand);
        change("POST", path(service, "undeploy"), body, CtlTables::services);
    }

    @Command(
            name = "drain",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Take a service from streams to come; those that run it go on until they end.")
    void drain(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version all of them.") String service) {
        change("POST", path(service, "drain"), version(service), CtlTables::services);
    }

    @Command(
            name = "release",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "End a service's quarantine.")
    void release(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version all of them.") String service) {
        change("POST", path(service, "release"), version(service), CtlTables::services);
    }

    @Command(
            name = "place",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Have a service's UDP packets handled at another level, while packets cross the node.")
    void place(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version all of them.") String service,
            @Parameters(
                            paramLabel = "LEVEL",
                            description = "jvm, module, tc, xdp, or auto for the nearest to the wire that can.")
                    String level) {
        Map<String, Object> body = version(service);
        body.put("level", level);
        change("PUT", path(service, "level"), body, CtlLevels::placed);
    }

    @Command(
            name = "revoke",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Run the code of this publisher, or this jar, no more, also after a restart of the node.")
    void revoke(
            @Parameters(
                            paramLabel = "KEY|DIGEST",
                            description = "A publisher's key id, 16 hexadecimal digits, or a jar's SHA-256, 64.")
                    String revoked) {
        String field = revoked.length() > 16 ? "digest" : "key";
        change(
                "POST",
                "/v1/revocations",
                Map.of(field, revoked),
                (answer, lines) -> lines.accept(text(answer, "revoked") + " revoked"));
    }

    // ---- for the commands ------------------------------------------------------------------------------------------

    /** Turns an answer into lines. */
    interface View {
        void print(JsonNode answer, Consumer<String> lines);
    }

    /** Asks and prints. */
    JsonNode show(String path, View view) {
        return print(client().text(path), view);
    }

    private void show(String path, Consumer<JsonNode> printer) {
        show(path, (answer, lines) -> printer.accept(answer));
    }

    /** Changes and prints. */
    void change(String method, String path, @Nullable Object body, View view) {
        print(client().change(method, path, body), view);
    }

    private JsonNode print(String answer, View view) {
        JsonNode parsed = client().json(answer);
        if (json) {
            out().println(answer);
        } else {
            view.print(parsed, out()::println);
        }
        out().flush();
        return parsed;
    }

    private AdminClient client() {
        AdminClient known = client;
        if (known == null) {
            known = admin.client();
            client = known;
        }
        return known;
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }

    private void line(String name, String value) {
        out().printf("%-8s %s%n", name, value);
    }

    /** An operation on a service, whose version goes into the body. */
    static String path(String service, String operation) {
        int colon = service.indexOf(':');
        return "/v1/services/" + encoded(colon < 0 ? service : service.substring(0, colon)) + "/" + operation;
    }

    /** A body with the version, where there is one. */
    static Map<String, Object> version(String service) {
        Map<String, Object> body = new LinkedHashMap<>();
        int colon = service.indexOf(':');
        if (colon >= 0) {
            body.put("version", service.substring(colon + 1));
        }
        return body;
    }

    static String encoded(String part) {
        return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String text(JsonNode node, String name) {
        return CtlTables.text(node, name);
    }
}
