package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.NodeChange.Redefined;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.Counter.Kind;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.traffic.CounterTotal;

/** What a service has counted stays when its streams have ended, and when its settings change. */
@Timeout(240)
class ServiceTotalsTest {
    private static final InetSocketAddress FREE = new InetSocketAddress("127.0.0.1", 0);

    /** Counts, and drops what comes, so that no next hop is needed. */
    private static final class Counts extends Service {
        @Override
        public Verdict process(Packet packet) {
            counter("requests").add(1);
            counter("largest", Kind.MAXIMUM).set(packet.payloadLength());
            counter("smallest", Kind.MINIMUM).set(packet.payloadLength());
            counter("open", Kind.GAUGE).set(1);
            return drop("counted");
        }
    }

    private static ServiceDefinition service() {
        return new ServiceDefinition("count", Counts::new, ServiceConfig.EMPTY, FailurePolicy.DROP);
    }

    private static void stream(ExecutionEnvironment environment, int... sizes) throws IOException {
        try (AnepSender sender = AnepSender.tcp(environment.tcpAddresses().get(0))) {
            for (int size : sizes) {
                sender.send(new PacketBuilder().service("count"), ByteBuffer.allocate(size));
            }
            sender.finish();
        }
    }

    @Test
    void totalsLiveAsLongAsServiceAndVersion() throws Exception {
        ServiceCatalog catalog = new ServiceCatalog();
        RoutingTable routes = new RoutingTable(List.of());
        ExecutionEnvironment environment =
                new ExecutionEnvironment(EeConfig.defaults().listening(List.of(FREE), List.of()), routes, catalog);
        ServiceDefinition before = service();
        catalog.add(before);
        try (ActiveNodeManager manager = new ActiveNodeManager(environment, catalog, routes, null)) {
            environment.start();
            for (int i = 0; i < 3; i++) {
                stream(environment, 1000, 10 + i);
            }
            eventually()
                    .until(() -> environment.traffic().dropped() == 6
                            && environment.instances().isEmpty());
            assertTotals(manager, 6, 1000, 10);
            manager.change(new NodeChange(
                    List.of(), List.of(), null, List.of(new Redefined(before, service())), Map.of(), null, null));
            assertTotals(manager, 6, 1000, 10);
            stream(environment, 2000, 5);
            eventually()
                    .until(() -> environment.traffic().dropped() == 8
                            && environment.instances().isEmpty());
            assertTotals(manager, 8, 2000, 5);
        } finally {
            environment.stop(Duration.ZERO);
        }
    }

    private static void assertTotals(ActiveNodeManager manager, long requests, long largest, long smallest) {
        assertThat(manager.services()).singleElement().satisfies(service -> {
            assertThat(service.counters())
                    .isEqualTo(Map.of(
                            "requests", new CounterTotal(Kind.SUM, requests),
                            "largest", new CounterTotal(Kind.MAXIMUM, largest),
                            "smallest", new CounterTotal(Kind.MINIMUM, smallest),
                            "open", new CounterTotal(Kind.GAUGE, 0)));
            assertThat(service.dropReasons()).isEqualTo(Map.of("counted", requests));
        });
    }
}
