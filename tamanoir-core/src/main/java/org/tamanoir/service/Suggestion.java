package org.tamanoir.service;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Finds what a user most likely meant, by edit distance: letters added, left out, replaced (Levenshtein
 * 1966) or swapped with their neighbour (Damerau 1964, restricted: no letter is edited twice). */
public final class Suggestion {
    private Suggestion() {}

    /** Returns {@code "; did you mean WORD?"}; empty if no known word is near. */
    public static String of(String word, Collection<String> known) {
        return nearest(word, known).map(near -> "; did you mean " + near + "?").orElse("");
    }

    /** Returns the known word that is nearest, if a third of its letters or less have to change. */
    public static Optional<String> nearest(String word, Collection<String> known) {
        String nearest = null;
        int best = Integer.MAX_VALUE;
        for (String candidate : known) {
            if (Math.abs(word.length() - candidate.length()) > candidate.length()) {
                continue;
            }
            int distance = distance(normal(word), normal(candidate));
            if (distance < best && distance <= Math.max(1, candidate.length() / 3)) {
                best = distance;
                nearest = candidate;
            }
        }
        return Optional.ofNullable(nearest);
    }

    private static String normal(String word) {
        return word.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static int distance(String from, String to) {
        int[][] d = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                boolean same = from.charAt(i - 1) == to.charAt(j - 1);
                d[i][j] = Math.min(d[i - 1][j - 1] + (same ? 0 : 1), Math.min(d[i - 1][j], d[i][j - 1]) + 1);
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[from.length()][to.length()];
    }
}
