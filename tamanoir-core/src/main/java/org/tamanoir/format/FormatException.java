package org.tamanoir.format;

/**
 * Refuses a description, a record or a file: one line with what was wrong, the value and the bound. Carries no stack
 * trace, since hostile input may raise one for each packet.
 */
public final class FormatException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Characters of a path: its end names the field. */
    private static final int SHOWN_PATH = 200;

    private final FormatFault fault;

    /** Makes a refusal; the message is one line. */
    public FormatException(FormatFault fault, String message) {
        super(message, null, false, false);
        this.fault = fault;
    }

    /**
     * Returns this refusal with the place in the record before it.
     *
     * @param path such as {@code legs[2].gate}; empty = the record
     */
    public FormatException inField(String path) {
        int over = path.length() - SHOWN_PATH;
        String shown = Texts.shownAll(over > 0 ? "…" + path.substring(over) : path);
        return path.isEmpty() ? this : new FormatException(fault, "field '" + shown + "': " + getMessage());
    }

    /** Returns the reason, to count by. */
    public FormatFault fault() {
        return fault;
    }
}
