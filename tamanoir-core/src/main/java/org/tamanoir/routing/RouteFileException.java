package org.tamanoir.routing;

import java.util.List;

/** A file of routes that cannot be used: each problem in one line, with its place. */
public final class RouteFileException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient List<String> problems;
    private final transient List<String> withoutContent;

    /** Makes one of problems that tell nothing of what the file holds. */
    public RouteFileException(List<String> problems) {
        this(problems, problems);
    }

    /** @param withoutContent the same problems, for those who may not read the file */
    RouteFileException(List<String> problems, List<String> withoutContent) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
        this.withoutContent = List.copyOf(withoutContent);
    }

    /** Returns the problems, the first ones of very many. */
    public List<String> problems() {
        return problems;
    }

    /** Returns the same problems, of those inside the file only where they are. */
    public List<String> withoutContent() {
        return withoutContent;
    }
}
