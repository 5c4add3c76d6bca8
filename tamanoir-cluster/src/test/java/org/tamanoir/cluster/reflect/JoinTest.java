package org.tamanoir.cluster.reflect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.cluster.reflect.Sessions.SECOND;
import static org.tamanoir.cluster.reflect.Sessions.balanced;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.qdisc.TokenBucket;

@Tag("once")
class JoinTest {
    private static final String ZEROS = "0".repeat(32);

    private final Session session = Sessions.session(Sessions.open(Format.UDP, 3));
    private final Wire wire = new Wire(session, 0);

    /** Asks for a cookie, and returns the message that joins with it. */
    private String cookie(int port, long nowNs) {
        List<String> answers =
                wire.in(port, "tamanoir-join " + ZEROS).run(nowNs).take(port);
        assertThat(answers).hasSize(1);
        assertThat(answers.get(0)).matches("tamanoir-take [0-9a-f]{32}");
        return answers.get(0).replace("take", "join");
    }

    private void join(int port, long nowNs) {
        wire.in(port, cookie(port, nowNs)).run(nowNs);
    }

    @Test
    void whoSendsTheCookieBackIsAMember() {
        join(1, 0);
        join(2, 0);
        wire.in(1, "hello").run(0);
        assertThat(wire.take(2)).containsExactly("hello");
        assertThat(wire.sent).isEmpty();
        assertThat(balanced(session).control()).isEqualTo(4);
    }

    @Test
    void aStrangerIsSentNeverMoreThanItSent() {
        join(1, 0);
        wire.sent.clear();
        String[] tries = {
            "tamanoir-join " + ZEROS,
            "tamanoir-join " + ZEROS + "\n",
            "tamanoir-quit " + "f".repeat(32),
            "tamanoir-join " + "x".repeat(32),
            "tamanoir-join ",
            "tamanoir-take " + ZEROS,
            "tamanoir-join " + ZEROS + "z".repeat(100),
            "",
            "anything"
        };
        for (String each : tries) {
            wire.in(7, each).run(0);
            assertThat(wire.take(7).stream().mapToInt(String::length).sum())
                    .as(each)
                    .isLessThanOrEqualTo(each.length());
        }
        wire.in(1, "for members").run(0);
        assertThat(wire.sent)
                .as("a stranger who only asks gets no datagram of the session")
                .isEmpty();
        balanced(session);
    }

    @Test
    void aCookieIsOfOneAddressAndOneMinute() {
        String cookie = cookie(1, 0);
        wire.in(2, cookie).run(0);
        assertThat(wire.take(2))
                .as("a cookie that another was given: an answer, no place")
                .hasSize(1);
        wire.in(1, cookie).run(2 * Cookies.SLICE_NS);
        assertThat(wire.take(1)).as("a cookie that is old").hasSize(1);
        assertThat(session.members.count()).isZero();
        wire.in(1, cookie).run(2 * Cookies.SLICE_NS - 1);
        assertThat(session.members.count()).isEqualTo(1);
    }

    @Test
    void anAnswerIsAnsweredByNothing() {
        wire.in(1, cookie(1, 0).replace("join", "take")).run(0);
        assertThat(wire.sent).isEmpty();
        assertThat(session.members.count()).isZero();
    }

    @Test
    void whoIsSilentForTheTimeoutIsLetGo() {
        join(1, 0);
        join(2, 0);
        wire.in(1, "still here").run(9 * SECOND);
        session.expire(10 * SECOND - 1);
        assertThat(session.members.count()).isEqualTo(2);
        session.expire(10 * SECOND);
        assertThat(session.members.count()).isEqualTo(1);
        assertThat(balanced(session).sent()).isEqualTo(1);
    }

    /** Else datagrams with a forged source could keep somebody in the session who has long gone. */
    @Test
    void datagramsAloneKeepAMemberOnlyUntilItHasToShowAFreshCookie() {
        join(1, 0);
        for (int second = 1; second < 60; second++) {
            wire.in(1, "x").run(second * SECOND);
            session.expire(second * SECOND);
        }
        assertThat(session.members.count()).isEqualTo(1);
        session.expire(60 * SECOND);
        assertThat(session.members.count()).isZero();
    }

    @Test
    void whoRepeatsItsMessageIsToldTheNextCookieAndStays() {
        String message = cookie(1, 0);
        for (int second = 0; second < 300; second += 5) {
            wire.in(1, message).run(second * SECOND);
            for (String answer : wire.take(1)) {
                message = answer.replace("take", "join");
            }
            session.expire(second * SECOND);
        }
        assertThat(session.members.count()).isEqualTo(1);
    }

    @Test
    void whoQuitsIsGone() {
        join(1, 0);
        join(2, 0);
        String quit = cookie(2, 0).replace("join", "quit");
        wire.in(1, quit).run(0);
        assertThat(session.members.count()).as("of another address").isEqualTo(2);
        wire.in(2, "farewell").in(2, quit).in(2, "late").run(0);
        assertThat(wire.take(1)).contains("farewell").doesNotContain("late");
        assertThat(session.members.count()).isEqualTo(1);
        balanced(session);
    }

    @Test
    void aFullSessionTakesNobody() {
        for (int port = 1; port <= 4; port++) {
            join(port, 0);
        }
        assertThat(session.members.count()).isEqualTo(3);
        assertThat(balanced(session).refused()).isEqualTo(Map.of("MEMBERS_FULL", 1L));
    }

    @Test
    void wishesToJoinAreLookedAtSoOftenASecond() {
        for (int i = 0; i < Session.JOINS_PER_SECOND + 5; i++) {
            wire.in(1 + i, "tamanoir-join " + ZEROS).run(0);
        }
        assertThat(wire.sent).hasSize(Session.JOINS_PER_SECOND);
        assertThat(balanced(session).refused()).isEqualTo(Map.of("RATE_EXCEEDED", 5L));
    }

    @Test
    void aFloodOfWishesPushesNoMemberOut() {
        String message = cookie(1, 0);
        wire.in(1, message).run(0);
        for (int second = 1; second < 150; second++) {
            for (int i = 0; i < Session.JOINS_PER_SECOND; i++) {
                wire.in(2_000 + i, "tamanoir-join " + ZEROS);
            }
            wire.in(1, message).run(second * SECOND);
            for (String answer : wire.take(1)) {
                message = answer.replace("take", "join");
            }
            wire.sent.clear();
            session.expire(second * SECOND);
        }
        assertThat(session.members.count()).isEqualTo(1);
        for (int i = 0; i < 20; i++) {
            wire.in(1, message);
        }
        long before = balanced(session).refused().getOrDefault("RATE_EXCEEDED", 0L);
        wire.run(150 * SECOND);
        assertThat(balanced(session).refused().getOrDefault("RATE_EXCEEDED", 0L) - before)
                .as("its own wishes are bounded too")
                .isEqualTo(10);
    }

    @Test
    void oneAddressDoesNotTakeAllPlaces() {
        Session large = Sessions.session(Sessions.open(Format.UDP, 100));
        Wire other = new Wire(large, 0);
        for (int port = 1; port <= 12; port++) {
            String answer =
                    other.in(port, "tamanoir-join " + ZEROS).run(0).take(port).get(0);
            other.in(port, answer.replace("take", "join")).run(0);
        }
        assertThat(large.members.count()).isEqualTo(8);
        assertThat(balanced(large).refused()).isEqualTo(Map.of("MEMBERS_FULL", 4L));
    }

    /** Else who comes and goes gets a burst each time. */
    @Test
    void whoJoinsBeginsWithoutABurst() {
        MemberConfig config = Sessions.member(1, Direction.RECEIVE, 10_000, 255);
        TokenBucket joined = Objects.requireNonNull(new Member(config, Origin.COOKIE, 0).bucket);
        TokenBucket listed = Objects.requireNonNull(new Member(config, Origin.LISTED, 0).bucket);
        assertThat(joined.take(1, 0)).isFalse();
        assertThat(listed.take(1, 0)).isTrue();
    }

    /** Somebody else may be at the port behind. */
    @Test
    void aProofOpensNoOtherPort() {
        Session rtp = Sessions.session(Sessions.open(Format.RTP, 10));
        Wire media = new Wire(rtp, 0);
        Wire control = new Wire(rtp, 1);
        for (int port : new int[] {10, 20}) {
            String answer =
                    media.in(port, "tamanoir-join " + ZEROS).run(0).take(port).get(0);
            media.in(port, answer.replace("take", "join")).run(0);
        }
        byte[] report = Sessions.receiverReport(5, 77, 64, 12, 300);
        control.in(21, report).run(0);
        assertThat(control.sent).isEmpty();
        assertThat(media.take(10)).containsExactly(Wire.text(report));
        control.in(11, Sessions.receiverReport(6, 77, 64, 12, 300)).run(SECOND);
        control.take(21);
        control.in(21, report).run(2 * SECOND);
        assertThat(control.take(11)).as("from where RTCP has come").hasSize(1);
        assertThat(media.sent).isEmpty();
        balanced(rtp);
    }

    /** As of two programs on one host: the second one's port of RTP is the one behind the first's. */
    @Test
    void aMemberAtThePortBehindTakesNoRtcpFromTheOneBefore() {
        Session rtp = Sessions.session(Sessions.open(Format.RTP, 10));
        Wire media = new Wire(rtp, 0);
        Wire control = new Wire(rtp, 1);
        for (int port : new int[] {10, 11, 30}) {
            String answer =
                    media.in(port, "tamanoir-join " + ZEROS).run(0).take(port).get(0);
            media.in(port, answer.replace("take", "join")).run(0);
        }
        control.in(11, Sessions.receiverReport(6, 77, 64, 12, 300)).run(0);
        assertThat(media.take(10)).hasSize(1);
        assertThat(media.take(11)).as("what it sent itself").isEmpty();
        assertThat(media.take(30)).hasSize(1);
        control.in(30, Sessions.receiverReport(5, 77, 64, 12, 300)).run(SECOND);
        assertThat(media.take(10)).hasSize(1);
        assertThat(media.take(11)).hasSize(1);
        assertThat(control.sent).isEmpty();
        balanced(rtp);
    }

    @Test
    void anAnswerThatDidNotLeaveIsCounted() {
        wire.refusedPorts.add(1);
        join(2, 0);
        wire.in(1, "tamanoir-join " + ZEROS).run(0);
        wire.refusedPorts.clear();
        wire.refusedPorts.add(2);
        wire.in(2, "tamanoir-join " + ZEROS).run(0);
        assertThat(balanced(session).members().get(0).dropped()).isEmpty();
    }

    @Test
    void nobodyJoinsWhereNoPrefixIsAllowed() {
        Session closed = Sessions.session(Format.UDP, 1);
        Wire other = new Wire(closed, 0).in(2, "tamanoir-join " + ZEROS).run(0);
        assertThat(other.sent).isEmpty();
        assertThat(balanced(closed).refused()).isEqualTo(Map.of("NOT_ALLOWED", 1L));
    }

    /** The kernel joins datagrams of one sender of which the last is shorter. */
    @Test
    void aWishBehindOtherDatagramsIsSeen() {
        join(1, 0);
        join(2, 0);
        String again = "tamanoir-join " + ZEROS;
        wire.in(1, new byte[200], new byte[200], Wire.ascii(again)).run(0);
        assertThat(wire.take(2)).hasSize(2);
        assertThat(wire.take(1)).hasSize(1);
        balanced(session);
    }
}
