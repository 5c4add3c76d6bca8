package org.tamanoir.ee;

/**
 * Room for the node's own code on the stack of a thread whose service may have used nearly all of it. A {@link
 * StackOverflowError} in the midst of what streams share, as a queueing discipline, would leave it half changed: so it is
 * asked for before.
 *
 * <p>Thread contract: any thread.
 */
final class StackRoom {
    /** Each has 60 bytes when it is compiled, 230 when not: 16 KiB or more, several times what the node's calls take. */
    private static final int FRAMES = 256;

    private StackRoom() {}

    /** Returns whether there is enough; costs half a microsecond. */
    static boolean isThere() {
        try {
            return descend(FRAMES, 1, 2, 3, 4, 5) != 0;
        } catch (StackOverflowError e) {
            return false;
        }
    }

    /** Keeps its arguments over the call, so that a compiler cannot do with smaller frames; never returns 0. */
    private static long descend(int frames, long a, long b, long c, long d, long e) {
        if (frames == 0) {
            return a | 1;
        }
        long below = descend(frames - 1, b, c, d, e, a);
        return below + a * b - (c ^ d) + e | 1;
    }

    /** Throws it as a failure of the service, which has used up its stack, before anything has changed. */
    static void require(String call) {
        if (!isThere()) {
            throw new StackOverflowError(call + ": too little is left of the stack");
        }
    }
}
