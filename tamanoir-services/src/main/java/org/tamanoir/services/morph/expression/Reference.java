package org.tamanoir.services.morph.expression;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Kind;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.Structure;
import org.tamanoir.services.morph.expression.Closures.Place;

/**
 * Where a part of an expression refers to: a path from a place. Reads as null, 0 and nothing behind null pointers.
 *
 * @param from where the path begins; null: the top structure
 * @param base the structure that the path begins at; null at an element
 */
record Reference(@Nullable Place from, @Nullable Structure base, Accessor accessor) {
    private int at(RecordView record) {
        return from == null ? 0 : from.at(record);
    }

    boolean isTop() {
        return from == null;
    }

    long whole(RecordView record) {
        int at = at(record);
        return at < 0 ? 0 : accessor.getLong(record, at);
    }

    double floating(RecordView record) {
        int at = at(record);
        return at < 0 ? 0 : accessor.getDouble(record, at);
    }

    void text(RecordView record, TextView into) {
        int at = at(record);
        if (accessor.isArray()) {
            int count = at < 0 ? 0 : accessor.count(record, at);
            if (count == 0) {
                into.setEmpty();
                return;
            }
            into.set(record.memory(), record.base() + accessor.elementAt(record, at, 0), count);
            return;
        }
        int place = at < 0 ? -1 : accessor.textAt(record, at);
        if (place < 0) {
            into.setEmpty();
        } else {
            ByteBuffer memory = record.memory();
            into.set(memory, record.base() + place, record.textLength(place));
        }
    }

    boolean isNull(RecordView record) {
        int at = at(record);
        return at < 0 || accessor.isNull(record, at);
    }

    int count(RecordView record) {
        int at = at(record);
        return at < 0 ? 0 : accessor.count(record, at);
    }

    int structureAt(RecordView record) {
        int at = at(record);
        return at < 0 ? -1 : accessor.structureAt(record, at);
    }

    /** Returns the place of an element. */
    int elementAt(RecordView record, long index) {
        int at = at(record);
        if (at < 0 || index < 0 || index >= accessor.count(record, at)) {
            throw EvaluationException.INDEX;
        }
        return accessor.elementAt(record, at, (int) index);
    }

    /** Returns whether this is an array whose elements are numbered by one index and read one by one. */
    boolean isList() {
        return accessor.isArray() && accessor.type().dimensions().size() == 1 && !RecordTypes.isBytes(accessor.type());
    }

    boolean isStructure() {
        return !accessor.isArray() && accessor.kind() == Kind.STRUCTURE;
    }
}
