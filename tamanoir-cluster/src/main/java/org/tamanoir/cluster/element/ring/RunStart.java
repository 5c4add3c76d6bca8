package org.tamanoir.cluster.element.ring;

import java.security.SecureRandom;

/**
 * What a party's run begins with, so that messages of runs before do not fit: recorded ones have the right tag.
 *
 * @param epoch below the first view's; {@link Epoch#NONE} = views begin with 1
 * @param nonce below that of the first question
 */
record RunStart(int epoch, long nonce) {
    /** The same each time, for rings that nobody can send to. */
    static final RunStart SAME = new RunStart(Epoch.NONE, 0);

    /** Seconds of an epoch by the clock: all epochs are used in 12 days, those of the last six are older ones. */
    private static final long EPOCH_SECONDS = 16;

    /** Returns one by the clock, and at random. */
    static RunStart now() {
        long seconds = System.currentTimeMillis() / 1_000;
        return new RunStart((int) (seconds / EPOCH_SECONDS) & 0xFFFF, new SecureRandom().nextLong());
    }
}
