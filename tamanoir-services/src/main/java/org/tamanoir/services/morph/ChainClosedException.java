package org.tamanoir.services.morph;

/** The chain was taken away while a context waited. Has no stack trace. */
final class ChainClosedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ChainClosedException() {
        super("the chain is closed", null, false, false);
    }
}
