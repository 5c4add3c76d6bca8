package org.tamanoir.sched;

/** Where the numbers of points and classes stand in their slots of the arena. */
final class Fields {
    // Of a class at one point, and some of a point.
    static final int TURNS_RUNNING = 0;
    static final int TURNS_WAITING = 1;
    /** Processor time of turns that ended in the last 100 ms. */
    static final int RECENT_NS = 2;
    /** Of a point: of all classes. */
    static final int WEIGHT = 3;

    static final int WAITING_BYTES = 4;
    static final int LIMIT_BYTES = 5;
    /** Packets dropped in the last second. */
    static final int RECENT_DROPS = 6;

    // Of a point alone.
    static final int PROCESSORS = 7;
    static final int CONTENDED = 8;
    /** Bytes a second. */
    static final int RATE = 9;
    /** Bytes. */
    static final int TOKENS = 10;

    private Fields() {}
}
