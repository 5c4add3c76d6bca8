package org.tamanoir.node.tc;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How traffic control stands.
 *
 * @param dryRun whether nothing is really changed
 */
public record TcStatus(boolean dryRun, List<Rule> rules) {
    public TcStatus {
        rules = List.copyOf(rules);
    }

    /** How a class stands; as text as in answers of the API. */
    public enum State {
        /** It has what it had. */
        AS_FOUND,
        /** It has what the rule gives. */
        CHANGED,
        /** Its rule cannot be used now, whatever the class has. */
        UNUSABLE;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * How a rule stands.
     *
     * @param why what was measured, or why the rule cannot be used
     * @param found rate and ceil that the class gets back; null while it is not changed
     * @param given rate and ceil that the rule gives
     * @param changes so far, of the class there and back
     * @param last the last changes, each a line with its time
     */
    public record Rule(
            String device,
            String classId,
            State state,
            String why,
            @Nullable String found,
            String given,
            long changes,
            List<String> last) {
        public Rule {
            last = List.copyOf(last);
        }
    }
}
