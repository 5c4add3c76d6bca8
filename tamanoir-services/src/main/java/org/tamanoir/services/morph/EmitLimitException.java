package org.tamanoir.services.morph;

/** A handler made more messages in one call than a plan allows. Has no stack trace. */
final class EmitLimitException extends RuntimeException {
    static final String REASON = "EMITS";
    private static final long serialVersionUID = 1L;

    EmitLimitException() {
        super("more messages in one call than the plan's emits allows", null, false, false);
    }
}
