package org.tamanoir.services.extra.multicast;

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

    MulticastCounters(Counter.Source counters) {
        packets = counters.counter("packets");
        copies = counters.counter("copies");
        delivered = counters.counter("delivered");
        refused = counters.counter("refused");
        asked = counters.counter("asked");
        recovered = counters.counter("recovered");
        lost = counters.counter("lost");
        reports = counters.counter("reports");
        repairs = counters.counter("repairs");
        repaired = counters.counter("repaired");
        repairsOver = counters.counter("repairs-over");
        branches = counters.counter("branches", Counter.Kind.GAUGE);
        joined = counters.counter("joined");
        left = counters.counter("left");
        letGo = counters.counter("let-go");
        wasLetGo = counters.counter("was-let-go");
        heartbeats = counters.counter("heartbeats");
        flows = counters.counter("flows", Counter.Kind.GAUGE);
    }
}
