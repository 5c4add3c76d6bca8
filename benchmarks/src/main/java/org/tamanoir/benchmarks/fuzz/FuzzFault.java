package org.tamanoir.benchmarks.fuzz;

/** The target did something else than the oracle said; the message has what is needed to see it again. */
final class FuzzFault extends Exception {
    private static final long serialVersionUID = 1;

    FuzzFault(String message) {
        super(message);
    }

    FuzzFault(String message, Throwable cause) {
        super(message, cause);
    }
}
