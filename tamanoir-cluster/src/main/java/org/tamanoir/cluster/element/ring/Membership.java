package org.tamanoir.cluster.element.ring;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Who is there, besides what units answer to the ring's own questions. A unit that it does not have is out of the ring;
 * one that it has must still answer, since a lost token is repaired in less time than any view takes.
 */
public interface Membership extends AutoCloseable {
    /** Returns the listed units, of which those that answer are there: nothing but the ring decides. */
    static Membership listed() {
        return new Membership() {
            @Override
            public void start(Consumer<Set<Integer>> units) {}

            @Override
            public void close() {}
        };
    }

    /**
     * Begins.
     *
     * @param units takes all units that are there, each time that this changes; any thread
     * @throws IOException if it cannot begin, as when an address is taken
     */
    void start(Consumer<Set<Integer>> units) throws IOException;

    @Override
    void close();
}
