package org.tamanoir.nodeos;

import java.util.Map;

/**
 * A level as it is on this host now.
 *
 * @param isThere whether policies can be placed on it
 * @param detail one line: how it is there, or why it is not and what would help
 * @param met what it has met, by name as in {@code docs/levels.md}; empty where it is not there
 */
public record LevelStatus(Level level, boolean isThere, String detail, Map<String, Long> met) {
    /** Copies the map, in its order. */
    public LevelStatus {
        met = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(met));
    }
}
