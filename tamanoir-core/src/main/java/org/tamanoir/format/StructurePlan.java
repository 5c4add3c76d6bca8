package org.tamanoir.format;

import java.util.ArrayList;
import java.util.List;

/** How a structure of a source becomes one of a target: what needs no slot at once, the rest part by part. */
final class StructurePlan {
    final Structure source;
    final Structure target;
    final List<Move> moves = new ArrayList<>();
    final List<Preset> presets = new ArrayList<>();
    /** Strings, pointers, arrays of them, and structures inside. */
    final List<Part> parts = new ArrayList<>();

    StructurePlan(Structure source, Structure target) {
        this.source = source;
        this.target = target;
    }

    /** A default that is written to each. */
    record Preset(Type type, int to, boolean floating, long whole, double number) {}

    /** A field that is converted step by step. */
    record Part(TypePlan plan, int from, int to) {}

    void add(Move move) {
        int last = moves.size() - 1;
        if (last >= 0 && moves.get(last).isContinuedBy(move)) {
            moves.set(last, moves.get(last).and(move));
        } else {
            moves.add(move);
        }
    }

    /** Returns whether the moves and presets are all. */
    boolean isFlat() {
        return parts.isEmpty();
    }
}
