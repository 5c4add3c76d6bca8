package org.tamanoir.benchmarks.cluster;

import java.nio.charset.StandardCharsets;
import java.util.Random;

/**
 * Text of the kind that the paper's heavy service compressed, the sources of Linux 2.4.19 as a tar: C that means nothing,
 * with words as unevenly spread as in real sources, so that it compresses alike. The same bytes in every run. Stateless.
 */
final class Corpus {
    private static final int WORDS = 4000;
    private static final int MAX_DEPTH = 4;
    private static final int ARGUMENTS = 4;
    /** Lines that are written again and again, as sources have them; every second line is one. */
    private static final int IDIOMS = 300;

    /** Words come up by the power 3 of an even spread: few often, most seldom. */
    private static final double UNEVENNESS = 3;

    private static final String CONSONANTS = "bcdfglmnprstvxz";
    private static final String VOWELS = "aeiou";
    private static final String[] TYPES = {
        "int", "unsigned long", "u32", "struct page *", "static inline void", "char *"
    };
    private static final String[] SHAPES = {
        "%s = %s(%s);", "if (%s & %s)", "%s->%s = %d;", "/* %s %s %s. */", "for (%s = 0; %s < %d; %s++) {", "return %s;"
    };

    private final Random random;
    private final String[] words = new String[WORDS];
    private final String[] idioms = new String[IDIOMS];

    private Corpus(long seed) {
        random = new Random(seed);
        for (int i = 0; i < WORDS; i++) {
            StringBuilder word = new StringBuilder();
            for (int more = 1 + random.nextInt(5); more > 0; more--) {
                word.append(CONSONANTS.charAt(random.nextInt(CONSONANTS.length())))
                        .append(VOWELS.charAt(random.nextInt(VOWELS.length())));
                if (random.nextInt(4) == 0) {
                    word.append('_');
                }
            }
            words[i] = word.toString();
        }
        for (int i = 0; i < IDIOMS; i++) {
            StringBuilder idiom = new StringBuilder();
            fill(idiom, SHAPES[i % SHAPES.length]);
            idioms[i] = idiom.toString();
        }
    }

    /** So many bytes of it. */
    static byte[] bytes(long seed, int count) {
        Corpus corpus = new Corpus(seed);
        StringBuilder text = new StringBuilder(count + 200);
        int depth = 0;
        while (text.length() < count) {
            depth = corpus.line(text, depth);
        }
        return text.substring(0, count).getBytes(StandardCharsets.US_ASCII);
    }

    private String word() {
        return words[(int) (WORDS * Math.pow(random.nextDouble(), UNEVENNESS))];
    }

    /** Adds one line; how deep the next one stands. */
    private int line(StringBuilder text, int depth) {
        if (depth == 0) {
            text.append('\n')
                    .append(TYPES[random.nextInt(TYPES.length)])
                    .append(' ')
                    .append(word())
                    .append('(');
            for (int more = random.nextInt(ARGUMENTS); more >= 0; more--) {
                text.append(TYPES[random.nextInt(TYPES.length)])
                        .append(' ')
                        .append(word())
                        .append(more > 0 ? ", " : "");
            }
            text.append(")\n{\n");
            return 1;
        }
        if (random.nextInt(6) == 0) {
            text.append("\t".repeat(depth - 1)).append("}\n");
            return depth - 1;
        }
        text.append("\t".repeat(depth));
        if (random.nextBoolean()) {
            text.append(idioms[(int) (IDIOMS * Math.pow(random.nextDouble(), UNEVENNESS))]);
        } else {
            fill(text, SHAPES[random.nextInt(SHAPES.length)]);
        }
        boolean opens = text.charAt(text.length() - 1) == '{';
        text.append('\n');
        return opens ? Math.min(MAX_DEPTH, depth + 1) : depth;
    }

    private void fill(StringBuilder text, String shape) {
        for (int at = 0; at < shape.length(); at++) {
            if (shape.charAt(at) != '%') {
                text.append(shape.charAt(at));
            } else if (shape.charAt(++at) == 'd') {
                text.append(
                        random.nextInt(5) == 0
                                ? "0x" + Integer.toHexString(random.nextInt(1 << 16))
                                : random.nextInt(64));
            } else {
                text.append(word());
            }
        }
    }
}
