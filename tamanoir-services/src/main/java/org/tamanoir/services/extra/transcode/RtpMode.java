package org.tamanoir.services.extra.transcode;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.rtp.RtpCompanion;
import org.tamanoir.rtp.RtpPacket;
import org.tamanoir.service.Counter;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;

/**
 * Sound in RTP: payloads are RTP packets of one channel, PCMU, PCMA or L16 (RFC 3551), which leave as others of
 * these. One leaves for each that comes, with its sequence number, SSRC, marker, CSRCs and extension; padding is left
 * out. RTCP passes as it came, and so do other payload types where the rate stays.
 *
 * <p>Where the rate changes from f to t, a packet with the timestamp s leaves with ⌈s · t/f⌉, s being counted on beyond
 * 32 bits for each source (the SSRC in a flow), and the filter's outputs lie at whole numbers of that clock: so
 * timestamps and samples agree whatever is lost, comes twice or out of order.
 *
 * <p>Thread contract: the service's thread.
 */
final class RtpMode implements Mode {
    private static final int MIN_DYNAMIC_TYPE = 96;
    private static final int MAX_DYNAMIC_TYPE = 127;
    private static final int TIMESTAMP_AT = 4;
    private static final int PADDING_BIT = 0x20;
    private static final int MARKER_BIT = 0x80;

    private final Exit exit;
    private final NextService next;
    private final Failure failure;
    private final SampleConverter converter;
    private final FlowTable<Source> sources;
    private final RtpPacket rtp = new RtpPacket();
    private final int fromType;
    private final int toType;
    private final int maxPacketBytes;
    private final Counter controlPackets;
    private final Counter otherProtocols;
    private final Counter otherTypes;
    private final Counter unfit;

    RtpMode(ServiceConfig config, NextService next, Exit exit, Failure failure) {
        this.exit = exit;
        this.next = next;
        this.failure = failure;
        converter = new SampleConverter(config, exit);
        fromType = type(config, "from", converter.from, converter.fromRate);
        toType = type(config, "to", converter.to, converter.toRate);
        sources = new FlowTable<>((int) config.number("flows", 1024, 1, 65_536), this::begin, ended -> {});
        maxPacketBytes = exit.maxPacketBytes();
        controlPackets = exit.count("rtcp-packets");
        otherProtocols = exit.count("other-protocols");
        otherTypes = exit.count("other-types");
        unfit = exit.count("unfit-packets");
    }

    private static int type(ServiceConfig config, String end, Coding coding, int rate) {
        String setting = end + "-type";
        if (coding.rtpType == Coding.DYNAMIC) {
            return (int) config.number(setting, MIN_DYNAMIC_TYPE, MIN_DYNAMIC_TYPE, MAX_DYNAMIC_TYPE);
        }
        if (config.asMap().containsKey(setting)) {
            throw new IllegalArgumentException(setting + ": " + config.text(setting, "") + " must be left out: with "
                    + end + ": " + config.text(end, "ulaw") + " it is " + coding.rtpType);
        }
        if (rate != SampleConverter.RATE_UNIT) {
            throw new IllegalArgumentException(end + "-rate: " + rate + " must be " + SampleConverter.RATE_UNIT
                    + ": that is the clock of payload type " + coding.rtpType + "; pcm may have others");
        }
        return coding.rtpType;
    }

    private Source begin(Header header) {
        return new Source(header, converter.resampler());
    }

    @Override
    public Verdict process(Packet packet) {
        if (packet.payloadLength() > 0 && RtpCompanion.of(packet.payloadOctet(0)) != null) {
            otherProtocols.add(1);
            return forward(packet);
        }
        if (rtp.read(packet) != null) {
            return fail(packet, "not RTP");
        }
        if (rtp.isControl()) {
            controlPackets.add(1);
            return forward(packet);
        }
        if (rtp.payloadType() != fromType) {
            otherTypes.add(1);
            return converter.filter == null ? forward(packet) : fail(packet, "payload type of another clock");
        }
        if (rtp.paddingOctets() < 0) {
            return fail(packet, "not RTP");
        }
        int samples = rtp.mediaOctets() / converter.from.bytes;
        if (samples * converter.from.bytes != rtp.mediaOctets()) {
            return fail(packet, SampleConverter.HALF_A_SAMPLE);
        }
        int room = maxPacketBytes - packet.headerLength() - next.extraBytes(packet) - rtp.headerOctets();
        if (samples > Math.max(0, converter.fitting(room))) {
            return fail(packet, "becomes too long for a packet");
        }
        convert(packet, samples);
        return forward(packet);
    }

    private void convert(Packet packet, int samples) {
        int timestamp = rtp.timestamp();
        Resampler resampler = null;
        Resampler.Filter filter = converter.filter;
        if (filter != null) {
            Source source = sources.of(packet, rtp.ssrc());
            timestamp = source.align(timestamp, filter);
            resampler = source.resampler;
        }
        ByteBuffer payload = packet.payload();
        int start = payload.position();
        int headerBytes = rtp.headerOctets();
        int bytes = converter.convert(resampler, payload.position(start + headerBytes), samples);
        ByteBuffer room = packet.newPayload(headerBytes + bytes);
        int at = room.position();
        room.put(at, payload, start, headerBytes);
        room.put(at, (byte) (room.get(at) & ~PADDING_BIT));
        room.put(at + 1, (byte) (room.get(at + 1) & MARKER_BIT | toType));
        room.putInt(at + TIMESTAMP_AT, timestamp);
        converter.write(room.position(at + headerBytes), bytes);
        packet.commitPayload(headerBytes + bytes);
    }

    private Verdict fail(Packet packet, String reason) {
        unfit.add(1);
        return failure == Failure.DROP ? exit.end(reason) : forward(packet);
    }

    private Verdict forward(Packet packet) {
        next.name(packet);
        return Verdict.FORWARD;
    }

    /** Keeps the clock and the filter of one SSRC in a flow. */
    private static final class Source implements FlowTable.Flow {
        private static final long NONE = Long.MIN_VALUE;

        private final Header header;
        private final @Nullable Resampler resampler;
        /** The last timestamp that came, counted on beyond 32 bits, also below 0. */
        private long timestamp = NONE;

        Source(Header header, @Nullable Resampler resampler) {
            this.header = header;
            this.resampler = resampler;
        }

        @Override
        public Header header() {
            return header;
        }

        /** Has the filter's next output lie at a whole number of the new clock. Returns that number. */
        int align(int came, Resampler.Filter filter) {
            timestamp = timestamp == NONE ? Integer.toUnsignedLong(came) : timestamp + (came - (int) timestamp);
            long leaves = -Math.floorDiv(-timestamp * filter.up(), filter.down());
            if (resampler != null) {
                resampler.align((int) (leaves * filter.down() - timestamp * filter.up()));
            }
            return (int) leaves;
        }
    }
}
