package org.tamanoir.benchmarks.element;

import java.util.List;

/** How real units and ends keep a stream in order. */
enum Way {
    /** Packets leave units as they come. */
    NONE(false, List.of("--mode", "round-robin")),
    /** With the token, a packet for each unit in a round. */
    FCT(true, List.of("--mode", "round-robin")),
    /** With the token, eight packets for each unit in a round. */
    FCT_8(true, List.of("--mode", "weighted", "--round-size", String.valueOf(8 * Element.UNITS))),
    /** Without the token, joined in exact order. */
    EXACT(false, List.of("--mode", "exact"));

    private final boolean ring;
    private final List<String> distribution;

    Way(boolean ring, List<String> distribution) {
        this.ring = ring;
        this.distribution = distribution;
    }

    boolean hasRing() {
        return ring;
    }

    /** Returns options of {@code distribute}. */
    List<String> distribution() {
        return distribution;
    }

    /** Returns the name in reports. */
    String label() {
        return this == FCT_8 ? "FCT, rounds of 8" : name();
    }
}
