package org.tamanoir.node.admin;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.rtp.RtpCompanion;
import org.tamanoir.rtp.RtpReport;
import org.tamanoir.rtp.RtpSnapshot;
import org.tamanoir.rtp.RtpStatus;

/** What the API shows of RTP, as openapi.yaml describes it. Any thread may call. */
final class RtpViews {
    private RtpViews() {}

    /** All sources. */
    record Rtp(List<Source> sources, long crowded, Companions companions) {
        static Rtp of(RtpSnapshot known) {
            return new Rtp(
                    known.status().stream().map(Source::of).toList(),
                    known.crowded(),
                    new Companions(
                            of(known, RtpCompanion.STUN),
                            of(known, RtpCompanion.ZRTP),
                            of(known, RtpCompanion.DTLS),
                            of(known, RtpCompanion.TURN)));
        }

        private static long of(RtpSnapshot known, RtpCompanion companion) {
            return known.companions().getOrDefault(companion, 0L);
        }
    }

    /** Datagrams of other protocols. */
    record Companions(long stun, long zrtp, long dtls, long turn) {}

    /** One source. */
    record Source(
            String ssrc,
            String sender,
            String receiver,
            int payloadType,
            long received,
            long lost,
            long misordered,
            double jitterMs,
            boolean ended,
            @Nullable Report report) {
        static Source of(RtpStatus status) {
            RtpReport report = status.report();
            return new Source(
                    String.format(Locale.ROOT, "%08x", status.ssrc()),
                    Endpoint.toString(status.sender()),
                    Endpoint.toString(status.receiver()),
                    status.payloadType(),
                    status.received(),
                    status.lost(),
                    status.misordered(),
                    Math.round(status.jitterMs() * 1000) / 1000.0,
                    status.hasEnded(),
                    report == null
                            ? null
                            : new Report(
                                    Math.round(report.fractionLost() * 1000 / 256.0) / 1000.0,
                                    report.lost(),
                                    report.highest(),
                                    report.jitter()));
        }
    }

    /** What a receiver said last. */
    record Report(double fractionLost, int lost, long highest, long jitter) {}
}
