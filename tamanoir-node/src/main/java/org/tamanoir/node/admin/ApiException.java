package org.tamanoir.node.admin;

import java.util.List;

/** A request that is answered with an error; the message is one line with the remedy. */
final class ApiException extends Exception {
    private static final long serialVersionUID = 1L;

    /** HTTP status codes in use here. */
    static final int BAD_REQUEST = 400;

    static final int UNAUTHORIZED = 401;
    static final int FORBIDDEN = 403;
    static final int NOT_FOUND = 404;
    static final int NOT_ALLOWED = 405;
    static final int CONFLICT = 409;
    static final int TOO_LARGE = 413;
    static final int UNSUPPORTED_TYPE = 415;
    static final int EXPECTATION = 417;
    static final int INVALID = 422;
    static final int BUSY = 503;
    static final int NOT_KEPT = 507;

    final int status;

    /** Everything that is wrong, where that is told apart. */
    @SuppressWarnings("serial") // nobody serialises it
    final List<String> problems;

    ApiException(int status, String line) {
        this(status, line, List.of());
    }

    ApiException(int status, String line, List<String> problems) {
        super(line);
        this.status = status;
        this.problems = List.copyOf(problems);
    }
}
