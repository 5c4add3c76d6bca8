package org.tamanoir.services.morph;

import java.util.List;

/** A plan, or a change of one, is refused: what is wrong, a line each. */
public final class PlanException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> problems;

    PlanException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
    }

    /** Returns the lines. */
    public List<String> problems() {
        return problems;
    }
}
