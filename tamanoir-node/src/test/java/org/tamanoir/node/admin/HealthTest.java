package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.supervision.Incident;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the API says of a node whose watchdog is gone or stands still. The watchdog tells of a service that does not
 * return, and whom it tells is of the test's making.
 */
@Timeout(120)
class HealthTest {
    private static final String SERVICE = "hangs";

    private final HttpClient client = HttpClient.newHttpClient();
    private final CountDownLatch released = new CountDownLatch(1);
    private final ServiceCatalog catalog = new ServiceCatalog();
    private final RoutingTable routes = new RoutingTable(List.of());
    private final ExecutionEnvironment environment =
            new ExecutionEnvironment(EeConfig.defaults().listening(List.of(TestAdmin.ANY), List.of()), routes, catalog);
    private final ActiveNodeManager manager = new ActiveNodeManager(environment, catalog, routes, null);
    private final AdminServer server = new AdminServer(
            manager, new AdminSettings(TestAdmin.ANY, TestAdmin.SECRET, false, null), () -> TestAdmin.CONFIG);

    private void start(Consumer<Incident> told) throws Exception {
        catalog.add(new ServiceDefinition(SERVICE, Hanging::new, ServiceConfig.EMPTY, FailurePolicy.DROP));
        environment.stuckAfter(Duration.ofMillis(200));
        environment.onIncident(told);
        environment.start();
        manager.ready(null);
        server.start();
    }

    private final class Hanging extends Service {
        @Override
        public Verdict process(Packet packet) {
            hang();
            return Verdict.DROP;
        }
    }

    /** Does not return for an interrupt, and leaves the processor to others. */
    private void hang() {
        while (released.getCount() > 0) {
            LockSupport.parkNanos(1_000_000);
            Thread.interrupted(); // with it set no thread parks
        }
    }

    @AfterEach
    void stop() {
        released.countDown();
        environment.onIncident(incident -> {});
        server.close();
        environment.stop(Duration.ZERO);
        manager.close();
    }

    private HttpResponse<String> get(String path) throws Exception {
        URI uri = URI.create("http://" + Endpoint.toString(server.address()) + path);
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Waiting.PATIENCE).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private void sendOnePacket() throws Exception {
        Packet packet = new PacketBuilder()
                .source(InetAddress.getLoopbackAddress())
                .destination(InetAddress.getLoopbackAddress())
                .service(SERVICE)
                .build(ByteBuffer.allocate(4));
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        InetSocketAddress address = environment.tcpAddresses().get(0);
        try (Socket sender = new Socket(address.getAddress(), address.getPort())) {
            sender.getOutputStream().write(bytes);
        }
    }

    private void assertDown(String problem) throws Exception {
        Awaitility.await()
                .atMost(Duration.ofSeconds(40))
                .pollInterval(Duration.ofMillis(50))
                .until(() -> get("/health").statusCode() == 503);
        JsonNode health = new JsonMapper().readTree(get("/health").body());
        assertThat(health.get("status").asString()).isEqualTo("down");
        assertThat(health.get("problems").get(0).asString()).startsWith(problem);
        HttpResponse<String> ready = get("/ready");
        assertThat(ready.statusCode()).isEqualTo(503);
        assertThat(ready.body()).contains(problem);
    }

    @Test
    void aNodeWithAllItsThreadsIsUp() throws Exception {
        start(incident -> {});
        HttpResponse<String> health = get("/health");
        assertThat(health.statusCode()).isEqualTo(200);
        assertThat(health.body()).isEqualTo("{\"status\":\"up\",\"problems\":[]}");
        assertThat(get("/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void aNodeThatHasLostAThreadIsDown() throws Exception {
        start(incident -> {
            throw new NoClassDefFoundError("on purpose");
        });
        sendOnePacket();
        assertDown("core thread watchdog has ended: java.lang.NoClassDefFoundError");
    }

    @Test
    void aNodeWithAThreadThatStandsStillIsDownUntilItGoesOn() throws Exception {
        start(incident -> hang());
        sendOnePacket();
        assertDown("core thread watchdog has not come round for ");
        released.countDown();
        eventually().until(() -> get("/health").statusCode() == 200);
    }
}
