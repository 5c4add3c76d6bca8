package org.tamanoir.format;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Bob Jenkins' {@code hashlittle2} of lookup3.c (2006, public domain) with both start values 0. */
final class Lookup3 {
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int BLOCK = 12;

    private Lookup3() {}

    /** Returns the first hash in the upper half and the second in the lower. */
    static long hash(byte[] bytes) {
        int a = 0xdeadbeef + bytes.length;
        int b = a;
        int c = a;
        int at = 0;
        int left = bytes.length;
        for (; left > BLOCK; left -= BLOCK, at += BLOCK) {
            a += word(bytes, at);
            b += word(bytes, at + 4);
            c += word(bytes, at + 8);
            a = (a - c) ^ Integer.rotateLeft(c, 4);
            c += b;
            b = (b - a) ^ Integer.rotateLeft(a, 6);
            a += c;
            c = (c - b) ^ Integer.rotateLeft(b, 8);
            b += a;
            a = (a - c) ^ Integer.rotateLeft(c, 16);
            c += b;
            b = (b - a) ^ Integer.rotateLeft(a, 19);
            a += c;
            c = (c - b) ^ Integer.rotateLeft(b, 4);
            b += a;
        }
        if (left > 0) {
            byte[] rest = Arrays.copyOf(Arrays.copyOfRange(bytes, at, bytes.length), BLOCK);
            a += word(rest, 0);
            b += word(rest, 4);
            c += word(rest, 8);
            c = (c ^ b) - Integer.rotateLeft(b, 14);
            a = (a ^ c) - Integer.rotateLeft(c, 11);
            b = (b ^ a) - Integer.rotateLeft(a, 25);
            c = (c ^ b) - Integer.rotateLeft(b, 16);
            a = (a ^ c) - Integer.rotateLeft(c, 4);
            b = (b ^ a) - Integer.rotateLeft(a, 14);
            c = (c ^ b) - Integer.rotateLeft(b, 24);
        }
        return (long) c << 32 | b & 0xFFFFFFFFL;
    }

    private static int word(byte[] bytes, int at) {
        return (int) WORD.get(bytes, at);
    }
}
