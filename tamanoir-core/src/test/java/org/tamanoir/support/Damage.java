package org.tamanoir.support;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/** Damages inputs of readers of text: no octet, one or some are others, gone, or there twice. One thread. */
public final class Damage {
    private static final byte[] SPECIAL =
            "\0\t\n\r \"'&<>/\\,:{}[]-+.0179eEdfuxNI\u0081é٣\uFEFF😀".getBytes(StandardCharsets.UTF_8);

    private Damage() {}

    /** Returns numbers of their own for each of seeds that follow one another. */
    public static Random random(long seed) {
        return new Random(seed * 0x9E37_79B9_7F4A_7C15L);
    }

    /** Returns the text as it is, or damaged, as often as not. */
    public static byte[] of(byte[] text, Random random) {
        byte[] damaged = text;
        for (int n = random.nextBoolean() ? 0 : 1 + random.nextInt(3); n > 0; n--) {
            int at = random.nextInt(damaged.length + 1);
            int gone = random.nextInt(3) == 0 ? 0 : Math.min(damaged.length - at, 1 + random.nextInt(3));
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.write(damaged, 0, at);
            switch (random.nextInt(4)) {
                case 0 -> out.write(SPECIAL[random.nextInt(SPECIAL.length)]);
                case 1 -> out.write(random.nextInt(256));
                case 2 -> {
                    int from = random.nextInt(damaged.length + 1);
                    out.writeBytes(
                            Arrays.copyOfRange(damaged, from, Math.min(damaged.length, from + random.nextInt(8))));
                }
                default -> {} // Something is gone.
            }
            out.write(damaged, at + gone, damaged.length - at - gone);
            damaged = out.toByteArray();
        }
        return damaged;
    }

    /** Returns one of the values. */
    @SafeVarargs
    public static <T> T any(Random random, T... values) {
        return values[random.nextInt(values.length)];
    }
}
