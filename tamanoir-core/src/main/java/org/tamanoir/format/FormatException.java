package org.tamanoir.format;

/**
 * Refuses a description, a record or a file: one line with what was wrong, the value and the bound. Carries no stack
 * trace, since hostile input may raise one for each packet.
 */
public final class FormatException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final FormatFault fault;

    /** Makes a refusal; the message is one line. */
    public FormatException(FormatFault fault, String message) {
        super(message, null, false, false);
        this.fault = fault;
    }

    /** Returns the reason, to count by. */
    public FormatFault fault() {
        return fault;
    }
}
