package org.tamanoir.services.extra.transcode;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.Counter;
import org.tamanoir.service.ServiceConfig;

/**
 * Reads samples of one channel in one coding and rate, and writes them in another, as the settings {@code from}, {@code
 * to}, {@code from-rate} and {@code to-rate} say. Filters of flows are theirs. Thread contract: the service's thread.
 */
final class SampleConverter {
    static final int RATE_UNIT = 8000;
    static final String HALF_A_SAMPLE = "half a sample";

    final Coding from;
    final Coding to;
    final int fromRate;
    final int toRate;
    /** Null where the rate stays. */
    final Resampler.@Nullable Filter filter;

    private final Counter samplesIn;
    private final Counter samplesOut;
    private int[] in = new int[0];
    private int[] out = new int[0];

    SampleConverter(ServiceConfig config, Exit exit) {
        from = config.choice("from", Coding.ULAW);
        to = config.choice("to", Coding.PCM);
        fromRate = rate(config, "from-rate", RATE_UNIT);
        toRate = rate(config, "to-rate", fromRate);
        filter = fromRate == toRate ? null : Resampler.Filter.of(fromRate, toRate);
        samplesIn = exit.count("samples-in");
        samplesOut = exit.count("samples-out");
    }

    private static int rate(ServiceConfig config, String setting, int defaultRate) {
        int rate = (int) config.number(setting, defaultRate, RATE_UNIT, 6 * RATE_UNIT);
        if (rate % RATE_UNIT != 0) {
            throw new IllegalArgumentException(
                    setting + ": " + rate + " must be a multiple of " + RATE_UNIT + ": 8000, 16000, 48000, …");
        }
        return rate;
    }

    /** Returns a filter for a flow; null where the rate stays. */
    @Nullable
    Resampler resampler() {
        return filter == null ? null : new Resampler(filter);
    }

    /** Returns how many samples may come so that what they become fits so many bytes; 0 or less if none. */
    int fitting(int bytes) {
        int most = bytes / to.bytes;
        return filter == null ? most : (int) ((long) (most - 1) * filter.down() / filter.up());
    }

    /** Reads so many samples from the payload's position, and moves it on. Returns the bytes that are to be written. */
    int convert(@Nullable Resampler resampler, ByteBuffer payload, int samples) {
        samplesIn.add(samples);
        if (in.length < samples) {
            in = new int[samples];
        }
        read(payload, samples);
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
        return count * to.bytes;
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

    /** Writes the samples that were read last, from the room's position on, which stays. */
    void write(ByteBuffer room, int bytes) {
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
