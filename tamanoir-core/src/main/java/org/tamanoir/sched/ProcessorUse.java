package org.tamanoir.sched;

/**
 * What one thread uses of processors.
 *
 * <p>Thread contract: any thread.
 */
public interface ProcessorUse {
    /** The use of a thread of which nothing is known. */
    ProcessorUse UNKNOWN = new ProcessorUse() {
        @Override
        public boolean isRunnable() {
            return false;
        }

        @Override
        public long usedNs() {
            return 0;
        }
    };

    /** Returns whether the thread is able to run, so that it is its processor time that counts. */
    boolean isRunnable();

    /** Returns what the thread has used of a processor, in ns; asked after {@link #isRunnable}. */
    long usedNs();
}
