package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.platform.Platform;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.UdpHeaders;

/** Datagrams of 72 bytes, 100 with their headers: 400 may go onward for each, 300 back. */
class UdpReactionTest {
    private static final int LENGTH = 72;
    private static final int HEADERS = UdpHeaders.bytes(0, 0xFFFF_7F00_0001L);

    private final UdpReaction reaction = new UdpReaction(
            UdpBounds.DEFAULT,
            new ServiceDefinition(
                    "org.example.Service",
                    "",
                    () -> new Service() {
                        @Override
                        public Verdict process(Packet packet) {
                            return Verdict.HELD;
                        }
                    },
                    ServiceConfig.EMPTY,
                    FailurePolicy.DROP,
                    new ServiceHealth(),
                    new Placement(),
                    DefinedControl.NONE,
                    new Dispatch(false, true, 1024)));
    private final Suspended held = new Suspended(Duration.ofSeconds(1), 0, Platform.SYSTEM, () -> {});

    @BeforeEach
    void aDatagramIsHeldAfterASmallReaction() {
        reaction.begin(LENGTH, HEADERS);
        assertThat(reaction.admitsAnswer(LENGTH)).isTrue();
        assertThat(reaction.admitsOnward(LENGTH)).isTrue();
        reaction.end(false);
        reaction.hold(held);
        reaction.begin(LENGTH, HEADERS); // The next one.
        reaction.end(false);
        reaction.resume(held, false);
    }

    @ParameterizedTest
    @CsvSource({"172, true", "173, false"})
    void anAnswerBehindAHoldHasWhatWasLeft(int length, boolean admitted) {
        assertThat(reaction.admitsAnswer(length)).isEqualTo(admitted);
    }

    @Test
    void aFarSideHasWhatRepliesHaveLeft() {
        reaction.begin(LENGTH, HEADERS);
        assertThat(reaction.admitsAnswer(LENGTH)).isTrue();
        assertThat(reaction.takeAnswers()).isEqualTo(200);
        assertThat(reaction.admitsAnswer(0)).isFalse();
        assertThat(reaction.takeAnswers()).isZero();
    }

    @Test
    void aFarSideMayAnswerWithMoreThanOneDatagramsWorth() {
        reaction.begin(60_000, HEADERS);
        assertThat(reaction.takeAnswers()).isEqualTo(3 * 60_028);
    }

    /** 120 with headers came, and 48 are those of each answer. */
    @Test
    void headersAreThoseOfTheDatagramsIp() {
        reaction.begin(LENGTH, UdpHeaders.bytes(0, 1));
        for (int answers = 0; answers < 7; answers++) {
            assertThat(reaction.admitsAnswer(0)).isTrue();
        }
        assertThat(reaction.takeAnswers()).isEqualTo(3 * 120 - 7 * 48);
    }

    @ParameterizedTest
    @CsvSource({"272, true", "273, false"})
    void whatGoesOnwardBehindAHoldHasWhatWasLeft(int length, boolean admitted) {
        assertThat(reaction.admitsOnward(length)).isEqualTo(admitted);
    }
}
