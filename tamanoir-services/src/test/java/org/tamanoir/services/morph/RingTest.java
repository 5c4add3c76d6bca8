package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.message.Message;
import org.tamanoir.support.Seeds;

/** What goes into a ring comes out, in order, whatever its place. */
class RingTest {
    private final Ring ring = new Ring(Ring.MIN_BYTES);
    private final Flights flights = new Flights();

    @Test
    void carriesHeaderRecordAndTime() {
        Message sent = flights.flight(7, 3, "ATL");
        sent.setDestination(InetSocketAddress.createUnresolved("there", 9));
        assertThat(ring.offer(sent, 4, true)).isTrue();

        assertThat(ring.next()).isTrue();
        Message taken = ring.message();
        assertThat(ring.stage()).isEqualTo(4);
        assertThat(ring.isRoot()).isTrue();
        assertThat(Flights.id(taken)).isEqualTo(7);
        assertThat(taken.arrivalNs()).isEqualTo(7);
        assertThat(taken.destination()).isEqualTo(sent.destination());
        assertThat(taken.header().destination()).isEqualTo(sent.header().destination());
        assertThat(taken.header().classOfService()).isEqualTo(3);
        assertThat(taken.header().payloadLength()).as("the record is not in it").isZero();
        assertThat(sent.header().payloadLength()).isEqualTo(3);
    }

    @Test
    void keepsMessagesInOrderAroundItsEnd() {
        long seed = Seeds.ofCommit(RingTest.class);
        Random random = new Random(seed);
        Deque<Long> expected = new ArrayDeque<>();
        for (long id = 1; id < Seeds.scaled(20_000); id++) {
            Message message = flights.flight(id, 0, "x".repeat(random.nextInt(900)));
            if (random.nextInt(10) == 0 && ring.offerRelease(id, "gone")) {
                expected.add(-id);
            }
            if (ring.offer(message, 1, false)) {
                expected.add(id);
            }
            while (random.nextInt(3) > 0 && ring.next()) {
                long got = ring.stage() == Ring.RELEASE ? -ring.releases() : Flights.id(ring.message());
                assertThat(got).as("seed " + seed).isEqualTo(expected.remove());
                ring.release();
            }
            long messages = expected.stream().filter(n -> n >= 0).count();
            assertThat(ring.queued()).as("seed " + seed).isEqualTo(messages);
        }
    }

    @Test
    void refusesWhatHasNoRoom() {
        int in = 0;
        while (ring.offer(flights.flight(in), 1, false)) {
            in++;
        }
        assertThat(in).isBetween(10, 40);
        assertThat(ring.queued()).isEqualTo(in);
        ring.next();
        ring.release();
        assertThat(ring.offer(flights.flight(in), 1, false)).isTrue();
    }
}
