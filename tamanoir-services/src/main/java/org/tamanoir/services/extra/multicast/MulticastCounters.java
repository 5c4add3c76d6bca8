package org.tamanoir.services.extra.multicast;

import java.util.function.Function;
import org.tamanoir.service.Counter;

/** The counters of {@link Multicast}, which says what each is. Thread contract: that of {@link Counter}. */
final class MulticastCounters {
    final Counter packets;
    final Counter copies;
    final Counter delivered;
    final Counter refused;
    final Counter asked;
    final Counter recovered;
    final Counter lost;
    final Counter reports;
    final Counter repairs;
    final Counter repaired;
    final Counter repairsOver;
    final Counter branches;
    final Counter joined;
    final Counter left;
    final Counter letGo;
    final Counter wasLetGo;
    final Counter heartbeats;
    final Counter flows;

    MulticastCounters(Function<String, Counter> counter) {
        packets = counter.apply("packets");
        copies = counter.apply("copies");
        delivered = counter.apply("delivered");
        refused = counter.apply("refused");
        asked = counter.apply("asked");
        recovered = counter.apply("recovered");
        lost = counter.apply("lost");
        reports = counter.apply("reports");
        repairs = counter.apply("repairs");
        repaired = counter.apply("repaired");
        repairsOver = counter.apply("repairs-over");
        branches = counter.apply("branches");
        joined = counter.apply("joined");
        left = counter.apply("left");
        letGo = counter.apply("let-go");
        wasLetGo = counter.apply("was-let-go");
        heartbeats = counter.apply("heartbeats");
        flows = counter.apply("flows");
    }
}
