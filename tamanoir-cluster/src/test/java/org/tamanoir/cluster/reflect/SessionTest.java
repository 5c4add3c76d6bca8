package org.tamanoir.cluster.reflect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.reflect.Sessions.SECOND;
import static org.tamanoir.cluster.reflect.Sessions.balanced;
import static org.tamanoir.cluster.reflect.Sessions.config;
import static org.tamanoir.cluster.reflect.Sessions.member;
import static org.tamanoir.cluster.reflect.Sessions.rtp;
import static org.tamanoir.cluster.reflect.Sessions.session;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.cluster.reflect.SessionStatus.MemberStatus;
import org.tamanoir.support.Seeds;

class SessionTest {
    private static Wire wire(Session session) {
        return new Wire(session, 0);
    }

    private static byte[] anep(int hops, int precedence) {
        return anep(7, hops, precedence);
    }

    static byte[] anep(int stream, int hops, int precedence) {
        Packet packet = new PacketBuilder()
                .classOfService(1, precedence).stream(stream)
                        .hopBudget(hops)
                        .checksum()
                        .build(ByteBuffer.wrap(Wire.ascii("payload " + precedence)));
        byte[] bytes = new byte[packet.length()];
        packet.copyTo(ByteBuffer.wrap(bytes), 0);
        return bytes;
    }

    @Test
    void everyMemberButItsSenderGetsADatagram() {
        Session session = session(Format.UDP, 1, 2, 3);
        Wire wire = wire(session).in(1, "from one").in(2, "from two").run(0);
        assertThat(wire.take(1)).containsExactly("from two");
        assertThat(wire.take(2)).containsExactly("from one");
        assertThat(wire.take(3)).containsExactly("from one", "from two");
        assertThat(wire.sent).isEmpty();
        assertThat(balanced(session).asked()).isEqualTo(4);
    }

    @Test
    void datagramsThatTheKernelJoinedLeaveAsTheyCame() {
        Session session = session(Format.UDP, 1, 2);
        Wire wire = wire(session)
                .in(1, Wire.ascii("aaaa"), Wire.ascii("bbbb"), Wire.ascii("c"))
                .in(1, "dddd")
                .run(0);
        assertThat(wire.take(2)).containsExactly("aaaa", "bbbb", "c", "dddd");
        assertThat(balanced(session).datagramsIn()).isEqualTo(4);
    }

    @Test
    void whoMayNotSendIsRefusedAndWhoMayNotReceiveGetsNothing() {
        Session session =
                session(config(Format.UDP, member(1, Direction.SEND, 0, 255), member(2, Direction.RECEIVE, 0, 255)));
        Wire wire = wire(session).in(1, "one").in(2, "two").in(9, "stranger").run(0);
        assertThat(wire.take(2)).containsExactly("one");
        assertThat(wire.sent).isEmpty();
        assertThat(balanced(session).refused()).isEqualTo(Map.of("NOT_ALLOWED", 2L));
    }

    @Test
    void whatStandsBehindAPacketsEndGoesToNobody() {
        byte[] packet = anep(4, 0);
        byte[] longer = Arrays.copyOf(packet, packet.length + 13);
        Session session = session(Format.ANEP, 1, 2);
        Wire wire = wire(session).in(1, longer).run(0);
        assertThat(wire.take(2)).singleElement().extracting(String::length).isEqualTo(packet.length);
        assertThat(balanced(session).trailers()).isEqualTo(1);
    }

    @Test
    void aRateBoundsItsMemberAndNoOther() {
        // A bucket of the smallest size, 64 KiB, holds 65 datagrams of 1,000 bytes.
        Session session = session(config(
                Format.UDP,
                member(1, Direction.SEND, 0, 255),
                member(2, Direction.RECEIVE, 10_000, 255),
                member(3, Direction.RECEIVE, 0, 255)));
        Wire wire = wire(session);
        for (int i = 0; i < 100; i++) {
            wire.in(1, new byte[1000]);
        }
        wire.run(0);
        assertThat(wire.take(2)).hasSize(65);
        assertThat(wire.take(3)).hasSize(100);
        assertThat(balanced(session).dropped()).isEqualTo(Map.of("RATE_EXCEEDED", 35L));
        wire.in(1, new byte[1000], new byte[1000]).run(SECOND / 10);
        assertThat(wire.take(2)).as("after 0.1 s at 10,000 bytes a second").hasSize(1);
    }

    @Test
    void copiesThatDidNotLeaveCountForTheirMember() {
        Session session = session(Format.UDP, 1, 2, 3, 4);
        Wire wire = wire(session);
        wire.refusedPorts.add(2);
        wire.fullPorts.add(3);
        wire.in(1, "x").in(1, "y").run(0);
        assertThat(wire.take(4)).containsExactly("x", "y");
        List<MemberStatus> members = balanced(session).members();
        assertThat(members.get(1).dropped()).isEqualTo(Map.of("SEND_ERROR", 2L));
        assertThat(members.get(1).bytesSent()).isZero();
        assertThat(members.get(2).dropped()).isEqualTo(Map.of("QUEUE_FULL", 2L));
        assertThat(members.get(3).sent()).isEqualTo(2);
    }

    @Test
    void aMemberOfALowerClassGetsLowPrecedencesAlone() {
        Session session = session(config(
                Format.ANEP,
                member(1, Direction.SEND, 0, 255),
                member(2, Direction.RECEIVE, 0, 1),
                member(3, Direction.RECEIVE, 0, 255)));
        Wire wire = wire(session)
                .in(1, anep(0, 0))
                .in(1, anep(0, 1))
                .in(1, anep(0, 2))
                .run(0);
        assertThat(wire.take(2)).hasSize(2).noneMatch(bytes -> bytes.endsWith("payload 2"));
        assertThat(wire.take(3)).hasSize(3);
        assertThat(balanced(session).dropped()).isEqualTo(Map.of("QUALITY", 1L));
    }

    @Test
    void aHopIsSpentAndTheLastOneEndsThePacket() {
        Session session = session(Format.ANEP, 1, 2);
        Wire wire = wire(session)
                .in(1, anep(1, 3, 0))
                .in(1, anep(2, 0, 0))
                .in(1, anep(3, 60_000, 0))
                .in(1, anep(4, 1, 0))
                .run(0);
        List<Integer> hops = new ArrayList<>();
        for (String bytes : wire.take(2)) {
            Packet packet = new Packet();
            ByteBuffer buffer = ByteBuffer.wrap(Wire.ascii(bytes));
            assertThat(packet.parse(buffer, 0, buffer.capacity()))
                    .as("good, and its checksum too")
                    .isNull();
            hops.add(packet.hopBudget());
        }
        assertThat(hops).containsExactly(2, 16, 15);
        assertThat(balanced(session).refused()).isEqualTo(Map.of("HOP_BUDGET", 1L));
    }

    /** A budget alone would let a packet go round as often as its sender likes. */
    @Test
    void anAnepPacketThatComesAgainIsALoopWhateverItsBudget() {
        Session session = session(Format.ANEP, 1, 2, 3);
        Wire wire = wire(session).in(1, anep(9, 0)).in(2, anep(8, 0)).run(0);
        assertThat(wire.take(3)).hasSize(1);
        assertThat(balanced(session).refused()).isEqualTo(Map.of("LOOP", 1L));
    }

    @Test
    void nobodySilencesAnotherByWhatItWillSayInItsHeader() {
        Session media = session(Format.RTP, 1, 2, 3);
        Wire wire = wire(media)
                .in(2, rtp(77, 1, 1000, "noise"))
                .in(1, rtp(77, 1, 1000, "voice"))
                .run(0);
        assertThat(wire.take(3)).hasSize(2);
        Session packets = session(Format.ANEP, 1, 2, 3);
        wire = wire(packets).in(2, anep(9, 1)).in(1, anep(9, 0)).run(0);
        assertThat(wire.take(3)).hasSize(2);
    }

    /** A request for a key frame is the same bytes each time. */
    @Test
    void rtcpMayRepeatItselfAfterAFifthOfASecond() {
        Session session = session(Format.RTP, 10, 20);
        Wire control = new Wire(session, 1);
        byte[] report = Sessions.receiverReport(5, 77, 64, 12, 300);
        control.in(21, report).run(0);
        control.in(21, report).run(SECOND / 5 - 1);
        control.in(21, report).run(SECOND / 5);
        assertThat(control.take(11)).hasSize(2);
        assertThat(balanced(session).refused()).isEqualTo(Map.of("LOOP", 1L));
    }

    @Test
    void whatAMemberSentOnceIsItsOwnSourceForTwoSeconds() {
        Session session = session(Format.RTP, 1, 2);
        Wire wire = wire(session).in(1, rtp(77, 1, 1, "a")).run(0);
        wire.in(2, rtp(77, 2, 2, "b")).run(2 * SECOND - 1);
        assertThat(wire.take(1)).isEmpty();
        wire.in(2, rtp(77, 3, 3, "c")).run(2 * SECOND);
        assertThat(wire.take(1)).hasSize(1);
    }

    /** Else whoever reports much has every member drowned in reports. */
    @Test
    void rtcpTowardsAMemberIsBounded() {
        Session session = session(Format.RTP, 10, 20);
        Wire control = new Wire(session, 1);
        for (int i = 0; i < 10_000; i++) {
            control.in(21, Sessions.receiverReport(i, 77, 64, 12, 300));
            if (i % 100 == 99) {
                control.run(0);
            }
        }
        assertThat(control.take(11)).hasSize(65_536 / 32);
        assertThat(balanced(session).dropped()).isEqualTo(Map.of("RATE_EXCEEDED", 10_000L - 2_048));
    }

    @Test
    void aSessionThatIsItsOwnMemberIsRefused() {
        for (String own : List.of("0.0.0.0", "127.0.0.2", "239.1.2.3")) {
            MemberConfig member = new MemberConfig(
                    new InetSocketAddress(own, Sessions.INPUT), new Terms(Direction.RECEIVE, 0, Terms.ALL));
            assertThatThrownBy(() -> Sessions.received("239.1.2.3", member))
                    .as(own)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("own")
                    .hasMessageNotContaining("\n");
        }
    }

    @Test
    void whoJoinsGetsAClassOfAnepPacketsAlone() {
        SessionConfig open = Sessions.open(Format.UDP, 3);
        assertThatThrownBy(() -> new SessionConfig(
                        open.name(),
                        open.input(),
                        null,
                        Format.UDP,
                        List.of(),
                        open.joinFrom(),
                        List.of(),
                        new Terms(Direction.RECEIVE, 0, 1),
                        open.joinTimeout(),
                        3,
                        8,
                        90_000))
                .hasMessage("session open: who joins gets a class: only ANEP packets have one");
    }

    @Test
    void totalsAreThereWithoutMembers() {
        Session session = session(Format.UDP, 1, 2, 3);
        wire(session).in(1, "x").run(0);
        SessionStatus status = SessionStatus.of(session, "", 0, 0);
        assertThat(status.members()).isEmpty();
        assertThat(status.memberCount()).isEqualTo(3);
        assertThat(status.sent()).isEqualTo(2);
    }

    /** By a group that another program joined, say. */
    @Test
    void whatComesFromThisHostAtTheSessionsOwnPortIsALoop() {
        Session session = session(Format.UDP, 1, 2);
        Wire wire = wire(session).in(Sessions.INPUT, "again").in(1, "x").run(0);
        assertThat(wire.take(2)).containsExactly("x");
        assertThat(balanced(session).refused()).isEqualTo(Map.of("LOOP", 1L));
    }

    /** Its bytes are another batch's by then. */
    @Test
    void whatABatchThatFailedLeftBehindDoesNotGoOut() {
        Session session = session(Format.UDP, 1, 2);
        Wire wire = wire(session);
        wire.in(1, "old");
        wire.failsAtFlush = true;
        assertThatThrownBy(() -> wire.run(0)).hasMessage("flush");
        wire.failsAtFlush = false;
        wire.forget();
        wire.in(1, "new").run(0);
        assertThat(wire.take(2)).containsExactly("new");
    }

    @Test
    void anRtpPacketThatComesAgainIsALoopForTwoSeconds() {
        Session session = session(Format.RTP, 1, 2, 3);
        byte[] packet = rtp(77, 1, 1000, "voice");
        Wire wire = wire(session).in(1, packet).in(2, packet).run(0);
        assertThat(wire.take(3)).hasSize(1);
        assertThat(wire.take(1)).isEmpty();
        assertThat(balanced(session).refused()).isEqualTo(Map.of("LOOP", 1L));
        wire.in(1, rtp(77, 1, 1001, "the number comes back, at another time")).run(SECOND);
        wire.in(1, packet).run(2 * SECOND);
        assertThat(wire.take(3)).hasSize(2);
    }

    @Test
    void aMemberIsNotSentItsOwnSourceByAnother() {
        Session session = session(Format.RTP, 1, 2, 3);
        Wire wire = wire(session).in(1, rtp(77, 1, 1, "a")).run(0);
        wire.sent.clear();
        wire.in(2, rtp(77, 2, 2, "b")).run(0);
        assertThat(wire.take(1)).isEmpty();
        assertThat(wire.take(3)).hasSize(1);
        assertThat(balanced(session).dropped()).isEqualTo(Map.of("LOOP", 1L));
    }

    @Test
    void rtcpGoesToThePortBehindAndTellsOfLoss() {
        Session session = session(Format.RTP, 10, 20, 30);
        Wire media = wire(session).in(10, rtp(77, 1, 1, "a")).run(0);
        assertThat(media.take(20)).hasSize(1);
        Wire control = new Wire(session, 1);
        byte[] report = Sessions.receiverReport(5, 77, 64, 12, 300);
        byte[] lying = report.clone();
        lying[0] = (byte) 0x82;
        control.in(21, report)
                .in(21, report)
                .in(99, report)
                .in(21, "no rtcp")
                .in(21, lying)
                .run(0);
        assertThat(control.take(11)).containsExactly(Wire.text(report));
        assertThat(control.take(31)).hasSize(1);
        assertThat(control.sent).isEmpty();
        SessionStatus status = balanced(session);
        assertThat(status.refused()).isEqualTo(Map.of("LOOP", 1L, "MALFORMED", 2L, "NOT_ALLOWED", 1L));
        assertThat(status.members().get(1).report()).isEqualTo(new SessionStatus.ReceiverReport(25, 12, 300));
    }

    @Test
    void reportsOfSourcesThatNobodyHasAreNotShown() {
        Session session = session(Format.RTP, 10, 20);
        Wire control = new Wire(session, 1);
        byte[] report = Sessions.receiverReport(5, 77, 64, 12, 300);
        control.in(21, report).run(0);
        assertThat(control.take(11)).containsExactly(Wire.text(report));
        assertThat(balanced(session).members().get(1).report()).isNull();
    }

    /** Of SRTP (RFC 3711) padding is encrypted, and the header is not. */
    @Test
    void whatLiesAboutItsHeaderIsMalformedAndPaddingMaySayAnything() {
        Session session = session(Format.RTP, 1, 2);
        byte[] padded = rtp(77, 1, 1, "any");
        padded[0] = (byte) 0xA0;
        byte[] lying = rtp(77, 2, 2, "no room for CSRCs");
        lying[0] = (byte) 0x8F;
        Wire media = wire(session).in(1, padded).in(1, lying).run(0);
        assertThat(media.take(2)).containsExactly(Wire.text(padded));
        assertThat(balanced(session).refused()).isEqualTo(Map.of("MALFORMED", 1L));
    }

    @Test
    void whoOnlyReceivesMaySendReceiverReportsAndNoStream() {
        Session session =
                session(config(Format.RTP, member(10, Direction.BOTH, 0, 255), member(20, Direction.RECEIVE, 0, 255)));
        Wire media = wire(session);
        Wire control = new Wire(session, 1);
        byte[] report = Sessions.receiverReport(5, 77, 64, 12, 300);
        control.in(21, report).run(0);
        media.in(20, Sessions.receiverReport(6, 77, 1, 1, 1))
                .in(20, rtp(6, 1, 1, ""))
                .run(0);
        assertThat(control.take(11)).containsExactly(Wire.text(report));
        assertThat(media.take(10)).as("on the same port").hasSize(1);
        assertThat(balanced(session).refused()).isEqualTo(Map.of("NOT_ALLOWED", 1L));
    }

    @Test
    void whatAnOperatorAddsAndRemovesIsThereAndGone() {
        Session session = session(Format.UDP, 1);
        session.join(member(2, Direction.RECEIVE, 0, 255), 0);
        assertThatThrownBy(() -> session.join(member(2, Direction.BOTH, 0, 255), 0))
                .hasMessage("member 127.0.0.1:2 is there already: remove it to give it other terms");
        Wire wire = wire(session).in(1, "x").run(0);
        assertThat(wire.take(2)).containsExactly("x");
        assertThat(session.leave(Wire.at(2))).isTrue();
        assertThat(session.leave(Wire.at(2))).isFalse();
        wire.in(1, "y").run(0);
        assertThat(wire.sent).isEmpty();
        assertThat(balanced(session).sent())
                .as("counts of a member that has gone stay")
                .isEqualTo(1);
    }

    /** Against a model that is a map, over members that come and go; some are refused. */
    @Test
    void aRandomSessionDoesWhatTheModelDoes() {
        Random random = new Random(Seeds.ofCommit(SessionTest.class));
        Session session = session(Format.UDP);
        Wire wire = wire(session);
        TreeSet<Integer> members = new TreeSet<>();
        long asked = 0;
        long refused = 0;
        for (int round = 0; round < 2_000; round++) {
            int port = 1 + random.nextInt(60);
            if (random.nextInt(3) == 0) {
                if (members.remove(port)) {
                    assertThat(session.leave(Wire.at(port))).isTrue();
                } else {
                    members.add(port);
                    session.join(member(port, Direction.BOTH, 0, 255), 0);
                }
                continue;
            }
            wire.refusedPorts.clear();
            wire.refusedPorts.add(1 + random.nextInt(60));
            Map<Integer, List<String>> expected = new HashMap<>();
            for (int m = 1 + random.nextInt(5); m > 0; m--) {
                int from = 1 + random.nextInt(60);
                String[] texts = {"a" + random.nextInt(), "b" + random.nextInt()};
                wire.in(from, texts[0]).in(from, texts[1]);
                for (int to : members.contains(from) ? members : new TreeSet<Integer>()) {
                    if (to != from) {
                        asked += 2;
                        if (wire.refusedPorts.contains(to)) {
                            refused += 2;
                        } else {
                            expected.computeIfAbsent(to, any -> new ArrayList<>())
                                    .addAll(List.of(texts));
                        }
                    }
                }
            }
            wire.run(round);
            for (int to : members) {
                assertThat(wire.take(to)).isEqualTo(expected.getOrDefault(to, List.of()));
            }
            assertThat(wire.sent).isEmpty();
        }
        SessionStatus status = balanced(session);
        assertThat(status.asked()).isEqualTo(asked);
        assertThat(status.sent()).isEqualTo(asked - refused);
    }

    @ParameterizedTest
    @EnumSource(Format.class)
    void randomBytesAreCountedAndBreakNothing(Format format) {
        Random random = new Random(format.ordinal());
        Session session = session(format, 1, 2, 3);
        Wire media = wire(session);
        Wire control = new Wire(session, 1);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(80)];
            random.nextBytes(bytes);
            if (bytes.length > 8 && random.nextBoolean()) {
                bytes[0] = format == Format.ANEP ? 1 : (byte) (0x80 | bytes[0] & 31);
                bytes[1] = random.nextBoolean() ? bytes[1] : (byte) (200 + random.nextInt(2));
            }
            Wire wire = format == Format.RTP && random.nextBoolean() ? control : media;
            wire.in(random.nextInt(5), bytes).run(round * SECOND / 1000);
        }
        SessionStatus status = balanced(session);
        assertThat(status.datagramsIn()).isEqualTo(20_000);
        assertThat(status.sent()).isEqualTo(media.sent.size() + control.sent.size());
    }
}
