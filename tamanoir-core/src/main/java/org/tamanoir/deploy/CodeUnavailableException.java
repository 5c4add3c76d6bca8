package org.tamanoir.deploy;

/** No source gave the code; the message is one line that names each source and its answer. */
public final class CodeUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean unknown;

    /**
     * Makes a failure.
     *
     * @param unknown whether every source answered that there is no such service
     */
    public CodeUnavailableException(String line, boolean unknown) {
        super(line);
        this.unknown = unknown;
    }

    /** Returns whether every source answered, and none has such a service. */
    public boolean isUnknown() {
        return unknown;
    }
}
