package org.tamanoir.format;

/** One step of a type, from the slot in the structure to the leaf. */
sealed interface Step {
    /** A slot with the offset of what the next step says. */
    record Pointer() implements Step {}

    /** So many of what the next step says, one behind the other. */
    record Fixed(long count) implements Step {}

    /** As many as a field of the same structure says. */
    record Counted(String field) implements Step {}

    /** The end: a kind; of a structure its name, else an empty one. */
    record Leaf(Kind kind, String structure) implements Step {}
}
