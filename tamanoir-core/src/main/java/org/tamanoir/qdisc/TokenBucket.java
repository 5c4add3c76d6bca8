package org.tamanoir.qdisc;

/**
 * A token bucket: in every interval from s to t no more than {@code burst + rate * (t - s)} octets are taken.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class TokenBucket {
    /**
     * A bucket that is full.
     *
     * @param rate octets a second, 1 to 1e12
     * @param burst octets, 1 to 4 Gi
     * @throws IllegalArgumentException in one line
     */
    public TokenBucket(long rate, long burst, long nowNs) {
        throw new UnsupportedOperationException();
    }

    /** Takes so many octets; false, and takes nothing, when there are fewer. */
    public boolean take(long octets, long nowNs) {
        throw new UnsupportedOperationException();
    }

    /** Gives back what was taken and not used. */
    public void giveBack(long octets) {
        throw new UnsupportedOperationException();
    }

    /** When so many octets will be there: {@code nowNs} or later; the maximum when more than the bucket holds. */
    public long readyNs(long octets, long nowNs) {
        throw new UnsupportedOperationException();
    }

    /** Changes rate and size; what is in it stays, up to the new size. */
    public void change(long rate, long burst, long nowNs) {
        throw new UnsupportedOperationException();
    }
}
