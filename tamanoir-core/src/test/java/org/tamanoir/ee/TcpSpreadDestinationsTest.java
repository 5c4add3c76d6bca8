package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop;

/** A TCP stream whose packets are each for another destination of a large table. */
class TcpSpreadDestinationsTest extends TcpNodeTesting {
    private static final int PACKETS = 3000;

    @Test
    void eachArrivesInOrderWhereItsRouteLeadsAlsoWhenRoutesHaveChanged() throws IOException {
        List<TestSink> sinks = new ArrayList<>();
        List<List<Integer>> expected = new ArrayList<>();
        for (int i = 0; i < SpreadDestinationsTest.ENDS; i++) {
            sinks.add(sink());
            expected.add(new ArrayList<>());
        }
        TestNode node = node(MARK);
        SplittableRandom random = new SplittableRandom(19);
        try (AnepSender sender = sender(node)) {
            for (int turn = 0; turn < 2; turn++) {
                node.routes.replace(SpreadDestinationsTest.routes(
                        sinks.stream().map(TestSink::address).toList(), turn, NextHop.Transport.TCP));
                for (int i = turn * PACKETS; i < (turn + 1) * PACKETS; i++) {
                    int prefix = random.nextInt(1 << 14);
                    PacketBuilder builder = packets("mark")
                            .destination(
                                    SpreadDestinationsTest.address(prefix, 1).getAddress());
                    sender.send(builder, number(i));
                    expected.get((prefix + turn) % sinks.size()).add(i);
                }
                sender.flush();
                for (int i = 0; i < sinks.size(); i++) {
                    sinks.get(i).await(expected.get(i).size());
                }
            }
            sender.finish();
        }
        for (int i = 0; i < sinks.size(); i++) {
            assertThat(sinks.get(i).awaitEnds().numbers()).as("sink %s", i).isEqualTo(expected.get(i));
        }
        node.assertDrops(Map.of());
    }
}
