package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

class FctSenderTest {
    private static final long HOLD_MAX = 20;
    private static final long IDLE_MAX = 1_000;

    private final TestRing ring = new TestRing();

    // ---- the vectors -----------------------------------------------------------------------------------------------

    static Stream<Arguments> traces() {
        JsonNode traces = Vectors.read("sender.json").get("traces");
        return StreamSupport.stream(traces.spliterator(), false)
                .map(each -> Arguments.of(each.get("name").asString(), each));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("traces")
    void doesWhatTheTraceSays(String name, JsonNode trace) {
        FctSender sender = new FctSender(Vectors.settings(trace, 0), ring, ring);
        sender.view(0, trace.get("master").asBoolean(), 3, 0);
        long timerAt = -1;
        for (JsonNode step : trace.get("steps")) {
            long tick = step.get(0).asLong();
            JsonNode input = step.get(1);
            switch (input.get(0).asString()) {
                case "packet" -> {
                    ring.queue.add(new TestRing.Waiting(
                            input.get(1).asLong(), input.get(2).asInt()));
                    sender.packet(input.get(1).asLong(), false);
                }
                case "token" ->
                    sender.token(token(
                            input.get(1).asLong(),
                            input.get(2).asLong(),
                            input.get(3).asLong(),
                            input.get(4).asInt()));
                case "sent" -> sender.sent(1);
                default -> {
                    if (tick == timerAt) { // A later one replaces an earlier one.
                        sender.timer();
                    }
                }
            }
            List<String> expected = new ArrayList<>();
            step.get(2).forEach(each -> expected.add(words(each)));
            if (ring.done.size() < expected.size()) {
                // The ring of lost-token has waited for it in vain.
                ring.pass(token(sender.lastSerial() + 1, sender.round(), 0, 0));
            }
            assertThat(ring.done).as("at tick %d, %s", tick, input).isEqualTo(expected);
            for (String each : ring.takeDone()) {
                timerAt = each.startsWith("TIMER") ? tick + Long.parseLong(each.substring(6)) : timerAt;
            }
        }
    }

    private static String words(JsonNode output) {
        List<String> words = new ArrayList<>();
        output.forEach(each -> words.add(each.asString()));
        return String.join(" ", words);
    }

    // ---- an idle ring ----------------------------------------------------------------------------------------------

    @Test
    void restsWithTheTokenWhileNothingWaitsAnywhere() {
        FctSender master = sender(settings(1), true);
        packet(master, 1, false);
        master.sent(1);
        ring.takeDone();

        master.token(token(1, 1, 0, 0));

        assertThat(ring.takeDone()).containsExactly("TIMER " + IDLE_MAX);
    }

    @Test
    void holdsForAMomentOnlyWhileSomethingWaitsElsewhere() {
        FctSender master = sender(settings(1), true);
        packet(master, 1, false);
        master.sent(1);
        ring.takeDone();

        master.token(token(1, 1, 4, 0));

        assertThat(ring.takeDone()).containsExactly("TIMER " + HOLD_MAX);
    }

    @Test
    void goesOnWithTheRoundThatItIsWokenFor() {
        FctSender master = sender(settings(1), true);
        packet(master, 1, false);
        master.sent(1);
        master.token(token(1, 1, 0, 0));
        ring.takeDone();

        master.wake(7);

        assertThat(ring.takeDone()).containsExactly("PASS 2 7 0 0");
    }

    @Test
    void remembersAWakeThatOvertookTheToken() {
        FctSender master = sender(settings(1), true);
        packet(master, 1, false);
        master.sent(1);
        master.wake(7);
        ring.takeDone();

        master.token(token(1, 1, 0, 0));
        master.timer();

        assertThat(ring.takeDone()).containsExactly("TIMER " + HOLD_MAX, "PASS 2 7 0 0");
    }

    @Test
    void beginsForAPacketThatWaitsElsewhere() {
        FctSender master = sender(settings(1), true);

        master.wake(3);

        assertThat(ring.takeDone()).containsExactly("PASS 1 3 0 0");
    }

    @Test
    void wakesTheMasterWhenAPacketWaitsInAnIdleRing() {
        FctSender slave = sender(settings(1), false);
        slave.token(token(1, 1, 0, 0));
        ring.takeDone();

        packet(slave, 2, false);
        slave.timer();

        assertThat(ring.takeDone()).containsExactly("TIMER " + HOLD_MAX, "WAKE 2", "TIMER " + IDLE_MAX);
    }

    @Test
    void wakesNobodyWhileTheTokenHasSomewhereToGo() {
        FctSender slave = sender(settings(1), false);
        slave.token(token(1, 1, 2, 0));
        ring.takeDone();

        packet(slave, 2, false);

        assertThat(ring.takeDone()).isEmpty();
    }

    // ---- views -----------------------------------------------------------------------------------------------------

    @Test
    void keepsPacketsUntilItsRingIsThere() {
        FctSender sender = new FctSender(settings(1), ring, ring);

        packet(sender, 1, false);
        assertThat(ring.queue).hasSize(1);
        sender.alone();

        assertThat(ring.queue).isEmpty();
    }

    @Test
    void dropsATokenOfAnOlderEpoch() {
        FctSender slave = sender(settings(1), false);
        slave.view(2, false, 3, 5);

        slave.token(token((1L << 48) + 9, 5, 0, 0));

        assertThat(ring.takeDone()).isEmpty();
        assertThat(slave.staleTokens()).isEqualTo(1);
    }

    @Test
    void takesTheRoundOfAViewAsItsMaster() {
        FctSender master = sender(settings(1), false);

        master.view(2, true, 3, 5);

        assertThat(ring.takeDone()).containsExactly("PASS " + ((2L << 48) + 1) + " 5 0 0");
    }

    @Test
    void sendsAtOnceWithoutAViewAndWaitsWithTheNext() {
        FctSender slave = sender(settings(1), false);
        packet(slave, 1, false);

        slave.alone();
        slave.sent(1);
        slave.view(1, false, 3, 0);
        packet(slave, 2, false);

        assertThat(ring.takeDone()).containsExactly("TIMER " + HOLD_MAX, "SEND 1", "TIMER " + HOLD_MAX);
    }

    @Test
    void needsNoTokenByItself() {
        FctSender master = new FctSender(settings(1), ring, ring);
        master.view(0, true, 1, 0);

        packet(master, 9, false);

        assertThat(ring.takeDone()).containsExactly("SEND 9");
    }

    // ---- the end ---------------------------------------------------------------------------------------------------

    @Test
    void saysOnceThatItHasSentTheLastPacketOfItsPath() {
        FctSender master = sender(settings(1), true);
        packet(master, 1, true);
        ring.takeDone();

        master.sent(1);

        assertThat(ring.takeDone()).containsExactly("DRAINED");
        assertThat(master.isDrained()).isTrue();
    }

    @Test
    void saysAtTheEndOnceMoreThatItHasSentAll() {
        FctSender master = sender(settings(1), true);
        packet(master, 1, true);
        master.sent(1);
        ring.takeDone();

        master.end();

        assertThat(ring.takeDone())
                .as("what was said before it left does not count")
                .containsExactly("DRAINED");
    }

    @Test
    void dropsWhatWaitsAtTheEndAndIgnoresTokens() {
        FctSender slave = sender(settings(1), false);
        packet(slave, 1, false);
        packet(slave, 2, false);
        ring.takeDone();

        slave.end();
        slave.token(token(1, 2, 0, 0));

        assertThat(ring.takeDone()).containsExactly("DROP 1 RING_FINISH", "DROP 2 RING_FINISH", "DRAINED");
    }

    @Test
    void dropsWhatComesAfterTheEnd() {
        FctSender slave = sender(settings(1), false);
        slave.end();
        ring.takeDone();

        packet(slave, 3, false);

        assertThat(ring.takeDone()).containsExactly("DROP 3 RING_FINISH");
    }

    @Test
    void leavesTheRingAtTheEndOnceWhatWasUnderWayIsSent() {
        FctSender slave = sender(settings(1), false);
        slave.token(token(1, 1, 0, 0));
        packet(slave, 1, false);
        ring.takeDone();

        slave.end();
        assertThat(ring.takeDone()).isEmpty();
        slave.sent(1);

        assertThat(ring.takeDone()).containsExactly("DRAINED");
    }

    // ---- several at once -------------------------------------------------------------------------------------------

    @Test
    void sendsABunchAndHandlesATokenBeforeTheNext() {
        FctSender slave = sender(settings(2), false);
        slave.token(token(1, 3, 9, 0));
        ring.takeDone();

        for (int i = 1; i <= 3; i++) {
            packet(slave, i, false);
        }
        slave.token(token(2, 3, 0, 0));
        slave.sent(1);
        assertThat(ring.takeDone()).containsExactly("SEND 1", "SEND 2");
        slave.sent(1);

        assertThat(ring.takeDone()).containsExactly("PASS 2 3 3 0", "SEND 3");
    }

    private FctSender sender(FctSettings settings, boolean master) {
        FctSender sender = new FctSender(settings, ring, ring);
        sender.view(0, master, 3, 0);
        return sender;
    }

    private void packet(FctSender sender, long round, boolean last) {
        ring.queue.add(new TestRing.Waiting(round, (int) round));
        sender.packet(round, last);
    }

    private static FctSettings settings(int atOnce) {
        return new FctSettings(0, false, 0, 0, HOLD_MAX, IDLE_MAX, atOnce);
    }

    private static Token token(long serial, long round, long minHead, int left) {
        return new Token(serial, round, minHead, 0, left, 0);
    }
}
