package org.tamanoir.services.morph.expression;

/** What an expression results in. */
public enum ResultType {
    BOOL,
    /** 64 bits, signed. */
    INT,
    /** 64 bits, unsigned. */
    UINT,
    DOUBLE,
    /** Bytes that are UTF-8 as far as the sender wrote it so. */
    STRING,
    BYTES,
    /** A list, a map, a structure, a time: {@link Expression#value} alone gives it. */
    OTHER
}
