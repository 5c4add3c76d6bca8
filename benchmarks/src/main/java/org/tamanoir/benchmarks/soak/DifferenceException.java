package org.tamanoir.benchmarks.soak;

/** Says in one line how what arrived differs from what was sent. */
final class DifferenceException extends Exception {
    private static final long serialVersionUID = 1;

    DifferenceException(String message) {
        super(message);
    }
}
