package org.tamanoir.node.ctl;

import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Version;
import org.tamanoir.node.config.Quantity;
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
        subcommands = {CtlRoutes.class, CtlQos.class, CtlMorph.class, CtlTrace.class, CtlAuth.class},
        synopsisSubcommandLabel = "COMMAND")
public final class CtlCommand implements Runnable {
    private static final Duration MAX_DEADLINE = Duration.ofHours(24);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Option(names = "--json", descriptionKey = "ctl-json", scope = ScopeType.INHERIT)
    private boolean json;

    private @Nullable AdminClient client;

    /** Made by picocli. */
    CtlCommand() {}

    /** Without a command. */
    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getErr());
        throw new CommandException(ExitCode.USAGE, "a command is missing", null);
    }

    // ---- questions -------------------------------------------------------------------------------------------------

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
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
            line("priorities", text(node, "priorities"));
            line("groups", text(node, "groups"));
            line("admin", text(node, "admin") + (node.get("changes").asBoolean() ? "" : ", no changes"));
            line("streams", text(streams, "open") + " open, " + text(streams, "accepted") + " accepted");
            line(
                    "packets",
                    text(traffic, "packetsIn") + " in, " + text(traffic, "packetsOut") + " out, "
                            + text(traffic, "dropped") + " dropped, " + text(traffic, "held") + " held");
        });
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void services(
            @Parameters(arity = "0..1", paramLabel = "NAME", description = "Of this service alone.") @Nullable
                    String name,
            @Option(names = "--settings") boolean settings) {
        if (settings) {
            if (name == null) {
                throw new CommandException(ExitCode.USAGE, "--settings: of which service? Add its name", null);
            }
            show("/v1/services/" + encoded(name) + "/settings", CtlTables::settings);
        } else if (name == null) {
            show("/v1/services", CtlTables::services);
        } else {
            show("/v1/services/" + encoded(name), CtlTables::service);
        }
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void streams() {
        show("/v1/streams", CtlTables::streams);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void threads() {
        show("/v1/threads", CtlTables::threads);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void levels() {
        show("/v1/levels", CtlLevels::levels);
    }

    @Command(name = "traffic-control", mixinStandardHelpOptions = true, versionProvider = Version.class)
    void trafficControl() {
        show("/v1/traffic-control", CtlQos::trafficControl);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void plain() {
        show("/v1/plain", CtlPlain::plain);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void gateways() {
        show("/v1/gateways", CtlGateways::gateways);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void rtp() {
        show("/v1/rtp", CtlRtp::rtp);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void explain(
            @Parameters(index = "0", paramLabel = "PROTOCOL") String protocol,
            @Parameters(index = "1", paramLabel = "SOURCE:PORT") String source,
            @Parameters(index = "2", paramLabel = "DESTINATION:PORT") String destination,
            @Parameters(index = "3", arity = "0..1", paramLabel = "TYPE", defaultValue = "echo-request") String type,
            @Option(names = "--dscp", paramLabel = "N", defaultValue = "0") int dscp,
            @Option(names = "--fwmark", paramLabel = "N", defaultValue = "0") long mark,
            @Option(names = "--router-alert") boolean alert) {
        show(
                "/v1/plain/explain?protocol=" + encoded(protocol) + "&source=" + encoded(source) + "&destination="
                        + encoded(destination) + "&type=" + encoded(type) + "&dscp=" + dscp + "&fwmark=" + mark
                        + "&router-alert="
                        + (alert ? 1 : 0),
                CtlPlain::explained);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void cluster() {
        show("/v1/cluster", CtlCluster::cluster);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void element() {
        show("/v1/element", CtlElement::element);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void traffic() {
        show("/v1/traffic", CtlTables::traffic);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void events(@Option(names = "--follow") boolean follow) {
        JsonNode past = show("/v1/events", CtlTables::events);
        if (follow && !out().checkError()) {
            client().follow("/v1/events?after=" + text(past, "lastId"), event -> {
                out().println(json ? event.text() : CtlTables.event(event.data()));
                return !out().checkError();
            });
        }
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void deployments() {
        show("/v1/deployments", CtlTables::deployments);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void config() {
        show(
                "/v1/config",
                (config, lines) -> config.get("config").asString().lines().forEach(lines));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void metrics() {
        out().print(client().text("/metrics"));
        out().flush();
    }

    // ---- changes ---------------------------------------------------------------------------------------------------

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void deploy(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version the newest.") String service,
            @Option(names = "--allow-older") boolean allowOlder) {
        Map<String, Object> body = version(service);
        body.put("allowOlder", allowOlder);
        change(
                "POST",
                path(service, "deploy"),
                body,
                (answer, lines) -> lines.accept(CtlTables.label(answer) + " deployed from " + text(answer, "source")));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void undeploy(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version all of them.") String service,
            @Option(names = "--deadline", paramLabel = "TIME", defaultValue = "10s") String deadline,
            @Option(names = "--on-demand") boolean onDemand) {
        Map<String, Object> body = version(service);
        try {
            body.put(
                    "deadlineSeconds",
                    Quantity.duration(deadline, Duration.ZERO, MAX_DEADLINE).toMillis() / 1000.0);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, "--deadline: " + e.getMessage(), e);
        }
        body.put("block", !onDemand);
        change("POST", path(service, "undeploy"), body, CtlTables::services);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void drain(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version all of them.") String service) {
        change("POST", path(service, "drain"), version(service), CtlTables::services);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void release(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version all of them.") String service) {
        change("POST", path(service, "release"), version(service), CtlTables::services);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void place(
            @Parameters(paramLabel = "NAME[:VERSION]", description = "Without a version all of them.") String service,
            @Parameters(
                            paramLabel = "LEVEL",
                            description = "jvm, module, tc, xdp, or auto for the nearest to the wire that can.")
                    String level) {
        Map<String, Object> body = version(service);
        body.put("level", level);
        JsonNode answer = change("PUT", path(service, "level"), body, CtlLevels::placed);
        long misplaced = CtlLevels.misplaced(answer);
        if (misplaced > 0) {
            throw new CommandException(
                    ExitCode.FAILED,
                    service + ": " + (misplaced == 1 ? "is" : misplaced + " versions are") + " not at level " + level
                            + "; the node goes on to want it",
                    null);
        }
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
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

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void reload() {
        JsonNode outcome = change("POST", "/v1/reload", Map.of(), (answer, lines) -> {
            answer.get("changed").forEach(line -> lines.accept(line.asString()));
            answer.get("failed").forEach(line -> lines.accept("without effect: " + line.asString()));
            answer.get("needRestart").forEach(line -> lines.accept("needs a restart: " + line.asString()));
            if (answer.get("changed").isEmpty() && answer.get("needRestart").isEmpty()) {
                lines.accept("nothing changed");
            }
        });
        int failed = outcome.get("failed").size();
        if (failed > 0) {
            throw new CommandException(
                    ExitCode.FAILED, failed + (failed == 1 ? " change is" : " changes are") + " without effect", null);
        }
    }

    // ---- for the commands ------------------------------------------------------------------------------------------

    /** Turns an answer into lines. */
    public interface View {
        void print(JsonNode answer, Consumer<String> lines);
    }

    /** Asks and prints. */
    JsonNode show(String path, View view) {
        return print(client().text(path), view);
    }

    private void show(String path, Consumer<JsonNode> printer) {
        show(path, (answer, lines) -> printer.accept(answer));
    }

    /** Changes and prints; returns what was answered. */
    JsonNode change(String method, String path, @Nullable Object body, View view) {
        return print(client().change(method, path, body), view);
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
        out().printf(Locale.ROOT, "%-8s %s%n", name, value);
    }

    /** An operation on a service, whose version goes into the body. */
    public static String path(String service, String operation) {
        int colon = service.indexOf(':');
        return "/v1/services/" + encoded(colon < 0 ? service : service.substring(0, colon)) + "/" + operation;
    }

    /** A body with the version, where there is one. */
    public static Map<String, Object> version(String service) {
        Map<String, Object> body = new LinkedHashMap<>();
        int colon = service.indexOf(':');
        if (colon >= 0) {
            body.put("version", service.substring(colon + 1));
        }
        return body;
    }

    public static String encoded(String part) {
        return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String text(JsonNode node, String name) {
        return JsonTable.text(node, name);
    }
}
