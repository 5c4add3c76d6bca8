package org.tamanoir.benchmarks.levels;

import java.util.List;
import org.tamanoir.nodeos.Level;

/**
 * How experiments run.
 *
 * @param lab where
 * @param nodes how nodes are started
 * @param levels that are compared, in the order in which they are shown; the JVM is among them
 * @param seconds that what is measured over time takes
 */
record Settings(Lab lab, NodeFactory nodes, List<Level> levels, double seconds) {
    /** What other lengths are stated for. */
    static final double DEFAULT_SECONDS = 8;

    /** A number that is {@code count} unless runs are shorter or longer. */
    int scaled(int count, int least) {
        return (int) Math.max(least, Math.round(count * seconds / DEFAULT_SECONDS));
    }

    /** Levels below the JVM. */
    List<Level> below() {
        return levels.stream().filter(level -> level != Level.JVM).toList();
    }

    /** Those that can split a flow between themselves and the JVM. */
    List<Level> splitting() {
        return below().stream().filter(level -> level != Level.XDP).toList();
    }
}
