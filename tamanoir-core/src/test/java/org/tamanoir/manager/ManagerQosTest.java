package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ManagerException.Kind;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.sched.QosStatus;

/** Changes of quality of service through the manager, and what they leave in the event log. */
@Timeout(240)
class ManagerQosTest {
    private static final List<TrafficClass> CLASSES =
            List.of(new TrafficClass("video", Set.of(0), 70), new TrafficClass("rest", Set.of(), 30));
    private static final Link UPLINK =
            new Link("uplink", List.of(Prefix.parse("::/0")), 1_250_000, 65_535, false, "fifo", Map.of());
    private static final QosConfig BOTH =
            new QosConfig(CLASSES, "rest", List.of(), new PreProcessing("pq", 1), List.of(UPLINK));

    private final RoutingTable routes = new RoutingTable(List.of());
    private final ServiceCatalog catalog = new ServiceCatalog();
    private final ExecutionEnvironment environment = new ExecutionEnvironment(
            EeConfig.defaults().listening(List.of(new InetSocketAddress("127.0.0.1", 0)), List.of()), routes, catalog);
    private final ActiveNodeManager manager = new ActiveNodeManager(environment, catalog, routes, null);

    @AfterEach
    void stop() {
        environment.stop(Duration.ZERO);
        manager.close();
    }

    private List<String> events() {
        return manager.events().after(0).stream().map(Event::text).toList();
    }

    @Test
    void itIsOffUntilItIsChanged() throws Exception {
        assertThat(manager.qos()).isEqualTo(QosConfig.OFF);
        assertThat(manager.qosStatus().points()).isEmpty();
        manager.changeQos(BOTH);
        assertThat(manager.qos()).isEqualTo(BOTH);
        assertThat(manager.qosStatus().points())
                .extracting(QosStatus.Point::name)
                .containsExactly("pre", "uplink");
        manager.changeQos(QosConfig.OFF);
        assertThat(manager.qosStatus().points()).isEmpty();
        assertThat(events())
                .containsExactly(
                        "qos changed: classes video, rest; before processing pq on 1 processors; "
                                + "link uplink fifo at 1250000 bytes/s",
                        "qos changed: off");
    }

    @Test
    void itIsRefusedWholeWithEveryProblemInALine() throws Exception {
        manager.changeQos(BOTH);
        QosConfig wrong = new QosConfig(CLASSES, "none", List.of(), new PreProcessing("codel", 0), List.of(UPLINK));
        ManagerException refusal = catchThrowableOfType(ManagerException.class, () -> manager.changeQos(wrong));
        assertThat(refusal.kind()).isEqualTo(Kind.INVALID);
        assertThat(String.valueOf(refusal.getMessage()).lines()).containsExactlyElementsOf(wrong.problems());
        assertThat(wrong.problems()).hasSize(3);
        assertThat(manager.qos()).isEqualTo(BOTH);
        assertThat(events()).hasSize(1);
    }
}
