package org.tamanoir.services.morph.handler;

import java.nio.ByteBuffer;
import java.util.List;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.Kind;
import org.tamanoir.format.RecordView;

/**
 * The fields of a format by which records belong together, read where they lie: whole numbers of any size and sign,
 * floats, strings (null is the empty one) and arrays of chars. Numbers are the same by value, whatever their size and byte
 * order; a float is no whole number.
 *
 * <p>Thread contract: one thread.
 */
final class Key {
    private static final long PRIME = 0x9E3779B97F4A7C15L;

    private final Accessor[] fields;
    private final Sort[] sorts;
    private final long seed;

    /** How a field is compared. */
    private enum Sort {
        WHOLE,
        FLOAT,
        TEXT,
        CHARS
    }

    /**
     * Resolves the fields.
     *
     * @param seed of the hashes, so that no sender can choose keys that fall together
     * @throws FormatException if the format lacks one, or one is of a kind that is not compared
     */
    Key(Format format, List<String> fields, long seed) {
        this.fields = fields.stream().map(format::accessor).toArray(Accessor[]::new);
        sorts = new Sort[this.fields.length];
        for (int i = 0; i < sorts.length; i++) {
            sorts[i] = sort(this.fields[i]);
        }
        this.seed = seed;
    }

    private static Sort sort(Accessor field) {
        Kind kind = field.kind();
        if (field.isArray()
                ? kind == Kind.CHAR
                : kind != Kind.STRUCTURE && field.type().bytes() <= Long.BYTES) {
            return field.isArray()
                    ? Sort.CHARS
                    : kind == Kind.STRING ? Sort.TEXT : kind.isWhole() ? Sort.WHOLE : Sort.FLOAT;
        }
        throw new FormatException(
                FormatFault.CONVERSION,
                "key " + field.path() + " is " + (field.isArray() ? "an array of " : "") + kind
                        + ": numbers, strings and arrays of chars can be keys");
    }

    /** Refuses another key whose values are never this one's. */
    void requireComparable(Key other) {
        for (int i = 0; i < sorts.length; i++) {
            if (sorts[i] != other.sorts[i]) {
                throw new FormatException(
                        FormatFault.CONVERSION,
                        "key " + fields[i] + " is " + fields[i].kind() + ", " + other.fields[i] + " is "
                                + other.fields[i].kind() + ": translate one of them before");
            }
        }
    }

    /** Returns the hash of a record's key. */
    int hash(RecordView record) {
        long hash = seed;
        for (int i = 0; i < fields.length; i++) {
            hash = switch (sorts[i]) {
                case WHOLE -> mix(hash, fields[i].getLong(record));
                case FLOAT -> mix(hash, bits(fields[i], record));
                default -> bytes(hash, record, start(i, record), length(i, record));
            };
        }
        return (int) (hash ^ hash >>> 32);
    }

    private static long mix(long hash, long value) {
        long product = (hash ^ value) * PRIME;
        return Long.rotateLeft(product, 31) * PRIME ^ product >>> 29;
    }

    /** Returns the bits by which floats are the same: one 0, and one that is no number. */
    private static long bits(Accessor field, RecordView record) {
        return Double.doubleToLongBits(field.getDouble(record) + 0.0);
    }

    private static long bytes(long hash, RecordView record, int at, int length) {
        ByteBuffer memory = record.memory();
        long mixed = mix(hash, length);
        long word = 0;
        for (int i = 0; i < length; i++) {
            word = word << Byte.SIZE | memory.get(at + i) & 0xFF;
            if ((i & 7) == 7) {
                mixed = mix(mixed, word);
                word = 0;
            }
        }
        return (length & 7) == 0 ? mixed : mix(mixed, word);
    }

    /** Returns the index in the memory of a text's first byte. */
    private int start(int field, RecordView record) {
        Accessor one = fields[field];
        if (length(field, record) == 0) {
            return 0;
        }
        return record.base() + (sorts[field] == Sort.TEXT ? one.textAt(record, 0) : one.elementAt(record, 0, 0));
    }

    private int length(int field, RecordView record) {
        Accessor one = fields[field];
        if (sorts[field] == Sort.CHARS) {
            return one.count(record, 0);
        }
        int at = one.textAt(record, 0);
        return at < 0 ? 0 : record.textLength(at);
    }

    /** Returns whether the record has the same key as one of another format, whose key is {@link #requireComparable}. */
    boolean equals(RecordView record, Key other, RecordView another) {
        for (int i = 0; i < fields.length; i++) {
            boolean same = switch (sorts[i]) {
                case WHOLE -> fields[i].getLong(record) == other.fields[i].getLong(another);
                case FLOAT -> bits(fields[i], record) == bits(other.fields[i], another);
                default -> sameBytes(i, record, other, another);
            };
            if (!same) {
                return false;
            }
        }
        return true;
    }

    private boolean sameBytes(int field, RecordView record, Key other, RecordView another) {
        int length = length(field, record);
        if (length != other.length(field, another)) {
            return false;
        }
        int at = start(field, record);
        int there = other.start(field, another);
        for (int i = 0; i < length; i++) {
            if (record.memory().get(at + i) != another.memory().get(there + i)) {
                return false;
            }
        }
        return true;
    }
}
