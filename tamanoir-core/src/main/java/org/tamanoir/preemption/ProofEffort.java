package org.tamanoir.preemption;

/**
 * What proving may cost that the methods of one jar end: a jar waits while another one is read, so that its time is bounded
 * by what it holds, not by what it asks of the node.
 *
 * <p>Thread contract: one thread.
 */
public final class ProofEffort {
    /** Of a method; a tenth of a second. The largest of 69,834 classes of compilers takes 107,235. */
    static final long MAX_OF_METHOD = 1 << 22;
    /** Of all together; some seconds. The largest of 309 jars takes 1,400,593. */
    static final long MAX = 1 << 26;

    private long left = MAX;

    /** Begins a jar, or a class that is read alone. */
    public ProofEffort() {}

    /**
     * Takes what a method costs.
     *
     * @param steps at most: see {@link ControlFlow#steps}
     * @throws IllegalArgumentException in one line, if that is too much
     */
    void take(String method, long steps) {
        if (steps > MAX_OF_METHOD) {
            throw new IllegalArgumentException("method " + method + " takes " + steps
                    + " steps to prove that it ends, more than " + MAX_OF_METHOD
                    + ": instructions times handlers, and what these cover times monitors; split it");
        }
        left -= steps;
        if (left < 0) {
            throw new IllegalArgumentException("method " + method + " and those before it take more than " + MAX
                    + " steps to prove that they end: instructions times handlers, and what these cover times"
                    + " monitors; make two jars of it");
        }
    }

    /** Returns the steps that were taken. */
    long taken() {
        return MAX - left;
    }
}
