package org.tamanoir.benchmarks.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Damage to text. Any thread. */
final class Mutations {
    private Mutations() {}

    /** One change: a byte, a piece put in, a stretch taken out, doubled, or cut off. */
    static byte[] text(SplittableRandom random, byte[] bytes, String[] pieces, int maxBytes) {
        int at = random.nextInt(bytes.length + 1);
        int to = Math.min(bytes.length, at + 1 + random.nextInt(40));
        byte[] piece = pieces[random.nextInt(pieces.length)].getBytes(StandardCharsets.UTF_8);
        byte[] changed = switch (random.nextInt(8)) {
            case 0 -> splice(bytes, at, to, new byte[0]);
            case 1 -> splice(bytes, to, to, Arrays.copyOfRange(bytes, at, to));
            case 2 -> random.nextInt(4) == 0 ? Arrays.copyOf(bytes, at) : bytes;
            case 3 -> splice(bytes, at, to, piece);
            case 4, 5 -> splice(bytes, at, at, piece);
            case 6 -> random.nextInt(20) == 0 ? repeated(bytes, at, piece, random.nextInt(maxBytes)) : bytes;
            default -> splice(bytes, at, Math.min(bytes.length, at + 1), new byte[] {(byte) random.nextInt(256)});
        };
        return changed.length > maxBytes ? Arrays.copyOf(changed, maxBytes) : changed;
    }

    private static byte[] repeated(byte[] bytes, int at, byte[] piece, int length) {
        byte[] many = new byte[length];
        for (int i = 0; i < length; i++) {
            many[i] = piece[i % piece.length];
        }
        return splice(bytes, at, at, many);
    }

    private static byte[] splice(byte[] bytes, int from, int to, byte[] instead) {
        byte[] spliced = Arrays.copyOf(bytes, from + instead.length + bytes.length - to);
        System.arraycopy(instead, 0, spliced, from, instead.length);
        System.arraycopy(bytes, to, spliced, from + instead.length, bytes.length - to);
        return spliced;
    }
}
