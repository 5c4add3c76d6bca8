package org.tamanoir.arena;

import static org.tamanoir.arena.Fields.CONTENDED;
import static org.tamanoir.arena.Fields.LIMIT_BYTES;
import static org.tamanoir.arena.Fields.PROCESSORS;
import static org.tamanoir.arena.Fields.RATE;
import static org.tamanoir.arena.Fields.RECENT_DROPS;
import static org.tamanoir.arena.Fields.RECENT_NS;
import static org.tamanoir.arena.Fields.TOKENS;
import static org.tamanoir.arena.Fields.TURNS_RUNNING;
import static org.tamanoir.arena.Fields.TURNS_WAITING;
import static org.tamanoir.arena.Fields.WAITING_BYTES;
import static org.tamanoir.arena.Fields.WEIGHT;

import java.util.Arrays;
import java.util.List;

/** What a slot shows. Its place is its number in the {@linkplain ArenaFile file}: a new kind is added at the end. */
public enum SlotKind {
    /** Nothing. */
    FREE,
    /** The scheduling point before processing. */
    POINT(TURNS_RUNNING, TURNS_WAITING, RECENT_NS, WEIGHT, PROCESSORS, CONTENDED),
    /** A class there. */
    TURNS(TURNS_RUNNING, TURNS_WAITING, RECENT_NS, WEIGHT, WAITING_BYTES, LIMIT_BYTES, RECENT_DROPS),
    /** A link. */
    LINK(WEIGHT, RATE, TOKENS),
    /** A class there. */
    QUEUE(WEIGHT, WAITING_BYTES, LIMIT_BYTES, RECENT_DROPS);

    private final List<Integer> fields;

    SlotKind(Integer... fields) {
        this.fields = Arrays.asList(fields);
    }

    /** Returns the numbers that such a slot has; the others are 0. */
    public List<Integer> fields() {
        return fields;
    }
}
