package org.tamanoir.services.extra.transcode;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Counter;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.MadePacket;

/**
 * Sound: payloads are samples of one channel, in one coding and rate, and leave in another. The filter goes on from
 * packet to packet of a flow, lost ones left out. What becomes too long for a packet leaves in several with the same
 * header. Thread contract: the service's thread.
 */
final class SoundMode implements Mode {
    private static final int RATE_UNIT = 8000;

    /** What is kept for a flow. @param resampler null where the rate stays */
    private record Sound(Header header, @Nullable Resampler resampler) implements FlowTable.Flow {}

    private final Exit exit;
    private final NextService next;
    private final Coding from;
    private final Coding to;
    private final Resampler.@Nullable Filter filter;
    private final FlowTable<Sound> flows;
    private final MadePacket made = new MadePacket();
    private final int maxPacketBytes;
    private final Counter samplesIn;
    private final Counter samplesOut;
    private final Counter extraPackets;
    private int[] in = new int[0];
    private int[] out = new int[0];

    SoundMode(ServiceConfig config, NextService next, Exit exit) {
        this.exit = exit;
        this.next = next;
        from = config.choice("from", Coding.ULAW);
        to = config.choice("to", Coding.PCM);
        int fromRate = rate(config, "from-rate", RATE_UNIT);
        int toRate = rate(config, "to-rate", fromRate);
        filter = fromRate == toRate ? null : Resampler.Filter.of(fromRate, toRate);
        flows = new FlowTable<>((int) config.number("flows", 1024, 1, 65_536), this::begin, ended -> {});
        maxPacketBytes = exit.maxPacketBytes();
        samplesIn = exit.count("samples-in");
        samplesOut = exit.count("samples-out");
        extraPackets = exit.count("extra-packets");
    }

    private static int rate(ServiceConfig config, String setting, int defaultRate) {
        int rate = (int) config.number(setting, defaultRate, RATE_UNIT, 6 * RATE_UNIT);
        if (rate % RATE_UNIT != 0) {
            throw new IllegalArgumentException(
                    setting + ": " + rate + " must be a multiple of " + RATE_UNIT + ": 8000, 16000, 48000, …");
        }
        return rate;
    }

    private Sound begin(Header header) {
        return new Sound(header, filter == null ? null : new Resampler(filter));
    }

    @Override
    public Verdict process(Packet packet) {
        int samples = packet.payloadLength() / from.bytes;
        if (samples * from.bytes != packet.payloadLength()) {
            return exit.end("half a sample");
        }
        int most = (maxPacketBytes - packet.headerLength() - next.extraBytes(packet)) / to.bytes;
        int part = filter == null ? most : (int) ((long) (most - 1) * filter.down() / filter.up());
        if (part <= 0) {
            return exit.end("header leaves no room for samples");
        }
        Sound sound = flows.of(packet);
        ByteBuffer payload = packet.payload();
        samplesIn.add(samples);
        while (samples > part) {
            int bytes = convert(sound, payload, part) * to.bytes;
            write(made.room(flows.header(), bytes), bytes);
            Packet extra = made.finish(
                    flows.header(), flows.header().sequence(), flows.header().originNs(), bytes);
            next.name(extra);
            exit.send(extra);
            extraPackets.add(1);
            samples -= part;
        }
        int bytes = convert(sound, payload, samples) * to.bytes;
        write(packet.newPayload(bytes), bytes);
        packet.commitPayload(bytes);
        next.name(packet);
        return Verdict.FORWARD;
    }

    /** Reads so many samples, and has the new ones in {@link #out}. Returns how many. */
    private int convert(Sound sound, ByteBuffer payload, int samples) {
        if (in.length < samples) {
            in = new int[samples];
        }
        read(payload, samples);
        Resampler resampler = sound.resampler();
        int count = samples;
        if (resampler == null || filter == null) {
            out = in;
        } else {
            if (out.length < filter.most(samples)) {
                out = new int[filter.most(samples)];
            }
            count = resampler.resample(in, samples, out);
        }
        samplesOut.add(count);
        return count;
    }

    private void read(ByteBuffer payload, int samples) {
        int at = payload.position();
        switch (from) {
            case ULAW -> {
                for (int i = 0; i < samples; i++) {
                    in[i] = G711.fromUlaw(payload.get(at + i) & 0xFF);
                }
            }
            case ALAW -> {
                for (int i = 0; i < samples; i++) {
                    in[i] = G711.fromAlaw(payload.get(at + i) & 0xFF);
                }
            }
            case PCM -> {
                for (int i = 0; i < samples; i++) {
                    in[i] = payload.getShort(at + 2 * i);
                }
            }
        }
        payload.position(at + samples * from.bytes);
    }

    private void write(ByteBuffer room, int bytes) {
        int at = room.position();
        int samples = bytes / to.bytes;
        switch (to) {
            case ULAW -> {
                for (int i = 0; i < samples; i++) {
                    room.put(at + i, G711.toUlaw(out[i]));
                }
            }
            case ALAW -> {
                for (int i = 0; i < samples; i++) {
                    room.put(at + i, G711.toAlaw(out[i]));
                }
            }
            case PCM -> {
                for (int i = 0; i < samples; i++) {
                    room.putShort(at + 2 * i, (short) out[i]);
                }
            }
        }
    }
}
