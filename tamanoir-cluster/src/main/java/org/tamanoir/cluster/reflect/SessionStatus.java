package org.tamanoir.cluster.reflect;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.rtp.RtpReport;

/**
 * A session as it is: {@code datagramsIn = reflected + control + refused}, {@code asked = sent + dropped}.
 *
 * @param input where its datagrams come in
 * @param trailers of those reflected, ANEP packets that went on without what stood behind their end
 * @param control wishes to join, and what else was for the reflector itself
 * @param refused what came in and went no further, by {@link ReflectDrop}
 * @param asked copies for members, of those that have gone too
 * @param dropped copies that did not leave, by {@link ReflectDrop}
 * @param answers to wishes to join, which are no copies
 * @param answersDropped of those, that did not leave
 * @param members as many as were asked for
 */
public record SessionStatus(
        String name,
        String input,
        String format,
        long datagramsIn,
        long bytesIn,
        long reflected,
        long trailers,
        long control,
        Map<String, Long> refused,
        long asked,
        long sent,
        long bytesSent,
        Map<String, Long> dropped,
        long answers,
        Map<String, Long> answersDropped,
        int memberCount,
        List<MemberStatus> members,
        List<SourceStatus> sources) {

    /**
     * A member.
     *
     * @param silentMs since something came from it, or since it is there
     * @param report what its last RTCP receiver report said; null = it made none
     */
    public record MemberStatus(
            String address,
            String origin,
            String direction,
            int quality,
            long rateBytesPerSecond,
            long silentMs,
            long packetsIn,
            long bytesIn,
            long asked,
            long sent,
            long bytesSent,
            Map<String, Long> dropped,
            @Nullable ReceiverReport report) {}

    /**
     * What a member says to receive, of the source that it misses most of.
     *
     * @param lossPercent since its report before
     * @param lost packets in all
     * @param jitter in timestamp units
     */
    public record ReceiverReport(double lossPercent, int lost, long jitter) {}

    /**
     * A source of RTP.
     *
     * @param ssrc in hexadecimal
     * @param from where it came from last
     * @param late that came twice or behind a later one
     * @param jitter by RFC 3550, in timestamp units
     */
    public record SourceStatus(
            String ssrc,
            String from,
            long packets,
            long expected,
            long lost,
            long late,
            double jitter,
            double jitterMs) {}

    /** Looks at a session, and at so many of its members; its thread. */
    static SessionStatus of(Session session, String input, int limit, long nowNs) {
        Counts all = new Counts();
        all.add(session.departed);
        List<MemberStatus> members = new ArrayList<>();
        for (int i = 0; i < session.members.count(); i++) {
            Member member = session.members.at(i);
            all.add(member.copies);
            if (i < limit) {
                members.add(of(member, nowNs));
            }
        }
        return new SessionStatus(
                session.config.name(),
                input,
                session.config.format().name().toLowerCase(Locale.ROOT),
                session.datagramsIn,
                session.bytesIn,
                session.reflected,
                session.trailers,
                session.control,
                session.refused.dropped(),
                all.asked,
                all.sent(),
                all.sentBytes,
                all.dropped(),
                session.answers.asked,
                session.answers.dropped(),
                session.members.count(),
                members,
                session.sources.all().stream().map(SessionStatus::of).toList());
    }

    private static MemberStatus of(Member member, long nowNs) {
        Counts copies = member.copies;
        RtpReport report = member.report;
        return new MemberStatus(
                Addresses.text(member.config.address()),
                member.origin.name().toLowerCase(Locale.ROOT),
                member.config.terms().direction().name().toLowerCase(Locale.ROOT),
                member.quality,
                member.config.terms().rateBytesPerSecond(),
                TimeUnit.NANOSECONDS.toMillis(nowNs - member.seenNs),
                member.packetsIn,
                member.bytesIn,
                copies.asked,
                copies.sent(),
                copies.sentBytes,
                copies.dropped(),
                report == null
                        ? null
                        : new ReceiverReport(report.fractionLost() / 2.56, report.lost(), report.jitter()));
    }

    private static SourceStatus of(RtpSource source) {
        return new SourceStatus(
                String.format(Locale.ROOT, "%08x", source.ssrc),
                Addresses.text(new InetSocketAddress(Addresses.of(source.high, source.low), source.port)),
                source.packets(),
                source.expected(),
                source.lost(),
                source.late(),
                source.jitter(),
                source.jitter() * 1000 / source.clockRate);
    }
}
