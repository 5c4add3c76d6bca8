package org.tamanoir.manager;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.traffic.CounterTotal;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * One version of a service on this node.
 *
 * @param version empty for services of the class path
 * @param state what it does
 * @param current whether the bare name means this version
 * @param source {@code class path}, {@code cache}, {@code repository URL}, {@code previous node URL}
 * @param publisherId key id of who signed it; null for the class path, and for unsigned code
 * @param jarSha256 null for the class path
 * @param since when it was deployed; null for the class path
 * @param tcpStreams that it runs now
 * @param udp whether an instance serves UDP now
 * @param controlled whether it has a control
 * @param sizes what it does to the sizes of its traffic
 * @param traffic what crossed all its instances, those that ended included; null when it unloads
 * @param counters its own, over all its instances, those that ended included
 * @param dropReasons its own reasons for drops, likewise
 * @param health failures, quarantine, processor time, allocation; its fault says why it is {@link State#FAILED} or {@link
 *     State#MISSING}
 * @param placement where its UDP packets are handled
 * @param below what levels below the JVM did with them, over all instances, those that ended included; not in {@code traffic}, but
 *     for packets that went up
 * @param holders what keeps the classes of a removed version in memory; empty otherwise
 */
public record ServiceStatus(
        String name,
        String version,
        State state,
        boolean current,
        String source,
        @Nullable String publisherId,
        @Nullable String jarSha256,
        @Nullable Instant since,
        int tcpStreams,
        boolean udp,
        boolean controlled,
        SizeEffect sizes,
        @Nullable TrafficSnapshot traffic,
        Map<String, CounterTotal> counters,
        Map<String, Long> dropReasons,
        ServiceHealth health,
        Placement.Status placement,
        LevelCounters below,
        List<String> holders) {
    /** What a version does. */
    public enum State {
        /** New streams get it. */
        RUNNING,
        /** Its last instance did not begin, or its last deployment was refused and the configuration names it. */
        FAILED,
        /** It failed too often, and is not run for a while. */
        QUARANTINED,
        /** No new streams get it; those that run it finish. */
        DRAINING,
        /** It was removed, and its classes are still in memory. */
        UNLOADING,
        /** The configuration names it, and the node does not have it. */
        MISSING
    }
}
