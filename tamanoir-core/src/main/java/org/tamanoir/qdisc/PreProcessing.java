package org.tamanoir.qdisc;

import java.time.Duration;
import java.util.Map;

/**
 * How turns on the processors are shared between classes, before services process packets.
 *
 * @param discipline one of {@link Disciplines#namesForTurns}
 * @param options the discipline's own
 * @param processors turns at once, 1 to 1024
 * @param quantum how long a turn lasts when others wait, 10 µs to 1 s
 */
public record PreProcessing(String discipline, Map<String, String> options, int processors, Duration quantum) {
    /** A turn's length unless the configuration says otherwise. */
    public static final Duration DEFAULT_QUANTUM = Duration.ofMillis(1);

    public PreProcessing {
        options = Map.copyOf(options);
    }

    /** Without options, with the default quantum. */
    public PreProcessing(String discipline, int processors) {
        this(discipline, Map.of(), processors, DEFAULT_QUANTUM);
    }
}
