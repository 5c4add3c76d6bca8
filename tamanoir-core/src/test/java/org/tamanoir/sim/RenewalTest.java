package org.tamanoir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;

/** What becomes of datagrams when the {@code init} of their service has failed, and would no longer, in virtual time. */
@Tag("once")
class RenewalTest {
    private static final long SEED = Seeds.ofCommit(RenewalTest.class);
    private static final String NAME = "late";
    /** The waits before the second, third, ... attempt. */
    private static final List<Integer> WAITS_S = List.of(1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300);

    private boolean fails = true;
    /** When {@code init} was called, in ms. */
    private final List<Long> attempts = new ArrayList<>();

    @PerPacket
    private final class Late extends Service {
        private final CalmNode node;

        Late(CalmNode node) {
            this.node = node;
        }

        @Override
        public void init(ServiceConfig config) throws IOException {
            if (stream().transport() == Transport.UDP) {
                attempts.add(node.simulation.nanoTime() / 1_000_000);
                if (fails) {
                    throw new IOException("no key store");
                }
            }
        }

        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    private static void pass(CalmNode node, Duration time) {
        node.simulation.sleep(time.toNanos(), false);
    }

    private static long failed(CalmNode node) {
        return node.environment.traffic().drops().getOrDefault(DropReason.SERVICE_FAILURE, 0L);
    }

    @Test
    void anotherInstanceIsTriedUntilOneBegins() throws Exception {
        CalmNode.play(SEED, node -> {
            ServiceHealth health = node.service(NAME, () -> new Late(node));
            node.environment.start();
            node.datagram(1, 0, NAME, 0, 100);
            node.await(() -> failed(node) == 1);
            assertThat(health.fault()).isEqualTo("init: java.io.IOException: no key store");
            fails = false;
            node.stream(2, NAME, 0, 3, 100);
            node.await(() -> node.arrived(2) == 3);
            assertThat(health.fault()).as("a stream that began").contains("no key store");
            node.await(() -> health.fault().isEmpty());
            for (int i = 1; i <= 3; i++) {
                node.datagram(1, i, NAME, 0, 100);
            }
            node.await(() -> node.arrived(1) == 3);
            assertThat(attempts).hasSize(2);
            assertThat(attempts.get(1) - attempts.get(0)).isBetween(1000L, 1010L);
        });
    }

    @Test
    void attemptsBecomeRareAndNothingIsLostAmongThem() throws Exception {
        CalmNode.play(SEED, node -> {
            ServiceHealth health = node.service(NAME, () -> new Late(node));
            node.environment.start();
            int sent = 0;
            while (attempts.size() <= WAITS_S.size()) {
                node.datagram(1, sent++, NAME, 0, 100);
                pass(node, Duration.ofMillis(500));
            }
            for (int i = 0; i < WAITS_S.size(); i++) {
                long waitMs = 1000L * WAITS_S.get(i);
                assertThat(attempts.get(i + 1) - attempts.get(i)).isBetween(waitMs, waitMs + 10);
            }
            fails = false;
            while (node.arrived(1) == 0) {
                node.datagram(1, sent++, NAME, 0, 100);
                pass(node, Duration.ofMillis(500));
            }
            int all = sent;
            node.await(() -> failed(node) + node.arrived(1) == all);
            assertThat(health.failures()).isEqualTo(WAITS_S.size() + 1L);
            assertThat(health.fault()).isEmpty();
        });
    }

    @Test
    void aReleaseHasItTriedAtOnce() throws Exception {
        CalmNode.play(SEED, node -> {
            ServiceHealth health = node.service(NAME, () -> new Late(node));
            node.environment.start();
            node.datagram(1, 0, NAME, 0, 100);
            node.await(() -> attempts.size() == 5); // The next one is due in 16 s.
            node.release(NAME);
            node.await(() -> attempts.size() == 6);
            fails = false;
            node.release(NAME);
            node.await(() -> health.fault().isEmpty());
            assertThat(attempts.get(6) - attempts.get(4)).isLessThan(10);
            node.datagram(1, 1, NAME, 0, 100);
            node.await(() -> node.arrived(1) == 1);
            node.release(NAME);
            pass(node, Duration.ofMinutes(10));
            assertThat(attempts).as("one that has begun stays").hasSize(7);
        });
    }

    @Test
    void workersThatDidNotBeginMakeRoomForOthers() throws Exception {
        CalmNode.play(SEED, node -> {
            ServiceHealth health = node.shared(NAME, Late.class, () -> new Late(node));
            node.environment.start();
            int sent = 0;
            while (attempts.isEmpty() || attempts.get(attempts.size() - 1) - attempts.get(0) < 3000) {
                node.datagram(1, sent++, NAME, 0, 100);
                pass(node, Duration.ofMillis(500));
            }
            fails = false;
            while (node.arrived(1) == 0) {
                node.datagram(1, sent++, NAME, 0, 100);
                pass(node, Duration.ofMillis(500));
            }
            int all = sent;
            node.await(() -> failed(node) + node.arrived(1) == all);
            assertThat(health.fault()).isEmpty();
            long before = failed(node);
            for (int i = 0; i < 200; i++) {
                node.datagram(1, sent++, NAME, 0, 100);
            }
            int last = sent;
            node.await(() -> before + node.arrived(1) == last);
        });
    }
}
