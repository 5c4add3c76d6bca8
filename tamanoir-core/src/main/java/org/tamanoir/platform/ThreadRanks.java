package org.tamanoir.platform;

/**
 * What threads get of the operating system by their rank.
 *
 * <p>Thread contract: any thread.
 */
public interface ThreadRanks {
    /** Nothing: all threads are alike. */
    ThreadRanks NONE = new ThreadRanks() {
        @Override
        public void take(ThreadRank rank) {}

        @Override
        public String text() {
            return "all threads alike (priorities: off)";
        }
    };

    /**
     * Gives the calling thread what its rank has here; throws nothing. What was lowered may stay so for ever: only a
     * thread that is used for nothing else may call, and no virtual one, whose carrier would be changed.
     */
    void take(ThreadRank rank);

    /** Returns in one line what there is, and what a privilege would add. */
    String text();
}
