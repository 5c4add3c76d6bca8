package org.tamanoir.cluster.lvs;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** How LVS chooses a back-end for a new connection: the schedulers of Linux 6.1 by the names of ipvsadm(8). */
public enum Scheduler {
    /** Round robin. */
    RR,
    /** Weighted round robin. */
    WRR,
    /** Least connections. */
    LC,
    /** Weighted least connections. */
    WLC,
    /** Locality-based least connections. */
    LBLC,
    /** The same with replication. */
    LBLCR,
    /** Destination hashing. */
    DH,
    /** Source hashing; flags sh-fallback, sh-port. */
    SH("sh-fallback", "sh-port"),
    /** Shortest expected delay. */
    SED,
    /** Never queue. */
    NQ,
    /** Weighted fail-over. */
    FO,
    /** Weighted overflow. */
    OVF,
    /** Maglev hashing; flags mh-fallback, mh-port. */
    MH("mh-fallback", "mh-port"),
    /** Power of twice choice; Linux 5.15 and later, where it is built. */
    TWOS;

    private final List<String> flags;

    Scheduler(String... flags) {
        this.flags = List.of(flags);
    }

    /** Returns the name of ipvsadm. */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /** Returns the flags that it takes, by the names of ipvsadm. */
    public List<String> flags() {
        return flags;
    }

    /** Returns the scheduler of a name. */
    public static Scheduler of(String label) {
        for (Scheduler each : values()) {
            if (each.label().equals(label)) {
                return each;
            }
        }
        throw new IllegalArgumentException("'" + label + "' is no scheduler: one of "
                + Arrays.stream(values()).map(Scheduler::label).collect(Collectors.joining(", ")));
    }
}
