package org.tamanoir.routing;

import java.util.List;

/** A file of routes that cannot be used: each problem in one line, with its place. */
public final class RouteFileException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient List<String> problems;
    private final transient List<String> withoutContent;
    private final String summary;

    /** Makes one of a problem that tells nothing of what the file holds. */
    public RouteFileException(String problem) {
        this(List.of(problem), List.of(problem), problem);
    }

    /**
     * @param withoutContent the same problems, for those who may not read the file
     * @param summary all of them in a line, for these too
     */
    RouteFileException(List<String> problems, List<String> withoutContent, String summary) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
        this.withoutContent = List.copyOf(withoutContent);
        this.summary = summary;
    }

    /** Returns the problems, the first ones of very many. */
    public List<String> problems() {
        return problems;
    }

    /** Returns the same problems, of those inside the file only where they are. */
    public List<String> withoutContent() {
        return withoutContent;
    }

    /** Returns the only one of {@link #withoutContent}, or how many there are. */
    public String summary() {
        return summary;
    }
}
