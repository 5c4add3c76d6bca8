package org.tamanoir.services.morph.handler;

/**
 * Tumbling windows of time, of a number of messages, or of whichever ends first. Those of time lie on a grid that begins
 * with the first message of all; one in which nothing comes is none.
 *
 * <p>Thread contract: one thread.
 */
final class Window {
    private static final long LONGEST_NS = 86_400_000_000_000L;

    private final long lengthNs;
    private final long limitMessages;
    private boolean anchored;
    private boolean open;
    private long endNs;
    private long messages;

    /** Makes windows of the settings {@code window} and {@code count}, of which there has to be one. */
    Window(HandlerSettings settings) {
        boolean timed = settings.has("window");
        lengthNs = timed ? settings.durationNs("window", "", 1_000, LONGEST_NS) : Long.MAX_VALUE / 2;
        limitMessages = settings.number("count", Long.MAX_VALUE, 1, Long.MAX_VALUE);
        if (!timed && !settings.has("count")) {
            throw settings.problem("window", "is missing: say how long, as in 5s, or how many messages by count");
        }
    }

    /** Counts a message in. */
    void enter(long nowNs) {
        if (!open) {
            open = true;
            messages = 0;
            if (!anchored) {
                anchored = true;
                endNs = nowNs + lengthNs;
            } else if (nowNs - endNs >= 0) {
                endNs += ((nowNs - endNs) / lengthNs + 1) * lengthNs;
            }
        }
        messages++;
    }

    /** Returns whether messages have come in and the window has ended. */
    boolean isOver(long nowNs) {
        return open && (messages >= limitMessages || nowNs - endNs >= 0);
    }

    /** Returns when the window ends; {@link Long#MAX_VALUE} if nothing came. */
    long endNs() {
        return open ? endNs : Long.MAX_VALUE;
    }

    /** Has the next message begin another window. */
    void close() {
        open = false;
    }
}
