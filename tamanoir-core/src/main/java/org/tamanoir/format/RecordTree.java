package org.tamanoir.format;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a record into objects: structures as maps by name in the order of offsets, arrays as lists, whole numbers as
 * {@link Long} ({@link BigInteger} beyond), floats as {@link Double}, strings as {@code byte[]}, others as {@link
 * Opaque}, nothing as null. A structure that is referred to twice is the same map twice.
 *
 * <p>Thread contract: one thread.
 */
public final class RecordTree implements RecordVisitor {
    private final List<Map<String, @Nullable Object>> byId = new ArrayList<>();
    private final Deque<Object> open = new ArrayDeque<>();
    private @Nullable Map<String, @Nullable Object> top;
    private @Nullable Field field;

    private RecordTree() {}

    /**
     * Returns the record's values.
     *
     * @throws FormatException as {@link RecordWalker#walk}
     */
    public static Map<String, @Nullable Object> read(RecordView record) {
        RecordTree tree = new RecordTree();
        new RecordWalker().walk(record, tree);
        if (tree.top == null) {
            throw new IllegalStateException("a walk begins with the top structure");
        }
        return tree.top;
    }

    @SuppressWarnings("unchecked") // What is open is a structure or an array.
    private void add(@Nullable Object value) {
        Object in = open.peek();
        if (in instanceof List<?> list) {
            ((List<@Nullable Object>) list).add(value);
        } else if (in != null && field != null) {
            ((Map<String, @Nullable Object>) in).put(field.name(), value);
        }
    }

    @Override
    public void beginStructure(Structure structure, int id) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        if (top == null) {
            top = map;
        }
        if (id >= 0) {
            byId.add(map);
        }
        add(map);
        open.push(map);
    }

    @Override
    public void field(Field next) {
        field = next;
    }

    @Override
    public void endStructure() {
        open.pop();
    }

    @Override
    public void beginArray(int count) {
        List<@Nullable Object> list = new ArrayList<>();
        add(list);
        open.push(list);
    }

    @Override
    public void endArray() {
        open.pop();
    }

    @Override
    public void nullValue() {
        add(null);
    }

    @Override
    public void reference(int id) {
        add(byId.get(id));
    }

    @Override
    public void whole(Kind kind, long value) {
        if (value < 0 && kind != Kind.INTEGER) {
            add(new BigInteger(Long.toUnsignedString(value)));
        } else {
            add(value);
        }
    }

    @Override
    public void floating(double value, int bytes) {
        add(value);
    }

    @Override
    public void opaque(ByteBuffer memory, int at, int bytes) {
        add(new Opaque(copy(memory, at, bytes)));
    }

    @Override
    public void text(ByteBuffer memory, int at, int bytes) {
        add(copy(memory, at, bytes));
    }

    private static byte[] copy(ByteBuffer memory, int at, int bytes) {
        byte[] copy = new byte[bytes];
        memory.get(at, copy);
        return copy;
    }
}
