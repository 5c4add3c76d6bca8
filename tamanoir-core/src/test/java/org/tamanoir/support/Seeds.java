package org.tamanoir.support;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * Seeds and sizes of random tests. Each commit tries seeds of its own, so that what is played grows with the history
 * while a run stays short; {@code -Pnight} plays more of each. Any thread.
 */
public final class Seeds {
    /** System property: the seed to begin with, to play a failure again. */
    private static final String SEED = "tamanoir.seed";

    /** System property: how many times as much as in a usual run is played; 1 without it. */
    private static final String DEPTH = "tamanoir.depth";

    private static final int PATIENCE_S = 20;

    private Seeds() {}

    /**
     * Returns the seed to begin with and prints it with the option that plays the test again: {@code -Dtamanoir.seed},
     * else the first 28 bits of the name of the commit in the working directory; 1 where git names none, which is printed.
     *
     * @param test whose seed it is, as it is printed
     */
    public static long ofCommit(Class<?> test) {
        Long given = Long.getLong(SEED);
        long seed = given != null ? given : fromGit();
        System.out.println(test.getSimpleName() + ": -D" + SEED + "=" + seed);
        return seed;
    }

    /** Returns so many rounds times {@code -Dtamanoir.depth}. */
    public static int scaled(int rounds) {
        return Math.multiplyExact(rounds, Integer.getInteger(DEPTH, 1));
    }

    private static long fromGit() {
        try {
            Process git = new ProcessBuilder("git", "rev-parse", "HEAD")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String name = new String(git.getInputStream().readNBytes(7), StandardCharsets.US_ASCII);
            git.getInputStream().close();
            if (git.waitFor(PATIENCE_S, TimeUnit.SECONDS) && git.exitValue() == 0) {
                return Long.parseLong(name, 16);
            }
            System.out.println("git rev-parse HEAD names no commit here: each build plays the same seed");
            return 1;
        } catch (IOException | NumberFormatException e) {
            System.out.println("no commit is known, each build plays the same seed: " + e);
            return 1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        }
    }
}
