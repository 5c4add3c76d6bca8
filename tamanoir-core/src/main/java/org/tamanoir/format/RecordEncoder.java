package org.tamanoir.format;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes records from objects as {@link RecordTree} gives them, in the C library's order: byte for byte what it writes.
 * Besides, a {@link String} stands for its UTF-8 bytes, a {@link Boolean} for a boolean's 0 or 1. A field that the map
 * lacks is 0 or null; null itself is refused where the record has no room for it. A field that counts an array and is
 * not there gets the array's length. Where a structure leads to itself, a map that pointers lead to twice is written
 * once.
 *
 * <p>Thread contract: one thread.
 */
public final class RecordEncoder {
    private final RecordWriter writer;
    private final List<Frame> frames = new ArrayList<>();
    /** Where the structures lie that slots of recursive structures lead to: one map may be written as several. */
    private final Map<Structure, Map<Object, Integer>> written = new HashMap<>();

    private @Nullable Object top;

    /** A structure or the elements of an array, in the order of memory, that are written. */
    private static final class Frame {
        final Structure structure;
        final int structureAt;
        final Type type;
        final int at;
        final int pointers;
        final @Nullable Map<?, ?> values;
        final @Nullable Elements elements;
        /** Fields or elements that are written, the current one among them. */
        int index;

        Frame(
                Structure structure,
                int structureAt,
                Type type,
                int at,
                int pointers,
                @Nullable Map<?, ?> values,
                @Nullable Elements elements) {
            this.structure = structure;
            this.structureAt = structureAt;
            this.type = type;
            this.at = at;
            this.pointers = pointers;
            this.values = values;
            this.elements = elements;
        }

        /** Returns the name of the current field, or the indices of the current element. */
        String place() {
            return elements == null ? structure.fields().get(index - 1).name() : elements.indices(index - 1);
        }
    }

    /** The elements of an array in the order of memory. */
    private record Elements(@Nullable Object[] values, int[] counts, int[] strides) {
        String indices(int element) {
            StringBuilder indices = new StringBuilder();
            for (int n = 0; n < counts.length; n++) {
                indices.append('[').append(element / strides[n] % counts[n]).append(']');
            }
            return indices.toString();
        }
    }

    /** Makes an encoder of records of this format. */
    public RecordEncoder(Format format) {
        writer = new RecordWriter(format);
    }

    /** Returns an encoded record. */
    public byte[] encode(Map<String, ?> values) {
        writer.begin(writer.format());
        byte[] record = new byte[write(values)];
        writer.memory().get(0, record);
        return record;
    }

    /**
     * Writes a record into lent memory, and returns its bytes.
     *
     * @throws FormatException if a value does not fit its field, or the record its memory
     */
    public int encode(Map<String, ?> values, ByteBuffer into, int at) {
        writer.begin(writer.format(), into, at);
        return write(values);
    }

    private int write(Map<String, ?> values) {
        frames.clear();
        written.clear();
        top = values;
        try {
            structure(writer.format().top(), values, 0, 0);
            while (!frames.isEmpty()) {
                Frame frame = frames.get(frames.size() - 1);
                if (frame.elements != null) {
                    element(frame, frame.elements);
                } else {
                    field(frame);
                }
            }
        } catch (FormatException e) {
            throw e.inField(path());
        }
        return writer.finish();
    }

    /** Returns the place of the value that is written. */
    private String path() {
        StringBuilder path = new StringBuilder();
        for (Frame frame : frames) {
            if (frame.index > 0) {
                path.append(frame.elements == null && path.length() > 0 ? "." : "")
                        .append(frame.place());
            }
        }
        return path.toString();
    }

    private void structure(Structure structure, Object value, int at, int pointers) {
        if (!(value instanceof Map<?, ?> values)) {
            throw fault("structure '" + Texts.shown(structure.name()) + "' needs its fields, not " + shown(value));
        }
        Frame frame = new Frame(structure, at, Type.structure(structure, 0), at, pointers, values, null);
        frames.add(frame);
        for (Field field : structure.fields()) {
            frame.index++;
            Type type = field.type();
            Object own = values.get(field.name());
            if (own == null && values.containsKey(field.name())) {
                requireNullable(type);
            } else if (type.isLeaf() && type.scalar() != null && own != null) {
                scalar(type, own, at + field.offset());
            }
        }
        frame.index = 0;
        for (Field field : structure.fields()) {
            frame.index++;
            Object own = values.get(field.name());
            if (own instanceof List<?> || own instanceof byte[]) {
                counts(field, own, values, at);
            }
        }
        frame.index = 0;
    }

    /** Writes the lengths of an array to the fields that count it and have no value. */
    private void counts(Field field, Object array, Map<?, ?> values, int at) {
        Type type = field.type();
        while (type.isPointer()) {
            type = type.target();
        }
        Object level = array;
        for (Dimension dimension : type.dimensions()) {
            int length = length(level);
            Field control = dimension.control();
            if (control != null && values.get(control.name()) == null) {
                writer.putLong(
                        control.type(),
                        at + control.offset(),
                        ExactNumbers.whole(control.type(), BigInteger.valueOf(Math.max(0, length))));
            }
            level = level instanceof List<?> list && !list.isEmpty() ? list.get(0) : null;
        }
    }

    private static int length(@Nullable Object array) {
        return array instanceof List<?> list ? list.size() : array instanceof byte[] bytes ? bytes.length : -1;
    }

    private void field(Frame frame) {
        if (frame.index == frame.structure.fields().size()) {
            frames.remove(frames.size() - 1);
            return;
        }
        Field field = frame.structure.fields().get(frame.index++);
        Object value = frame.values == null ? null : frame.values.get(field.name());
        if (value != null && !(field.type().isLeaf() && field.type().scalar() != null)) {
            value(frame, field.type(), frame.at + field.offset(), value);
        }
    }

    private void element(Frame frame, Elements elements) {
        if (frame.index == elements.values.length) {
            frames.remove(frames.size() - 1);
            return;
        }
        int at = frame.at + frame.index * frame.type.bytes();
        Object value = elements.values[frame.index++];
        if (value != null) {
            value(frame, frame.type, at, value);
        } else {
            requireNullable(frame.type);
        }
    }

    /** Refuses null for what is no pointer in the record: it would come back as 0. */
    private static void requireNullable(Type type) {
        if (!type.isPointer() && (type.isArray() || type.kind() != Kind.STRING)) {
            throw fault("needs "
                    + (type.isArray() ? "a list" : type.structure() != null ? "its fields" : "a number")
                    + ", not null");
        }
    }

    private void value(Frame frame, Type of, int slot, Object value) {
        Type type = of;
        int at = slot;
        int pointers = frame.pointers;
        while (type.isPointer()) {
            if (++pointers > FormatLimits.POINTER_DEPTH) {
                throw new FormatException(
                        FormatFault.DEPTH,
                        "more than " + FormatLimits.POINTER_DEPTH + " pointers one behind the other");
            }
            if (value == top) {
                throw fault("leads back to the top structure, which no slot can refer to");
            }
            type = type.target();
            if (type.isArray()) {
                long elements = elements(type, frame.structureAt);
                int[] counts = counts(type, frame.structureAt);
                if (elements > 0 || counts[0] == 0) {
                    requireShape(value, 0, counts);
                }
                if (elements == 0) {
                    return;
                }
                at = writer.putBlock(at, elements * type.target().bytes());
                continue;
            }
            Structure shared = type.isLeaf() && frame.structure.isRecursive() ? type.structure() : null;
            Map<Object, Integer> places =
                    shared == null ? null : written.computeIfAbsent(shared, any -> new IdentityHashMap<>());
            Integer known = places == null ? null : places.get(value);
            if (known != null) {
                writer.putReference(at, known);
                return;
            }
            at = writer.putBlock(at, type.bytes());
            if (places != null) {
                places.put(value, at);
            }
        }
        if (type.isArray()) {
            if (!of.isPointer()) {
                requireShape(value, 0, counts(type, frame.structureAt));
            }
            array(frame, type, at, value, pointers);
        } else if (type.structure() != null) {
            structure(type.structure(), value, at, pointers);
        } else {
            leaf(type, value, at);
        }
    }

    private long elements(Type array, int structureAt) {
        long all = 1;
        for (Dimension dimension : array.dimensions()) {
            long count = writer.count(dimension, structureAt);
            if (count == 0) {
                return 0;
            }
            all = Math.min(FormatLimits.FIXED_ELEMENTS, all * count);
        }
        return all;
    }

    private void array(Frame frame, Type array, int at, Object value, int pointers) {
        int[] counts = counts(array, frame.structureAt);
        long all = elements(array, frame.structureAt);
        if (all > FormatLimits.ITEM_BYTES) {
            throw new FormatException(
                    FormatFault.COUNT, "array of " + all + " elements: at most " + FormatLimits.ITEM_BYTES);
        }
        @Nullable Object[] elements = new Object[(int) all];
        int[] strides = new int[counts.length];
        boolean columns = writer.format().layout().columnMajor();
        int stride = 1;
        for (int n = 0; n < counts.length; n++) {
            int i = columns ? n : counts.length - 1 - n;
            strides[i] = stride;
            stride *= counts[i];
        }
        flatten(value, 0, counts, strides, 0, elements);
        frames.add(new Frame(
                frame.structure,
                frame.structureAt,
                array.target(),
                at,
                pointers,
                null,
                new Elements(elements, counts, strides)));
    }

    private int[] counts(Type array, int structureAt) {
        int[] counts = new int[array.dimensions().size()];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = (int)
                    Math.min(Integer.MAX_VALUE, writer.count(array.dimensions().get(i), structureAt));
        }
        return counts;
    }

    /** Refuses lists of other lengths than the counts before memory is taken for what these announce. */
    private static void requireShape(@Nullable Object value, int dimension, int[] counts) {
        int count = length(value);
        if (count != counts[dimension]) {
            throw fault("needs " + counts[dimension] + " elements, not "
                    + (count < 0 ? value == null ? "null" : shown(value) : count + ""));
        }
        if (dimension + 1 < counts.length) {
            for (int i = 0; i < count; i++) {
                requireShape(value instanceof List<?> list ? list.get(i) : null, dimension + 1, counts);
            }
        }
    }

    /** Puts the elements of nested lists to their places; as deep as the array has dimensions, which are few. */
    private static void flatten(
            Object value, int dimension, int[] counts, int[] strides, int at, @Nullable Object[] elements) {
        for (int i = 0; i < counts[dimension]; i++) {
            Object one = value instanceof List<?> list ? list.get(i) : (Object) (((byte[]) value)[i] & 0xFFL);
            int place = at + i * strides[dimension];
            if (dimension + 1 == counts.length) {
                elements[place] = one;
            } else if (one != null) {
                flatten(one, dimension + 1, counts, strides, place, elements);
            }
        }
    }

    private void leaf(Type type, Object value, int at) {
        if (type.scalar() != null) {
            scalar(type, value, at);
        } else if (value instanceof byte[] text) {
            writer.putText(at, text);
        } else if (value instanceof String text) {
            writer.putText(at, Texts.encode(text));
        } else {
            throw fault("needs a text, not " + shown(value));
        }
    }

    private void scalar(Type type, Object value, int at) {
        boolean isNumber = type.bytes() == Float.BYTES || type.bytes() == Double.BYTES;
        if (value instanceof Opaque opaque
                && type.kind() == Kind.FLOAT
                && !isNumber
                && opaque.bytes().length == type.bytes()) {
            writer.putBytes(at, opaque.bytes());
        } else if (value instanceof Boolean bit && type.kind() == Kind.BOOLEAN) {
            writer.putLong(type, at, bit ? 1 : 0);
        } else if (!(value instanceof Number number)) {
            throw fault("needs a number, not " + shown(value));
        } else if (type.kind() == Kind.FLOAT) {
            if (!isNumber) {
                throw fault("has " + type.bytes() + " bytes, which are handed on as they are, not as " + shown(value));
            }
            writer.putDouble(type, at, ExactNumbers.floating(type, number));
        } else if (number instanceof BigInteger large) {
            writer.putLong(type, at, ExactNumbers.whole(type, large));
        } else if (number instanceof Double || number instanceof Float || number instanceof BigDecimal) {
            throw fault("needs a whole number, not " + shown(value));
        } else {
            writer.putLong(type, at, ExactNumbers.whole(type, BigInteger.valueOf(number.longValue())));
        }
    }

    private static String shown(Object value) {
        return value instanceof Map
                ? "an object"
                : value instanceof List
                        ? "a list"
                        : value instanceof byte[] || value instanceof Opaque ? "bytes" : Texts.shown(value + "");
    }

    private static FormatException fault(String message) {
        return new FormatException(FormatFault.VALUE, message);
    }
}
