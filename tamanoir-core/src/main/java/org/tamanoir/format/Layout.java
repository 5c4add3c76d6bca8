package org.tamanoir.format;

import java.nio.ByteOrder;

/**
 * How a writer's machine lays out records.
 *
 * @param order of whole numbers and slots
 * @param pointerBytes of slots, 4 or 8
 * @param floats of floating-point numbers
 * @param version of the description and the record header, 0 to 2
 * @param columnMajor the leftmost index of arrays varies fastest
 */
public record Layout(ByteOrder order, int pointerBytes, FloatFormat floats, int version, boolean columnMajor) {
    /** What a C compiler does on x86-64. */
    public static final Layout X86_64 = new Layout(ByteOrder.LITTLE_ENDIAN, 8, FloatFormat.LITTLE, 2, false);

    /** Checks the bounds. */
    public Layout {
        if (pointerBytes != 4 && pointerBytes != 8) {
            throw new FormatException(
                    FormatFault.DESCRIPTION, "pointers of " + pointerBytes + " bytes: 4 or 8 are known");
        }
        if (version < 0 || version > 2) {
            throw new FormatException(
                    FormatFault.DESCRIPTION, "description of version " + version + ": 0 to 2 are known");
        }
    }

    /** Returns this layout in another byte order, of floating-point numbers too. */
    public Layout withOrder(ByteOrder other) {
        FloatFormat numbers = other == ByteOrder.BIG_ENDIAN ? FloatFormat.BIG : FloatFormat.LITTLE;
        return new Layout(other, pointerBytes, numbers, version, columnMajor);
    }

    /** Returns this layout with slots of 4 or 8 bytes. */
    public Layout withPointerBytes(int bytes) {
        return new Layout(order, bytes, floats, version, columnMajor);
    }

    /** Returns this layout with descriptions of version 0, 1 or 2. */
    public Layout withVersion(int other) {
        return new Layout(order, pointerBytes, floats, other, columnMajor);
    }

    /** Returns this layout with another form of floating-point numbers. */
    public Layout withFloats(FloatFormat other) {
        return new Layout(order, pointerBytes, other, version, columnMajor);
    }

    /** Returns this layout with arrays by columns or by rows. */
    public Layout withColumnMajor(boolean columns) {
        return new Layout(order, pointerBytes, floats, version, columns);
    }

    boolean big() {
        return order == ByteOrder.BIG_ENDIAN;
    }
}
