package org.tamanoir.manager;

/** A change that the node does not make, or does not keep; the message is a line with the remedy for each thing that is wrong. */
public final class ManagerException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Kind {
        /** There is no such service, version or route. */
        NOT_FOUND,
        /** It cannot be done as the node is now. */
        CONFLICT,
        /** The values are wrong. */
        INVALID,
        /** Code was found and refused. */
        REFUSED,
        /** Code could not be had from any source now. */
        UNAVAILABLE,
        /** It is done, and cannot be written: it ends with the process. */
        NOT_KEPT
    }

    private final Kind kind;

    /** Makes a failure. */
    public ManagerException(Kind kind, String line) {
        super(line);
        this.kind = kind;
    }

    /** Returns why. */
    public Kind kind() {
        return kind;
    }
}
