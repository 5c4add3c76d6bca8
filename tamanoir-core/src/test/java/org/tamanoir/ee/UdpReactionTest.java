package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
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
import org.tamanoir.service.Allowance;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.UdpHeaders;

/** Datagrams of 72 bytes, 100 with their headers: 400 may go onward for each, 300 back. */
class UdpReactionTest {
    private static final int LENGTH = 72;
    private static final int HEADERS = UdpHeaders.bytes(0, 0xFFFF_7F00_0001L);

    /** A sender. */
    static final class Source implements PacketSource {
        @Override
        public @Nullable InetSocketAddress peer() {
            return null;
        }

        @Override
        public InetSocketAddress local() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void tellSource(KeptAllowance kept) {
            kept.setSource(1, 2, 3, HEADERS);
        }

        @Override
        public boolean isFrom(long high, long low, int port) {
            return high == 1 && low == 2 && port == 3;
        }

        @Override
        public int proof() {
            return 0;
        }

        @Override
        public void prove(int proof) {
            throw new UnsupportedOperationException();
        }
    }

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
                    new Dispatch(false, true, 1024)),
            new Source());
    private final Suspended held = new Suspended(Duration.ofSeconds(1), 0, Platform.SYSTEM, new AtomicLong(), () -> {});

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

    private boolean pays(Allowance allowance, int packets, long bytes) {
        return reaction.prepay(allowance, 0, 0, 0, packets, bytes);
    }

    private Allowance kept() {
        reaction.begin(LENGTH, HEADERS);
        Allowance kept = reaction.keep();
        reaction.end(true);
        return kept;
    }

    @Test
    void whatIsKeptPaysForItselfWhateverIsInHand() {
        Allowance kept = kept();
        reaction.begin(LENGTH, HEADERS);
        assertThat(pays(kept, 3, 316)).as("all or nothing: 400 with 3 headers").isTrue();
        for (int i = 0; i < 3; i++) {
            assertThat(reaction.admitsOnward(i == 0 ? 106 : 105)).isTrue();
        }
        assertThat(pays(kept, 1, 0)).isFalse();
        assertThat(reaction.admitsOnward(372))
                .as("that in hand has all that it had")
                .isTrue();
    }

    /** As where a timer is due behind what the packet in hand has paid for itself, which leaves last. */
    @Test
    void whatIsPaidForLaterTakesNothingOfWhatIsPaidForAlready() {
        Allowance kept = kept();
        reaction.begin(LENGTH, HEADERS);
        assertThat(pays(kept, 1, 372)).isTrue();
        assertThat(pays(Allowance.FREE, 1, 10)).isTrue();
        assertThat(pays(kept, 1, 0)).isFalse();
        assertThat(reaction.admitsOnward(10)).isTrue();
        assertThat(reaction.admitsOnward(372)).isTrue();
        assertThat(reaction.admitsOnward(372)).as("all of its own").isTrue();
    }

    @Test
    void aRefusalTakesNothingFromAnybody() {
        Allowance kept = kept();
        reaction.begin(LENGTH, HEADERS);
        assertThat(pays(kept, 1, 373)).isFalse();
        assertThat(pays(kept, 1, 372)).isTrue();
        assertThat(reaction.admitsOnward(372)).isTrue();
        assertThat(pays(reaction, 1, 373)).isFalse();
        assertThat(reaction.admitsOnward(372)).as("all of its own").isTrue();
        assertThat(reaction.admitsOnward(0)).isFalse();
    }

    @Test
    void severalPayTogetherForWhatIsMadeOfThem() {
        Allowance one = kept();
        Allowance both = one.join(kept(), 2);
        reaction.begin(LENGTH, HEADERS);
        Allowance all = both.join(reaction, 3);
        reaction.end(true);
        assertThat(pays(one, 1, 1172)).as("each stands for all").isTrue();
        assertThat(pays(all, 1, 0)).isFalse();
    }

    /** A copy of the datagram's message is kept with others, another one by itself: both have its part, and it as well. */
    @Test
    void aDatagramHasItsOwnPartAloneOfWhatIsKeptWithOthers() {
        Allowance others = kept();
        reaction.begin(LENGTH, HEADERS);
        Allowance copy = reaction.keep();
        others.join(reaction, 2);
        assertThat(pays(reaction, 1, 300)).isTrue();
        assertThat(pays(reaction, 1, 73)).as("72 are left to it").isFalse();
        assertThat(pays(copy, 1, 472 - HEADERS)).as("and with the others, 472").isTrue();
        assertThat(pays(others, 1, 0)).isFalse();
    }

    @Test
    void aHoldTakesNothingOfOthersThatIsKeptTogether() {
        Allowance others = kept();
        reaction.begin(LENGTH, HEADERS);
        others.join(reaction, 2);
        reaction.end(false);
        reaction.hold(held);
        assertThat(held.onwardLeft).isEqualTo(400);
        assertThat(held.answersLeft).isEqualTo(300);
        assertThat(pays(others, 1, 372)).isTrue();
    }

    @Test
    void aFarSideHasNothingOfOthersThatIsKeptTogether() {
        Allowance others = kept();
        reaction.begin(LENGTH, HEADERS);
        others.join(reaction, 2);
        assertThat(reaction.takeAnswers()).isEqualTo(300);
        assertThat(reaction.takeAnswers()).isZero();
        assertThat(reaction.prepay(others, 1, 2, 3, 1, 272)).isTrue();
    }

    @Test
    void answersOfWhatIsKeptAreBoundedAsAnswers() {
        Allowance kept = kept();
        assertThat(reaction.prepay(kept, 1, 2, 3, 1, 273)).isFalse();
        assertThat(reaction.prepay(kept, 1, 2, 3, 1, 272)).isTrue();
    }

    @Test
    void consumedDatagramsTakeNothingFromOneThatIsKept() {
        for (int i = 0; i < 1_000; i++) { // More than may leave for one.
            reaction.begin(LENGTH, HEADERS);
            reaction.end(true);
        }
        assertThat(pays(kept(), 1, 372)).isTrue();
        reaction.begin(LENGTH, HEADERS);
        assertThat(pays(reaction, 1, (256 << 10) - HEADERS))
                .as("nor it from them")
                .isTrue();
    }

    @Test
    void inATaskNothingIsBounded() {
        assertThat(pays(reaction, 1, 1 << 30)).isTrue();
        assertThat(reaction.keep()).isSameAs(Allowance.FREE);
        assertThat(pays(Allowance.FREE, 1, 1 << 30)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"272, true", "273, false"})
    void whatGoesOnwardBehindAHoldHasWhatWasLeft(int length, boolean admitted) {
        assertThat(reaction.admitsOnward(length)).isEqualTo(admitted);
    }
}
