package org.tamanoir.format;

/** A number without a portable meaning: its bytes as they lie in the record. */
public record Opaque(byte[] bytes) {}
