package org.tamanoir.traffic;

import org.tamanoir.service.Counter;

/** What the counters of one name come to over all instances of a service. */
public record CounterTotal(Counter.Kind kind, long value) {}
