package org.tamanoir.qdisc;

import java.util.SortedSet;

/** The queueing disciplines that there are: those of this package, and those that ServiceLoader finds. */
public final class Disciplines {
    private Disciplines() {}

    /** Names of all disciplines. */
    public static SortedSet<String> names() {
        throw new UnsupportedOperationException();
    }

    /** Names of those that may order turns. */
    public static SortedSet<String> namesForTurns() {
        throw new UnsupportedOperationException();
    }

    /**
     * Makes a discipline.
     *
     * @throws IllegalArgumentException in one line, if there is none of this name, which lists those that there are, or
     *     its settings cannot be used
     */
    public static QueueingDiscipline create(String name, DisciplineConfig config, Drops drops) {
        throw new UnsupportedOperationException();
    }

    /**
     * Makes a discipline for turns; {@code wfq} and {@code fq} are {@code stfq} here, since what a turn costs is known
     * only afterwards.
     *
     * @throws IllegalArgumentException in one line, as {@link #create}
     */
    public static QueueingDiscipline createForTurns(String name, DisciplineConfig config) {
        throw new UnsupportedOperationException();
    }
}
