package org.tamanoir.supervision;

/** Thrown on the thread of an instance that was given up when it comes back after all: it only cleans up. */
public final class Abandoned extends Error {
    private static final long serialVersionUID = 1;

    public Abandoned() {
        super("the service came back too late: its instance was given up", null, false, false);
    }
}
