package org.tamanoir.format;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A field of a structure.
 *
 * <p>Thread contract: immutable once its format is made.
 */
public final class Field {
    private final FieldText text;
    /** Comes when all structures of the format are known. */
    private @Nullable Type type;

    Field(FieldText text) {
        this.text = text;
    }

    /** Returns the name. */
    public String name() {
        return text.name();
    }

    /** Returns the type as the description says it. */
    public String typeText() {
        return text.type();
    }

    /** Returns the bytes of one leaf, behind all pointers and arrays. */
    public int size() {
        return text.size();
    }

    /** Returns the bytes before the field in its structure. */
    public int offset() {
        return text.offset();
    }

    /** Returns what lies at the offset. */
    public Type type() {
        return Objects.requireNonNull(type);
    }

    void resolve(Type resolved) {
        type = resolved;
    }

    @Override
    public String toString() {
        return name() + " " + typeText();
    }
}
