package org.tamanoir.format;

/** What files and streams consist of; the number of a kind on the wire is its place here and 1. */
public enum ItemKind {
    /** A text for readers. */
    COMMENT,
    /** A description and the identifier under which records name it. */
    FORMAT,
    /** A record. */
    DATA,
    /** Where items of the file are. */
    INDEX;

    /** Bytes before what the item holds. */
    int headBytes() {
        return this == COMMENT || this == INDEX ? 4 : 8;
    }
}
