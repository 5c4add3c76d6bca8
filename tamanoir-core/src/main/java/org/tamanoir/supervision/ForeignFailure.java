package org.tamanoir.supervision;

/**
 * What a service threw, as text that runs no code of the service: its exceptions' {@code toString}, {@code getMessage},
 * {@code getStackTrace} and {@code getCause} are foreign code, which may not return.
 *
 * <p>Thread contract: {@link #of} runs on a thread that can be spared, the service's own or the maker's, unless the
 * failure is the node's; a ForeignFailure can be read by any.
 */
public final class ForeignFailure extends Exception {
    /** Of the text, in characters. */
    static final int MAX_LENGTH = 500;

    private static final long serialVersionUID = 1;
    private static final StackTraceElement[] NO_FRAMES = {};
    /** Of the stack trace; a stack that overflowed has 1,024. */
    private static final int MAX_FRAMES = 64;

    private final String kind;
    private final String text;

    private ForeignFailure(String kind, String text, StackTraceElement[] frames) {
        super(text, null, false, true);
        this.kind = kind;
        this.text = text;
        setStackTrace(frames);
    }

    /** Reads a failure; what cannot be read of it is left out, but for the name of its class. */
    public static ForeignFailure of(Throwable failure) {
        if (failure instanceof ForeignFailure known) {
            return known;
        }
        String kind = shortened(failure.getClass().getName());
        return new ForeignFailure(kind, text(failure, kind), frames(failure));
    }

    private static String text(Throwable failure, String kind) {
        try {
            String said = failure.toString();
            return said == null || said.isBlank() ? kind : shortened(said);
        } catch (Throwable unreadable) {
            return kind;
        }
    }

    private static StackTraceElement[] frames(Throwable failure) {
        try {
            StackTraceElement[] all = failure.getStackTrace();
            StackTraceElement[] some = new StackTraceElement[Math.min(all.length, MAX_FRAMES)];
            System.arraycopy(all, 0, some, 0, some.length);
            return some;
        } catch (Throwable unreadable) {
            return NO_FRAMES;
        }
    }

    /** Returns one line of bounded length. */
    private static String shortened(String text) {
        String some = text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH) + "...";
        StringBuilder line = new StringBuilder(some.length());
        some.chars().forEach(each -> line.append(Character.isISOControl(each) ? ' ' : (char) each));
        return line.toString();
    }

    /** Returns the name of the class that was thrown. */
    String kind() {
        return kind;
    }

    @Override
    public String toString() {
        return text;
    }
}
