package org.tamanoir.qdisc;

/**
 * A token bucket: in every interval from s to t no more than {@code burst + rate * (t - s)} bytes are taken.
 *
 * <p>It counts in units of 1e-9 byte, so that {@code rate * nanoseconds} is exact; the largest burst, 2^32 bytes, is
 * 4.3e18 units, which a long holds. A clock that steps back counts as standing still.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class TokenBucket {
    static final long MAX_RATE = 1_000_000_000_000L;
    static final long MAX_BURST = 1L << 32;
    private static final long UNITS_PER_BYTE = 1_000_000_000L;

    private long rate;
    private long burst;
    /** Units that it holds when full. */
    private long capacity;
    /** Units that are there; at least -capacity of the largest burst. */
    private long tokens;
    /** Until when tokens have been filled in. */
    private long filledNs;

    /**
     * A bucket that is full.
     *
     * @param rate bytes a second, 1 to 1e12
     * @param burst bytes, 1 to 4 Gi
     * @throws IllegalArgumentException in one line
     */
    public TokenBucket(long rate, long burst, long nowNs) {
        set(rate, burst);
        tokens = capacity;
        filledNs = nowNs;
    }

    /** Takes so many bytes; false, and takes nothing, when there are fewer. */
    public boolean take(long bytes, long nowNs) {
        fill(nowNs);
        if (bytes > burst || tokens < bytes * UNITS_PER_BYTE) {
            return false;
        }
        tokens -= bytes * UNITS_PER_BYTE;
        return true;
    }

    /** Gives back what was taken and not used. */
    public void giveBack(long bytes) {
        tokens = Math.min(capacity, tokens + Math.min(bytes, MAX_BURST) * UNITS_PER_BYTE);
    }

    /** Takes so many bytes also when they are not there: the bucket then owes them, up to 4 Gi. */
    void takeAhead(long bytes) {
        long floor = -MAX_BURST * UNITS_PER_BYTE;
        long units = Math.min(bytes, MAX_BURST) * UNITS_PER_BYTE;
        tokens = tokens < floor + units ? floor : tokens - units;
    }

    /** When so many bytes will be there: {@code nowNs} or later; the maximum when more than the bucket holds. */
    public long readyNs(long bytes, long nowNs) {
        if (bytes > burst) {
            return Long.MAX_VALUE;
        }
        fill(nowNs);
        long missing = bytes * UNITS_PER_BYTE - tokens;
        if (missing <= 0) {
            return nowNs;
        }
        // Filling goes on where it stopped, which is later than nowNs after a step back of the clock.
        long waitNs = (missing - 1) / rate + 1;
        return filledNs > Long.MAX_VALUE - waitNs ? Long.MAX_VALUE : filledNs + waitNs;
    }

    /** Changes rate and size; what is in it stays, up to the new size. */
    public void change(long rate, long burst, long nowNs) {
        fill(nowNs);
        set(rate, burst);
        tokens = Math.min(tokens, capacity);
    }

    /** Bytes that it holds when full: nothing larger can ever be taken. */
    long burst() {
        return burst;
    }

    /** Returns bytes a second. */
    public long rate() {
        return rate;
    }

    /** Returns the whole bytes that were there when it was asked last; negative when it owes them. */
    public long tokens() {
        return tokens / UNITS_PER_BYTE;
    }

    private void set(long rate, long burst) {
        if (rate < 1 || rate > MAX_RATE) {
            throw new IllegalArgumentException("rate " + rate + " bytes/s: must be 1 to " + MAX_RATE);
        }
        if (burst < 1 || burst > MAX_BURST) {
            throw new IllegalArgumentException("burst " + burst + " bytes: must be 1 to " + MAX_BURST);
        }
        this.rate = rate;
        this.burst = burst;
        capacity = burst * UNITS_PER_BYTE;
    }

    private void fill(long nowNs) {
        long passedNs = nowNs - filledNs;
        if (passedNs <= 0) {
            return;
        }
        filledNs = nowNs;
        // Both at most 2^32 bytes: their difference is below 2^63 units.
        long missing = capacity - tokens;
        long units = rate * passedNs;
        boolean overflows = Math.multiplyHigh(rate, passedNs) != 0 || units < 0;
        tokens = overflows || units >= missing ? capacity : tokens + units;
    }
}
