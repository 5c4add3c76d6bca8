package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.tamanoir.platform.ThreadRank;
import org.tamanoir.platform.ThreadRanks;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Which threads of an environment take which rank. */
class ThreadRankTest {
    private final Map<String, ThreadRank> taken = new ConcurrentHashMap<>();
    private final ThreadRanks ranks = new ThreadRanks() {
        @Override
        public void take(ThreadRank rank) {
            taken.put(Thread.currentThread().getName(), rank);
        }

        @Override
        public String text() {
            return "noted";
        }
    };

    @Test
    void coreThreadsAndServicesTakeRanksOnThreadsOfTheirOwn() throws Exception {
        try (UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.AUTO));
                UdpFarEnd far = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            node.environment.rank(ranks);
            node.environment.start();
            node.deliver("127.0.0.1/32", Transport.SAME)
                    .service("org.example.Any", (service, packet) -> Verdict.CONSUME);

            far.send(
                    node.udp(),
                    List.of(UdpTestNode.packet(UdpTestNode.builder(far.address(), "org.example.Any", 1), 100)));

            eventually()
                    .untilAsserted(() -> assertThat(taken)
                            .isEqualTo(Map.of(
                                    "reception", ThreadRank.CONTROL,
                                    "watchdog", ThreadRank.CONTROL,
                                    "udp org.example.Any", ThreadRank.SERVICE)));
            node.balanced(1);
        }
    }
}
