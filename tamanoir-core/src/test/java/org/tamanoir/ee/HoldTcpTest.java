package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.Service;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;

/** Packets of a TCP stream that its service holds: those behind wait with them. */
class HoldTcpTest extends TcpNodeTesting {
    private static final int HELD = 1000;

    private final BlockingQueue<Suspension> held = new LinkedBlockingQueue<>();

    private ServiceDefinition holder(Duration atMost) {
        return define("holder", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                packet.setClassOfService(7);
                if (TestSink.number(packet) < HELD) {
                    return Verdict.FORWARD;
                }
                packet.setPayload(ByteBuffer.allocate(900).putInt(0, TestSink.number(packet)));
                held.add(hold(packet, atMost));
                return Verdict.HELD;
            }
        });
    }

    private Suspension next() throws InterruptedException {
        Suspension next = held.poll(40, TimeUnit.SECONDS);
        assertThat(next).as("a packet is held").isNotNull();
        return next;
    }

    private void sendAll(TestNode node) throws IOException {
        AnepSender sender = sender(node);
        for (int number : new int[] {0, HELD, 1, HELD + 1, 2}) {
            sender.send(packets("holder"), number(number));
        }
        sender.finish();
    }

    private static List<Integer> numbers(TestSink sink) {
        return sink.packets().stream().map(TestSink::number).toList();
    }

    @Test
    void packetsBehindOneThatIsHeldWaitWithIt() throws Exception {
        TestSink sink = sink();
        TestNode node = node(holder(Duration.ofMinutes(5))).toHost(sink.address());
        sendAll(node);
        Suspension first = next();
        eventually().until(() -> numbers(sink).equals(List.of(0)));
        assertThat(first.resume(Verdict.FORWARD)).isTrue();
        Suspension second = next();
        eventually().until(() -> numbers(sink).equals(List.of(0, HELD, 1)));
        assertThat(first.resume(Verdict.FORWARD)).isFalse();
        second.resume(Verdict.DROP);
        sink.awaitEnds();
        assertThat(numbers(sink)).containsExactly(0, HELD, 1, 2);
        assertThat(sink.packets().get(1).payloadLength()).isEqualTo(900);
        assertThat(sink.packets()).allMatch(packet -> packet.classOfService() == 7);
        node.assertDrops(Map.of(DropReason.SERVICE, 1L));
    }

    @Test
    void whatResumeHasSaidCountsWhateverProcessReturnsThen() throws Exception {
        TestSink sink = sink();
        ServiceDefinition torn = define("holder", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                int number = TestSink.number(packet);
                if (number < HELD) {
                    return Verdict.FORWARD;
                }
                assertThat(hold(packet, Duration.ofMinutes(5)).resume(Verdict.DROP))
                        .isTrue();
                if (number == HELD) {
                    return Verdict.FORWARD;
                }
                throw new IllegalStateException("thrown by the test");
            }
        });
        TestNode node = node(torn).toHost(sink.address());
        sendAll(node);
        sink.awaitEnds();
        assertThat(numbers(sink)).containsExactly(0, 1, 2);
        node.assertDrops(Map.of(DropReason.SERVICE, 2L));
    }

    @Test
    void packetThatNobodyResumesExpiresAndTheStreamGoesOn() throws Exception {
        TestSink sink = sink();
        TestNode node = node(holder(Duration.ofMillis(20))).toHost(sink.address());
        sendAll(node);
        sink.await(3);
        sink.awaitEnds();
        assertThat(numbers(sink)).containsExactly(0, 1, 2);
        node.assertDrops(Map.of(DropReason.HOLD_EXPIRED, 2L));
        assertThat(next().resume(Verdict.FORWARD)).isFalse();
    }

    @Test
    void packetIsDroppedWhenItsStreamEnds() throws Exception {
        TestSink sink = sink();
        TestNode node = node(holder(Duration.ofMinutes(5))).toHost(sink.address());
        sendAll(node);
        Suspension suspension = next();
        node.environment.stop(Duration.ofMillis(1));
        assertThat(suspension.resume(Verdict.FORWARD)).isFalse();
        assertThat(node.traffic().drops()).containsKey(DropReason.SHUTDOWN);
    }
}
