package org.tamanoir.ee;

/** Thrown on the thread of an instance that was left behind when it comes back after all: it only cleans up. */
final class Abandoned extends Error {
    private static final long serialVersionUID = 1;

    Abandoned() {
        super("the service came back too late: its instance was given up", null, false, false);
    }
}
