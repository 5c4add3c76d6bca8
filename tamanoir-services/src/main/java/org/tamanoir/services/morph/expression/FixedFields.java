package org.tamanoir.services.morph.expression;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordView;

/** What generated predicates call: reads numbers by an order of their own, whatever the buffer's is. */
final class FixedFields {
    private static final VarHandle LITTLE_2 = handle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LITTLE_4 = handle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LITTLE_8 = handle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle BIG_2 = handle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle BIG_4 = handle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle BIG_8 = handle(long[].class, ByteOrder.BIG_ENDIAN);

    private FixedFields() {}

    private static VarHandle handle(Class<?> array, ByteOrder order) {
        return MethodHandles.byteBufferViewVarHandle(array, order);
    }

    /** Refuses a record of another format, whose fields lie elsewhere. */
    static ByteBuffer memory(RecordView record, Object format) {
        if (record.format() != format) {
            throw new IllegalArgumentException(
                    "expression over " + ((Format) format) + ", the record is of " + record.format());
        }
        return record.memory();
    }

    static long little1(ByteBuffer memory, int at) {
        return memory.get(at);
    }

    static long little2(ByteBuffer memory, int at) {
        return (short) LITTLE_2.get(memory, at);
    }

    static long little4(ByteBuffer memory, int at) {
        return (int) LITTLE_4.get(memory, at);
    }

    static long little8(ByteBuffer memory, int at) {
        return (long) LITTLE_8.get(memory, at);
    }

    static long big1(ByteBuffer memory, int at) {
        return memory.get(at);
    }

    static long big2(ByteBuffer memory, int at) {
        return (short) BIG_2.get(memory, at);
    }

    static long big4(ByteBuffer memory, int at) {
        return (int) BIG_4.get(memory, at);
    }

    static long big8(ByteBuffer memory, int at) {
        return (long) BIG_8.get(memory, at);
    }

    static double float4(long bits) {
        return Float.intBitsToFloat((int) bits);
    }
}
