package org.tamanoir.format;

/** The reasons for which descriptions, records and files are refused; each can be counted by itself. */
public enum FormatFault {
    /** An identifier is none, or not that of the description that came with it. */
    IDENTIFIER,
    /** Nobody has the description of this identifier. */
    UNKNOWN_FORMAT,
    /** A description contradicts itself or a bound. */
    DESCRIPTION,
    /** A type text cannot be read. */
    TYPE,
    /** A record ends before its parts, or its body length lies. */
    LENGTH,
    /** A slot refers to bytes outside the record. */
    OFFSET,
    /** An array announces more elements than there is room for. */
    COUNT,
    /** A string is not ended. */
    STRING,
    /** Pointers nest too deep. */
    DEPTH,
    /** A record unfolds into too many values. */
    BUDGET,
    /** An index lies behind the end of an array. */
    INDEX,
    /** A file or a stream of items is not framed as it has to be. */
    FRAMING,
    /** Two formats do not fit each other, or a value does not fit its target. */
    CONVERSION,
    /** A value does not fit its field, or a record its memory. */
    VALUE
}
