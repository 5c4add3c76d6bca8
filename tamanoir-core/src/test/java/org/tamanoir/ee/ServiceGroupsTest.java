package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.platform.ServiceGroups;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Which threads of an environment join which group, and leave it. */
class ServiceGroupsTest {
    private static final String NAME = "org.example.Any";

    private final List<String> noted = new CopyOnWriteArrayList<>();
    private final Set<String> outside = ConcurrentHashMap.newKeySet();
    private final ServiceGroups groups = new ServiceGroups() {
        @Override
        public Member join(String service, double processors) {
            String thread = Thread.currentThread().getName();
            noted.add(thread + " joins " + service + " with " + processors);
            return () -> noted.add(Thread.currentThread().getName() + " leaves " + service);
        }

        @Override
        public void stayOut() {
            outside.add(Thread.currentThread().getName());
        }

        @Override
        public String text() {
            return "noted";
        }

        @Override
        public void close() {}
    };

    @Test
    void theThreadOfAnInstanceIsInTheGroupOfItsServiceAsLongAsItLives() throws Exception {
        try (UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.AUTO));
                UdpFarEnd far = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            node.environment.group(groups);
            node.environment.start();
            ServiceDefinition definition = new ServiceDefinition(
                    NAME,
                    "1.2",
                    () -> new UdpTestNode.Scripted((service, packet) -> Verdict.CONSUME),
                    ServiceConfig.EMPTY,
                    FailurePolicy.DROP,
                    new ServiceHealth(0.25, 0));
            node.services.add(definition);
            far.send(node.udp(), List.of(UdpTestNode.packet(UdpTestNode.builder(far.address(), NAME, 1), 100)));
            eventually()
                    .untilAsserted(() ->
                            assertThat(noted).containsExactly("udp " + NAME + " joins " + NAME + ":1.2 with 0.25"));

            node.services.remove(definition);
            node.environment.retire(definition, UdpTestNode.PATIENCE);

            eventually()
                    .untilAsserted(
                            () -> assertThat(noted).element(1).isEqualTo("udp " + NAME + " leaves " + NAME + ":1.2"));
            node.balanced(1);
        }
    }

    @Test
    void threadsOfTheNodeThatServicesMayHaveStartedStayOut() throws Exception {
        try (UdpTestNode node =
                        new UdpTestNode(UdpTestNode.config(TransportKind.AUTO, FailurePolicy.PASS, 1 << 20, 32));
                UdpFarEnd far = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            node.environment.group(groups);
            node.environment.start();
            node.deliver("127.0.0.1/32", Transport.SAME).service(NAME, (service, packet) -> Verdict.CONSUME);
            for (String service : List.of(NAME, "org.example.Unknown")) {
                far.send(node.udp(), List.of(UdpTestNode.packet(UdpTestNode.builder(far.address(), service, 1), 100)));
            }

            eventually().untilAsserted(() -> assertThat(outside).anyMatch(thread -> thread.startsWith("maker")));
            eventually().untilAsserted(() -> assertThat(outside).anyMatch(thread -> thread.startsWith("udp transit")));
            node.balanced(2);
        }
    }
}
