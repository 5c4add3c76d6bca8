package org.tamanoir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;

/** What an instance holds that was replaced, and that nobody resumes, in virtual time. */
@Tag("once")
class ReplacedHoldsTest {
    private static final long SEED = Seeds.ofCommit(ReplacedHoldsTest.class);
    private static final Duration BOUND = Duration.ofSeconds(10);

    /** Holds each packet for minutes. */
    @PerPacket
    private static final class Holder extends Service {
        private final List<Suspension> held;

        Holder(List<Suspension> held) {
            this.held = held;
        }

        @Override
        public Verdict process(Packet packet) {
            held.add(hold(packet, Duration.ofMinutes(9)));
            return Verdict.HELD;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsNotResumedEndsTenSecondsAfterItsServiceWasReplaced(boolean perPacket) throws Exception {
        CalmNode.play(SEED, node -> {
            List<Suspension> held = new ArrayList<>();
            if (perPacket) {
                node.workers("holder", Holder.class, () -> new Holder(held));
            } else {
                node.service("holder", () -> new Holder(held));
            }
            node.environment.start();
            for (int i = 0; i < 5; i++) {
                node.datagram(1, i, "holder", 0, 100);
            }
            node.await(() -> held.size() == 5);
            assertThat(held.get(2).resume(Verdict.FORWARD)).isTrue();
            long beganNs = node.simulation.nanoTime();
            node.retire("holder", BOUND.multipliedBy(6));
            assertThat(Duration.ofNanos(node.simulation.nanoTime() - beganNs)).isBetween(BOUND, BOUND.plusSeconds(1));
            assertThat(node.settle()).isEqualTo(Map.of(DropReason.HOLD_EXPIRED, 4L));
            assertThat(held.get(0).resume(Verdict.FORWARD)).isFalse();
            assertThat(node.arrived(1)).isOne();
        });
    }
}
