package org.tamanoir.format;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What lies at a place of a record: a pointer to something, an array of something, or a leaf. An array has all its
 * dimensions at once, so that what is in it is a pointer or a leaf.
 *
 * <p>Thread contract: immutable.
 */
public final class Type {
    private final @Nullable Type target;
    private final List<Dimension> dimensions;
    private final Kind kind;
    private final @Nullable Structure structure;
    private final @Nullable Scalar scalar;
    private final int bytes;

    private Type(
            @Nullable Type target,
            List<Dimension> dimensions,
            Kind kind,
            @Nullable Structure structure,
            @Nullable Scalar scalar,
            int bytes) {
        this.target = target;
        this.dimensions = dimensions;
        this.kind = kind;
        this.structure = structure;
        this.scalar = scalar;
        this.bytes = bytes;
    }

    static Type leaf(Kind kind, int bytes, Layout layout) {
        return new Type(
                null, List.of(), kind, null, kind == Kind.STRING ? null : Scalar.of(kind, bytes, layout), bytes);
    }

    static Type structure(Structure structure, int bytes) {
        return new Type(null, List.of(), Kind.STRUCTURE, structure, null, bytes);
    }

    static Type pointer(Type target, int bytes) {
        return new Type(target, List.of(), target.kind, target.structure, null, bytes);
    }

    /** Makes an array; {@code bytes} are -1 where fields say how many elements there are. */
    static Type array(Type element, List<Dimension> dimensions, int bytes) {
        return new Type(element, dimensions, element.kind, element.structure, null, bytes);
    }

    /** Returns whether a slot with an offset lies here; of a string see {@link #kind}. */
    public boolean isPointer() {
        return target != null && dimensions.isEmpty();
    }

    /** Returns whether elements lie here. */
    public boolean isArray() {
        return !dimensions.isEmpty();
    }

    /** Returns whether neither a pointer nor an array lies here. */
    public boolean isLeaf() {
        return target == null;
    }

    /** Returns what the pointer leads to, or what the array consists of. */
    public Type target() {
        if (target == null) {
            throw new IllegalStateException("a leaf of kind " + kind + " leads nowhere: ask isLeaf() first");
        }
        return target;
    }

    /** Returns the dimensions of the array, outermost first; none where it is no array. */
    public List<Dimension> dimensions() {
        return dimensions;
    }

    /** Returns the kind of the leaf, behind all pointers and arrays. */
    public Kind kind() {
        return kind;
    }

    /** Returns the structure of the leaf, behind all pointers and arrays; null for other kinds. */
    public @Nullable Structure structure() {
        return structure;
    }

    /** Returns how the simple leaf that lies here is read; null for all others. */
    @Nullable
    Scalar scalar() {
        return scalar;
    }

    /** Returns the bytes here; -1 for an array whose count stands in the record. */
    public int bytes() {
        return bytes;
    }

    /** Returns whether there are strings or pointers here, so that a record needs more than its base. */
    boolean isVariable() {
        return isPointer()
                || (target != null
                        ? target.isVariable()
                        : kind == Kind.STRING || structure != null && structure.isVariable());
    }
}
