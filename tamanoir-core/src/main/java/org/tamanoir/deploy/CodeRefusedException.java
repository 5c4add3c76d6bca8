package org.tamanoir.deploy;

/** Code was found and will not be run; the message is one line for the operator. */
public final class CodeRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Refusal refusal;

    /**
     * Makes a refusal.
     *
     * @param line which code, what is wrong with it, the value and the bound, the remedy; characters that would
     *     break the line are replaced
     */
    public CodeRefusedException(Refusal refusal, String line) {
        super(OneLine.of(line));
        this.refusal = refusal;
    }

    /** Returns which kind of refusal. */
    public Refusal refusal() {
        return refusal;
    }
}
