package org.tamanoir.arena;

import java.util.List;

/** Where the numbers of points and classes stand in their slots; part of the layout that {@link ArenaFile} draws. */
public final class Fields {
    // Of a class at one point, and some of a point.
    public static final int TURNS_RUNNING = 0;
    public static final int TURNS_WAITING = 1;
    /** Processor time of turns that ended in the last 100 ms. */
    public static final int RECENT_NS = 2;
    /** Of a point: of all classes. */
    public static final int WEIGHT = 3;

    public static final int WAITING_BYTES = 4;
    public static final int LIMIT_BYTES = 5;
    /** Packets dropped in the last second. */
    public static final int RECENT_DROPS = 6;

    // Of a point alone.
    public static final int PROCESSORS = 7;
    public static final int CONTENDED = 8;
    /** Bytes a second. */
    public static final int RATE = 9;
    /** Bytes. */
    public static final int TOKENS = 10;

    /** The names that readers see, by place. */
    public static final List<String> NAMES = List.of(
            "turnsRunning",
            "turnsWaiting",
            "recentNs",
            "weight",
            "waitingBytes",
            "limitBytes",
            "recentDrops",
            "processors",
            "contended",
            "rate",
            "tokens");

    private Fields() {}
}
