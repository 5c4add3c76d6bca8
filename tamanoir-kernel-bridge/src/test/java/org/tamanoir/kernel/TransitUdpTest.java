package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.TransitNode.PORT;
import static org.tamanoir.kernel.TransitNode.at;
import static org.tamanoir.kernel.TransitNode.packet;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.ee.Tap;
import org.tamanoir.ee.TrafficSnapshot;
import org.tamanoir.service.Verdict;

/** Datagrams to another host come up to a node on their way, and go on. */
class TransitUdpTest {
    private static final String NAME = "org.example.Service";
    private static final String OTHER = "org.example.Other";
    private static final String BOTH = "10.71.1.2, 10.71.2.2, 10.71.1.1";
    private static final String IPV6 = "fd71:1::2, fd71:2::2, fd71:1::1";

    private static TestNet net;

    @BeforeAll
    static void link() {
        Namespaces.require("namespace");
        net = new TestNet("transit");
        TransitNode.sendUp(net);
    }

    @AfterAll
    static void unlink() {
        if (net != null) {
            net.close();
        }
    }

    private static List<byte[]> packets(String service, int count, int octets) {
        return IntStream.range(0, count)
                .mapToObj(i -> packet(service, i, octets))
                .toList();
    }

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    @ParameterizedTest
    @CsvSource({BOTH, IPV6})
    void whatAServiceForwardsGoesOnWithItsOwnEndsAndOneHopLess(String client, String server, String router)
            throws Exception {
        try (TransitEnd sender = TransitEnd.open(net, net.client(), client, 7001);
                TransitEnd receiver = TransitEnd.open(net, net.server(), server, PORT);
                TransitNode node =
                        new TransitNode(net).service(NAME, p -> Verdict.FORWARD).start();
                Tap.View<Tap.Captured> arrivals = node.environment.tap().arrivals(300)) {
            List<byte[]> sent = packets(NAME, 300, 200);
            sender.send(receiver.address(), sent);
            List<TransitEnd.Datagram> received = receiver.receive(300);
            assertThat(received).extracting(TransitEnd.Datagram::octets).containsExactlyElementsOf(sent);
            assertThat(received).extracting(TransitEnd.Datagram::from).containsOnly(at(client, 7001));
            assertThat(received).extracting(TransitEnd.Datagram::hopsLeft).containsOnly(63);
            TrafficSnapshot traffic = node.balanced(300);
            assertThat(traffic.packetsOut()).isEqualTo(300);
            assertThat(traffic.drops()).isEmpty();
            node.assertSettled(1, 300);
            Tap.Captured seen = Objects.requireNonNull(arrivals.take(Duration.ofSeconds(5)));
            assertThat(seen.peer()).isEqualTo(at(client, 7001));
            assertThat(seen.local()).isEqualTo(receiver.address());
        }
    }
}
