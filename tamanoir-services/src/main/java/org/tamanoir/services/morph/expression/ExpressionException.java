package org.tamanoir.services.morph.expression;

/** A text that is no expression over a format: in one line the text, the column, what is wrong and what helps. */
public final class ExpressionException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;
    private static final int SHOWN_CHARACTERS = 120;

    /** @param column from 1; 0: the text as a whole */
    ExpressionException(String text, int column, String what) {
        super("expression '" + shown(text) + "'" + (column > 0 ? ", column " + column : "") + ": " + what);
    }

    /** Returns a text in one line, cut where it is long. */
    static String shown(String text) {
        String cut = text.length() <= SHOWN_CHARACTERS ? text : text.substring(0, SHOWN_CHARACTERS) + "…";
        return cut.replaceAll("\\p{Cntrl}", " ");
    }
}
