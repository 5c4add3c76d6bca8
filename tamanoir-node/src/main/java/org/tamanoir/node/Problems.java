package org.tamanoir.node;

import java.util.ArrayList;
import java.util.List;

/** Collects every error of a configuration, one line each, in the order found. One thread. */
final class Problems {
    private final List<String> lines = new ArrayList<>();

    /**
     * Adds an error.
     *
     * @param where {@code FILE:LINE: path}, or an option of the command line
     * @param what what is wrong, the value, the bound and the remedy
     */
    void add(String where, String what) {
        lines.add((where + ": " + what).replaceAll("\\R\\s*", " "));
    }

    boolean isEmpty() {
        return lines.isEmpty();
    }

    List<String> lines() {
        return List.copyOf(lines);
    }
}
