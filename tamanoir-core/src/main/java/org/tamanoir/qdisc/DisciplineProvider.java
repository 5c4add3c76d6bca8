package org.tamanoir.qdisc;

/**
 * Makes a queueing discipline. Implementations of others are found by {@link java.util.ServiceLoader}: name the class
 * in {@code META-INF/services/org.tamanoir.qdisc.DisciplineProvider} of a jar on the node's class path.
 *
 * <p>Thread contract: any thread.
 */
public interface DisciplineProvider {
    /** What the configuration calls it: lower-case letters, digits, hyphens between them, perhaps a + at the end. */
    String name();

    /** Whether it may order turns before processing: it drops nothing, and shares by what {@code charge} tells it. */
    default boolean ordersTurns() {
        return false;
    }

    /**
     * A discipline with nothing in it.
     *
     * @param drops takes what it refuses and drops
     * @throws IllegalArgumentException in one line, if the settings cannot be used; settings of several faults may be
     *     refused for the first
     */
    QueueingDiscipline create(DisciplineConfig config, Drops drops);
}
