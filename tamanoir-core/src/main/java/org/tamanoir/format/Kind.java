package org.tamanoir.format;

/** The base kinds of fields. */
public enum Kind {
    /** Two's complement of 1, 2, 4 or 8 bytes. */
    INTEGER("integer"),
    /** Unsigned of 1, 2, 4 or 8 bytes. */
    UNSIGNED("unsigned"),
    /** IEEE 754 of 4 or 8 bytes; 12 and 16 bytes are handed on as they are. */
    FLOAT("float"),
    /** One byte without a character set. */
    CHAR("char"),
    /** Unsigned of 1, 2, 4 or 8 bytes. */
    ENUMERATION("enumeration"),
    /** As an enumeration: 0 is false, all else true. */
    BOOLEAN("boolean"),
    /** A slot that refers to bytes ended by 0. */
    STRING("string"),
    /** Another structure of the same format. */
    STRUCTURE("structure");

    private final String text;

    Kind(String text) {
        this.text = text;
    }

    /** Returns whether values are whole numbers; a char is one. */
    public boolean isWhole() {
        return this != FLOAT && this != STRING && this != STRUCTURE;
    }

    /** Returns whether a structure's field of this kind may say how many elements an array has. */
    boolean mayCount() {
        return this == INTEGER || this == UNSIGNED;
    }

    /** Returns whether FFS allows a leaf of this many bytes; strings and structures are checked by the format. */
    boolean allows(int bytes) {
        return switch (this) {
            case CHAR -> bytes == 1;
            case FLOAT -> bytes == 4 || bytes == 8 || bytes == 12 || bytes == 16;
            case STRING, STRUCTURE -> true;
            default -> bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
        };
    }

    @Override
    public String toString() {
        return text;
    }
}
