package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Walks through all values of a record, on a stack of its own: lists and trees of any shape are legal up to {@link
 * FormatLimits#POINTER_DEPTH} pointers one behind the other, {@link FormatLimits#NESTING} structures and arrays in one
 * another, {@link FormatLimits#values} values and {@link FormatLimits#textBytes} of text.
 *
 * <p>Thread contract: one thread.
 */
public final class RecordWalker {
    /** Is told and does nothing. */
    private static final RecordVisitor NOBODY = new RecordVisitor() {
        @Override
        public void beginStructure(Structure structure, int id) {}

        @Override
        public void field(Field field) {}

        @Override
        public void endStructure() {}

        @Override
        public void beginArray(int count) {}

        @Override
        public void endArray() {}

        @Override
        public void nullValue() {}

        @Override
        public void reference(int id) {}

        @Override
        public void whole(Kind kind, long value) {}

        @Override
        public void floating(double value, int bytes) {}

        @Override
        public void opaque(ByteBuffer memory, int at, int bytes) {}

        @Override
        public void text(ByteBuffer memory, int at, int bytes) {}
    };

    private final List<Frame> frames = new ArrayList<>();
    private Map<Long, Integer> ids = new HashMap<>();
    /** The most that {@link #ids} held: its table is as large. */
    private int idsPeak;

    private int depth;
    private long valuesLeft;
    private long textLeft;
    private boolean graph;
    private int nextId;

    /** What is walked through: a structure, or a dimension of an array. */
    private static final class Frame {
        Type type;
        int dimension;
        /** The structure that has the counts of an array. */
        int structureAt;

        int at;
        int index;
        int count;
        int stride;
        int pointers;

        Frame(Type type) {
            this.type = type;
        }
    }

    /**
     * Tells the visitor all that the record holds.
     *
     * @throws FormatException if it refers to bytes outside it, nests too deep or unfolds into too many values
     */
    public void walk(RecordView record, RecordVisitor visitor) {
        Structure top = record.format().top();
        depth = 0;
        forget();
        nextId = 0;
        graph = top.isRecursive();
        valuesLeft = FormatLimits.values(record.bodyLength());
        textLeft = FormatLimits.textBytes(record.bodyLength());
        enter(visitor, Type.structure(top, top.recordLength()), top, 0, 0, false);
        while (depth > 0) {
            Frame frame = frames.get(depth - 1);
            if (frame.type.isArray()) {
                element(record, visitor, frame);
            } else {
                field(record, visitor, frame);
            }
        }
    }

    /**
     * Looks at all that the record holds.
     *
     * @throws FormatException as {@link #walk}
     */
    public void check(RecordView record) {
        walk(record, NOBODY);
    }

    /** Drops the table of a large record once a small one came behind it, for clearing takes as long as it is large. */
    private void forget() {
        if (8 * ids.size() < idsPeak) {
            ids = new HashMap<>();
            idsPeak = 0;
        } else {
            idsPeak = Math.max(idsPeak, ids.size());
            ids.clear();
        }
    }

    private void field(RecordView record, RecordVisitor visitor, Frame frame) {
        if (frame.index == frame.count) {
            depth--;
            visitor.endStructure();
            return;
        }
        Field field = fields(frame.type).get(frame.index++);
        // A name of a megabyte in front of each byte is as much as a value, or more.
        valuesLeft -= field.name().length() / FormatLimits.FREE_NAME;
        visitor.field(field);
        value(record, visitor, field.type(), frame.at, frame.at + field.offset(), frame.pointers);
    }

    private void element(RecordView record, RecordVisitor visitor, Frame frame) {
        if (frame.index == frame.count) {
            depth--;
            visitor.endArray();
            return;
        }
        int at = frame.at + frame.index++ * frame.stride;
        if (frame.dimension + 1 < frame.type.dimensions().size()) {
            enter(record, visitor, frame.type, frame.dimension + 1, frame.structureAt, at, frame.pointers);
        } else {
            value(record, visitor, frame.type.target(), frame.structureAt, at, frame.pointers);
        }
    }

    private void value(RecordView record, RecordVisitor visitor, Type of, int structureAt, int slot, int before) {
        Type type = of;
        int at = slot;
        int pointers = before;
        while (type.isPointer()) {
            type = type.target();
            at = record.follow(at, type, structureAt);
            if (at < 0) {
                spend();
                visitor.nullValue();
                return;
            }
            if (++pointers > FormatLimits.POINTER_DEPTH) {
                throw new FormatException(
                        FormatFault.DEPTH,
                        "more than " + FormatLimits.POINTER_DEPTH + " pointers one behind the other");
            }
        }
        if (type.isArray()) {
            enter(record, visitor, type, 0, structureAt, at, pointers);
        } else if (type.structure() != null) {
            enter(visitor, type, type.structure(), at, pointers, pointers > before);
        } else {
            leaf(record, visitor, type, at);
        }
    }

    private static List<Field> fields(Type type) {
        Structure structure = type.structure();
        return structure == null ? List.of() : structure.fields();
    }

    private void enter(RecordVisitor visitor, Type type, Structure structure, int at, int pointers, boolean byPointer) {
        spend();
        int id = RecordVisitor.NONE;
        if (graph) {
            long identity = (long) at * FormatLimits.STRUCTURES + structure.number();
            Integer known = ids.putIfAbsent(identity, nextId);
            if (known != null && byPointer) {
                visitor.reference(known);
                return;
            }
            id = nextId++;
        }
        visitor.beginStructure(structure, id);
        Frame frame = push(type, at, pointers);
        frame.count = structure.fields().size();
    }

    private void enter(
            RecordView record, RecordVisitor visitor, Type type, int dimension, int structureAt, int at, int pointers) {
        spend();
        List<Dimension> all = type.dimensions();
        boolean columns = record.format().layout().columnMajor();
        // What lies between two neighbours: all elements of the dimensions inside, by columns of those outside.
        long stride = type.target().bytes();
        for (int i = columns ? 0 : dimension + 1; i < (columns ? dimension : all.size()); i++) {
            stride *= record.count(all.get(i), structureAt);
        }
        int count = (int) record.count(all.get(dimension), structureAt);
        visitor.beginArray(count);
        Frame frame = push(type, at, pointers);
        frame.dimension = dimension;
        frame.structureAt = structureAt;
        frame.stride = (int) stride;
        frame.count = count;
    }

    private Frame push(Type type, int at, int pointers) {
        if (depth >= FormatLimits.NESTING) {
            throw new FormatException(
                    FormatFault.DEPTH, "more than " + FormatLimits.NESTING + " structures and arrays in one another");
        }
        if (depth == frames.size()) {
            frames.add(new Frame(type));
        }
        Frame frame = frames.get(depth++);
        frame.type = type;
        frame.at = at;
        frame.pointers = pointers;
        frame.index = 0;
        return frame;
    }

    private void leaf(RecordView record, RecordVisitor visitor, Type type, int at) {
        spend();
        Scalar scalar = type.scalar();
        int index = record.base() + at;
        if (scalar == null) {
            int text = record.follow(at);
            if (text < 0) {
                visitor.nullValue();
            } else {
                int length = record.textLength(text);
                textLeft -= length;
                if (textLeft < 0) {
                    throw new FormatException(
                            FormatFault.BUDGET,
                            "record unfolds into more than " + FormatLimits.textBytes(record.bodyLength())
                                    + " bytes of text");
                }
                visitor.text(record.memory(), record.base() + text, length);
            }
        } else if (scalar.isOpaque()) {
            visitor.opaque(record.memory(), index, scalar.bytes());
        } else if (type.kind() == Kind.FLOAT) {
            visitor.floating(scalar.getDouble(record.memory(), index), scalar.bytes());
        } else {
            visitor.whole(type.kind(), scalar.getLong(record.memory(), index));
        }
    }

    private void spend() {
        if (--valuesLeft < 0) {
            throw new FormatException(
                    FormatFault.BUDGET, "record unfolds into more values than 4 times its bytes + 1024");
        }
    }
}
