package org.tamanoir.platform;

/**
 * Groups of threads that share processors with each other by service, whatever their number.
 *
 * <p>Thread contract: any thread, and no virtual one but for {@link #text} and {@link #close}: its carrier would be moved.
 */
public interface ServiceGroups extends AutoCloseable {
    /** None: each thread stands for itself. */
    ServiceGroups NONE = new ServiceGroups() {
        @Override
        public Member join(String service, double processors) {
            return Member.OF_NONE;
        }

        @Override
        public void stayOut() {}

        @Override
        public String text() {
            return "each thread for itself (groups: off)";
        }

        @Override
        public void close() {}
    };

    /** The place of one thread in the group of its service. */
    interface Member {
        /** That of a thread in no group. */
        Member OF_NONE = () -> {};

        /** Takes the thread that joined, which calls, out of the group; an empty group ends. Throws nothing. */
        void leave();
    }

    /**
     * Moves the calling thread into the group of a service, in which the threads that it starts are too; throws nothing.
     * Where that fails the thread stays where it is.
     *
     * @param processors which all threads of the group may have together; 0 = any
     */
    Member join(String service, double processors);

    /** Moves the calling thread, which a service's thread may have started, out of that one's group; throws nothing. */
    void stayOut();

    /** Returns in one line what there is, and what would help where there is nothing. */
    String text();

    /** Ends all groups, and what was made for them. No thread may join any more. Throws nothing. */
    @Override
    void close();
}
