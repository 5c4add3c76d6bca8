package org.tamanoir.node.director;

import java.util.HashMap;
import java.util.Map;
import org.tamanoir.node.config.Problems;

/** What only one record of a list may have. One thread. */
final class OnceOnly {
    private final Problems problems;
    private final String record;
    private final Map<String, String> givenBy = new HashMap<>();

    /** @param record what a record is, in errors */
    OnceOnly(Problems problems, String record) {
        this.problems = problems;
        this.record = record;
    }

    /** Reports what another record had before. */
    void add(String where, String what) {
        String first = givenBy.putIfAbsent(what, where);
        if (first != null) {
            problems.add(where, what + " is another " + record + "'s already, by " + first + "; change one");
        }
    }
}
