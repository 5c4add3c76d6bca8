package org.tamanoir.format;

import java.nio.ByteBuffer;

/** Is told what a record holds, in the order of the fields' offsets and of rows; see {@link RecordWalker}. */
public interface RecordVisitor {
    /** No identity: the record's format leads to no structure again. */
    int NONE = -1;

    /** Begins a structure; {@code id} is its number in the order of first visits, or {@link #NONE}. */
    void beginStructure(Structure structure, int id);

    /** Says whose value comes next. */
    void field(Field field);

    /** Ends the structure that was begun last. */
    void endStructure();

    /** Begins an array, or one dimension of it. */
    void beginArray(int count);

    /** Ends the array that was begun last. */
    void endArray();

    /** A null pointer, a null string, or an array by a count of 0. */
    void nullValue();

    /** A pointer to the structure that was given this number. */
    void reference(int id);

    /** A whole number; of {@link Kind#UNSIGNED} all 64 bits count. */
    void whole(Kind kind, long value);

    /** A float of 4 or 8 bytes, exactly. */
    void floating(double value, int bytes);

    /** A number without a portable meaning: its bytes. */
    void opaque(ByteBuffer memory, int at, int bytes);

    /** A string: its bytes without the 0. */
    void text(ByteBuffer memory, int at, int bytes);
}
