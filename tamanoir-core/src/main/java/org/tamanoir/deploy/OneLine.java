package org.tamanoir.deploy;

/** Foreign text in messages of one line: shortened, and without characters that could forge a log. */
public final class OneLine {
    private static final int MAX_CHARS = 80;

    private OneLine() {}

    /** Returns the text in single quotes, at most {@value #MAX_CHARS} characters of it. */
    public static String quoted(String text) {
        String shown = text.length() <= MAX_CHARS ? text : text.substring(0, MAX_CHARS) + "...";
        return "'" + of(shown) + "'";
    }

    /** Returns the text with a question mark in place of each character that cannot be shown. */
    public static String of(String text) {
        StringBuilder line = new StringBuilder(text.length());
        text.codePoints().forEach(c -> line.appendCodePoint(isShown(c) ? c : '?'));
        return line.toString();
    }

    /** Returns true for all but control characters, ends of lines, text direction marks or halves of characters. */
    public static boolean isShown(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
