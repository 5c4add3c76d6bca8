package org.tamanoir.node.admin;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.DeploymentConfig;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.repository.Token;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.Monitor;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A real node on loopback with its admin API, and a client of that. */
public final class TestAdmin implements AutoCloseable {
    public static final String TOKEN = "0123456789abcdef-token";
    public static final Token SECRET = Token.of(TOKEN, "this test");
    public static final String CONFIG = "listen: [127.0.0.1:0]\n# " + TOKEN + "\n";
    public static final String MONITOR = Monitor.class.getName();
    public static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private static final Duration PATIENCE = Waiting.PATIENCE;
    private static final JsonMapper MAPPER = new JsonMapper();

    public final ExecutionEnvironment environment;
    public final ActiveNodeManager manager;
    public final AdminServer server;
    public final ServiceCatalog catalog = new ServiceCatalog();
    final RoutingTable table;
    final HttpClient client = HttpClient.newHttpClient();

    private TestAdmin(AdminSettings settings, @Nullable DeploymentConfig deployment, List<Route> routes)
            throws IOException {
        this(settings, deployment, routes, List.of());
    }

    private TestAdmin(
            AdminSettings settings,
            @Nullable DeploymentConfig deployment,
            List<Route> routes,
            List<ServiceDefinition> services,
            Gateway... gateways)
            throws IOException {
        services.forEach(catalog::add);
        catalog.add(new ServiceDefinition(MONITOR, Monitor::new, ServiceConfig.EMPTY, FailurePolicy.DROP));
        table = new RoutingTable(routes);
        environment =
                new ExecutionEnvironment(EeConfig.defaults().listening(List.of(ANY), List.of(ANY)), table, catalog);
        manager = new ActiveNodeManager(environment, catalog, table, deployment);
        environment.gateways(List.of(gateways));
        environment.start();
        manager.ready(null);
        server = new AdminServer(manager, settings, () -> CONFIG);
        server.start();
    }

    public static TestAdmin start() throws IOException {
        return start(new AdminSettings(ANY, SECRET, false, null));
    }

    public static TestAdmin start(AdminSettings settings, Route... routes) throws IOException {
        return new TestAdmin(settings, null, List.of(routes));
    }

    /** Starts one with gateways. */
    public static TestAdmin carrying(Gateway... gateways) throws IOException {
        return new TestAdmin(new AdminSettings(ANY, SECRET, false, null), null, List.of(), List.of(), gateways);
    }

    static TestAdmin with(AdminSettings settings, ServiceDefinition service) throws IOException {
        return new TestAdmin(settings, null, List.of(), List.of(service));
    }

    static TestAdmin deploying(DeploymentConfig deployment) throws IOException {
        return new TestAdmin(new AdminSettings(ANY, SECRET, false, null), deployment, List.of());
    }

    /** Quarantines the service of a node. */
    public static void quarantine(TestAdmin node) {
        node.catalog.find(ServiceKey.of(MONITOR)).health().quarantine(Duration.ofDays(1), "a test wants it");
    }

    URI uri(String path) {
        return URI.create("http://" + Endpoint.toString(server.address()) + path);
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(uri(path)).timeout(PATIENCE);
    }

    HttpRequest.Builder change(String method, String path, @Nullable String body) {
        HttpRequest.BodyPublisher publisher =
                body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
        return request(path)
                .method(method, publisher)
                .header("Content-Type", "application/json")
                .header("Authorization", "Bearer " + TOKEN);
    }

    Reply send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        return new Reply(response.statusCode(), response.headers().map(), response.body());
    }

    Reply get(String path) throws IOException, InterruptedException {
        return send(request(path));
    }

    /** Asks another server of this node. */
    Reply at(AdminServer other, String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create("http://" + Endpoint.toString(other.address()) + path))
                .timeout(PATIENCE));
    }

    Reply change(String method, String path) throws IOException, InterruptedException {
        return send(change(method, path, null));
    }

    Reply put(String path, String body) throws IOException, InterruptedException {
        return send(change("PUT", path, body));
    }

    Reply post(String path, String body) throws IOException, InterruptedException {
        return send(change("POST", path, body));
    }

    /** Sends bytes as they stand, and returns all that comes until the server closes the connection. */
    String raw(String head) throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.connect(server.address());
        socket.setSoTimeout((int) PATIENCE.toMillis());
        return socket;
    }

    @Override
    public void close() {
        server.close();
        environment.stop(Duration.ZERO);
        manager.close();
    }

    /** An answer. */
    record Reply(int status, Map<String, List<String>> headers, String body) {
        JsonNode json() {
            return MAPPER.readTree(body);
        }

        String contentType() {
            return String.join(",", headers.getOrDefault("content-type", List.of()));
        }

        String error() {
            return json().get("error").asString();
        }
    }
}
