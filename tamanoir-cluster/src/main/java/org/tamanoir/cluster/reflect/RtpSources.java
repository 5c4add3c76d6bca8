package org.tamanoir.cluster.reflect;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The sources of one session, by SSRC: {@value #WAYS} places for each remainder, of which the longest silent gives way,
 * so that members that invent sources use no more memory than others. One thread.
 */
final class RtpSources {
    private static final int WAYS = 4;
    private static final int SETS = 64;

    private final @Nullable RtpSource[] places = new RtpSource[WAYS * SETS];
    private final int clockRate;
    private @Nullable RtpSource last;

    RtpSources(int clockRate) {
        this.clockRate = clockRate;
    }

    RtpSource of(int ssrc) {
        RtpSource known = last;
        if (known == null || known.ssrc != ssrc) {
            known = find(ssrc);
            last = known;
        }
        return known;
    }

    /** Returns whether there is such a source. */
    boolean has(int ssrc) {
        int first = first(ssrc);
        for (int i = first; i < first + WAYS; i++) {
            RtpSource there = places[i];
            if (there != null && there.ssrc == ssrc) {
                return true;
            }
        }
        return false;
    }

    private static int first(int ssrc) {
        return WAYS * ((int) (Seen.mix(ssrc, 0) >>> 40) & SETS - 1);
    }

    private RtpSource find(int ssrc) {
        int first = first(ssrc);
        int place = first;
        for (int i = first; i < first + WAYS; i++) {
            RtpSource there = places[i];
            if (there != null && there.ssrc == ssrc) {
                return there;
            }
            RtpSource candidate = places[place];
            if (candidate != null && (there == null || there.seenNs - candidate.seenNs < 0)) {
                place = i;
            }
        }
        RtpSource made = new RtpSource(ssrc, clockRate);
        places[place] = made;
        return made;
    }

    List<RtpSource> all() {
        return Arrays.stream(places).filter(Objects::nonNull).toList();
    }
}
