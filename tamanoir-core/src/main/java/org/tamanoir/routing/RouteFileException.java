package org.tamanoir.routing;

import java.util.List;

/** A file of routes that cannot be used: each problem in one line, with its place. */
public final class RouteFileException extends Exception {
    private static final long serialVersionUID = 1;

    private final List<String> problems;

    /** Makes one of these problems, each in one line. */
    public RouteFileException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
    }

    /** Returns the problems, the first ones of very many. */
    public List<String> problems() {
        return problems;
    }
}
