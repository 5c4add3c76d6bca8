package org.tamanoir.format;

/** A field as a description says it: size of a leaf and offset in bytes. */
record FieldText(String name, String type, int size, int offset) {}
