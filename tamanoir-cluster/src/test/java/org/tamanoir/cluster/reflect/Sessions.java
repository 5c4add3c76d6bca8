package org.tamanoir.cluster.reflect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.tamanoir.routing.Prefix;

/** Sessions of tests: members are ports of 127.0.0.1. */
final class Sessions {
    static final int INPUT = 5000;
    static final long SECOND = 1_000_000_000L;

    private Sessions() {}

    static MemberConfig member(int port, Direction direction, long rate, int quality) {
        return new MemberConfig(Wire.at(port), new Terms(direction, rate, quality));
    }

    static List<MemberConfig> members(int... ports) {
        return IntStream.of(ports)
                .mapToObj(port -> new MemberConfig(Wire.at(port), Terms.OPEN))
                .toList();
    }

    static SessionConfig config(Format format, MemberConfig... members) {
        return SessionConfig.of("test", Wire.at(INPUT), format, Arrays.asList(members));
    }

    static SessionConfig open(Format format, int maxMembers) {
        return new SessionConfig(
                "open",
                Wire.at(INPUT),
                null,
                format,
                List.of(),
                List.of(Prefix.parse("127.0.0.0/8")),
                List.of(),
                Terms.OPEN,
                Duration.ofSeconds(10),
                maxMembers,
                8,
                90_000);
    }

    /** A session that receives a group at all addresses. */
    static SessionConfig received(String group, MemberConfig... members) throws UnknownHostException {
        return new SessionConfig(
                "group",
                new InetSocketAddress("0.0.0.0", INPUT),
                InetAddress.getByName(group),
                Format.UDP,
                Arrays.asList(members),
                List.of(),
                List.of(),
                Terms.OPEN,
                Duration.ofSeconds(10),
                10,
                8,
                90_000);
    }

    static Session session(SessionConfig config) {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) 7);
        return new Session(config, key, 0);
    }

    static Session session(Format format, int... ports) {
        return session(config(format, members(ports).toArray(MemberConfig[]::new)));
    }

    /** Checks that everything that came in, and every copy, is accounted for. */
    static SessionStatus balanced(Session session) {
        SessionStatus status = SessionStatus.of(session, "", 10, 0);
        assertThat(status.reflected() + status.control() + sum(status.refused()))
                .as("%s", status)
                .isEqualTo(status.datagramsIn());
        assertThat(status.sent() + sum(status.dropped())).as("%s", status).isEqualTo(status.asked());
        assertThat(session.answers.sent() + sum(status.answersDropped())).isEqualTo(status.answers());
        return status;
    }

    private static long sum(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    static byte[] rtp(int ssrc, int sequence, int timestamp, String payload) {
        byte[] content = Wire.ascii(payload);
        return ByteBuffer.allocate(12 + content.length)
                .put((byte) 0x80)
                .put((byte) 96)
                .putShort((short) sequence)
                .putInt(timestamp)
                .putInt(ssrc)
                .put(content)
                .array();
    }

    /** A receiver report with one block. */
    static byte[] receiverReport(int ssrc, int about, int fraction, int lost, int jitter) {
        return ByteBuffer.allocate(32)
                .put((byte) 0x81)
                .put((byte) 201)
                .putShort((short) 7)
                .putInt(ssrc)
                .putInt(about)
                .putInt(fraction << 24 | lost & 0xFFFFFF)
                .putInt(0)
                .putInt(jitter)
                .putLong(0)
                .array();
    }
}
