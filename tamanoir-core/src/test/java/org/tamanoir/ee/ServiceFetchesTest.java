package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.catalog.Origin;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.platform.Platform;

/** What one peer asks for, and what it is refused, keeps no other one from its services. */
class ServiceFetchesTest {
    private static final long KEY = 4711;
    private static final String GOOD = "10.0.0.1";
    private static final String STRANGER = "10.0.0.2";

    private final TestSource source = new TestSource();
    private final ServiceFetches missing = new ServiceFetches(Duration.ofMinutes(1), Platform.SYSTEM);
    private final List<ServiceSource.Answer> answers = new ArrayList<>();

    @BeforeEach
    void begin() {
        missing.from(source);
    }

    private static InetAddress at(String address) throws UnknownHostException {
        return InetAddress.getByName(address);
    }

    private void ask(long key, String peer, int port, boolean isProven) throws UnknownHostException {
        missing.request(key, new Origin(at(peer), new InetSocketAddress(peer, port), isProven), answers::add);
    }

    private List<DropReason> refusals() {
        return answers.stream().map(ServiceSource.Answer::refusal).toList();
    }

    @Test
    void keysOfOnePartyAreBoundedAndThoseOfOthersAreNot() throws Exception {
        for (int key = 0; key < ServiceFetches.MAX_KEYS_PER_PARTY; key++) {
            ask(key, STRANGER, 1, true);
        }
        assertThat(answers).isEmpty();
        ask(KEY, STRANGER, 1, true);
        assertThat(refusals()).containsExactly(DropReason.DEPLOYMENT_FAILED);
        assertThat(missing.refusal(KEY, at(GOOD))).isNull();
        assertThat(missing.refusal(KEY, null)).isNull();
        ask(KEY, GOOD, 1, true);
        assertThat(source.requests()).hasSize(ServiceFetches.MAX_KEYS_PER_PARTY + 1);

        source.requests().get(0).then().accept(ServiceSource.Answer.refused(DropReason.UNKNOWN_SERVICE));
        ask(KEY + 1, STRANGER, 1, true);
        assertThat(source.requests()).hasSize(ServiceFetches.MAX_KEYS_PER_PARTY + 2);
    }

    @Test
    void addressesOfOneIpv6NetworkAreOneParty() throws Exception {
        for (int key = 0; key <= ServiceFetches.MAX_KEYS_PER_PARTY; key++) {
            ask(key, "2001:db8::" + Integer.toHexString(key + 1), 1, true);
        }
        assertThat(refusals()).containsExactly(DropReason.DEPLOYMENT_FAILED);
        ask(KEY, "2001:db8:0:1::1", 1, true);
        assertThat(answers).hasSize(1);
    }

    @Test
    void whoForgesAnAddressUsesUpNothingOfItsOwner() throws Exception {
        for (int key = 0; key < ServiceFetches.MAX_KEYS_PER_PARTY; key++) {
            ask(key, GOOD, 1, false);
        }
        ask(KEY, GOOD, 1, true);
        assertThat(answers).isEmpty();
    }

    @Test
    void theSourceLearnsOfEachWhoWaitsForAKeyOfOnePartyTwiceAtMost() throws Exception {
        for (int port = 1; port <= 5; port++) {
            ask(KEY, STRANGER, port, true);
        }
        ask(KEY, GOOD, 1, true);
        assertThat(source.requests())
                .extracting(request -> request.origin().peer())
                .containsExactly(at(STRANGER), at(STRANGER), at(GOOD));
        source.requests().get(2).then().accept(ServiceSource.Answer.refused(DropReason.UNKNOWN_SERVICE));
        assertThat(answers).hasSize(6);
    }

    @Test
    void whoCannotBeToldKeepsNoOtherOneFromItsAnswer() throws Exception {
        Origin origin = new Origin(at(GOOD), new InetSocketAddress(GOOD, 1), true);
        missing.request(KEY, origin, answer -> {
            throw new IllegalStateException("on purpose");
        });
        ask(KEY, GOOD, 1, true);
        source.requests().get(0).then().accept(ServiceSource.Answer.refused(DropReason.UNKNOWN_SERVICE));
        assertThat(refusals()).containsExactly(DropReason.UNKNOWN_SERVICE);
    }

    @Test
    void whoCannotBeToldForWantOfMemoryIsToldLater() throws Exception {
        AtomicBoolean failed = new AtomicBoolean();
        Origin origin = new Origin(at(GOOD), new InetSocketAddress(GOOD, 1), true);
        missing.request(KEY, origin, answer -> {
            if (!failed.getAndSet(true)) {
                throw new OutOfMemoryError("on purpose");
            }
            answers.add(answer);
        });
        source.requests().get(0).then().accept(ServiceSource.Answer.refused(DropReason.UNKNOWN_SERVICE));
        assertThat(answers).isEmpty();
        missing.sweep();
        missing.sweep();
        assertThat(refusals()).containsExactly(DropReason.UNKNOWN_SERVICE);
    }

    @Test
    void whatAStrangerIsRefusedIsAskedForAnewForOthers() throws Exception {
        ask(KEY, STRANGER, 1, true);
        source.requests().get(0).then().accept(ServiceSource.Answer.refused(DropReason.UNKNOWN_SERVICE));
        assertThat(missing.refusal(KEY, at(STRANGER))).isEqualTo(DropReason.UNKNOWN_SERVICE);
        assertThat(missing.refusal(KEY, at(GOOD))).isNull();
    }

    @Test
    void oneFetchIsBegunForAKeyAndGivenUpWhenItsTimeIsOver() throws Exception {
        List<Origin> asked = new ArrayList<>();
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger givenUp = new AtomicInteger();
        ServiceFetches hasty = new ServiceFetches(Duration.ZERO, Platform.SYSTEM);
        hasty.from((key, then) -> {
            begun.incrementAndGet();
            return new ServiceSource.Fetch() {
                @Override
                public void ask(Origin origin) {
                    asked.add(origin);
                }

                @Override
                public void cancel() {
                    givenUp.incrementAndGet();
                    then.accept(ServiceSource.Answer.refused(DropReason.UNKNOWN_SERVICE)); // Too late.
                }
            };
        });
        Origin one = new Origin(at(STRANGER), null, true);
        Origin other = new Origin(at(GOOD), null, true);
        hasty.request(KEY, one, answers::add);
        hasty.request(KEY, other, answers::add);
        assertThat(begun).hasValue(1);
        assertThat(asked).containsExactly(one, other);

        hasty.sweep();
        assertThat(givenUp).hasValue(1);
        assertThat(refusals()).containsExactly(DropReason.DEPLOYMENT_FAILED, DropReason.DEPLOYMENT_FAILED);
    }
}
