package org.tamanoir.support;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * Seeds and sizes of random tests. Each commit tries seeds of its own, so that what is played grows with the history
 * while a run stays short; {@code -Pnight} plays more of each. Any thread.
 */
public final class Seeds {
    /** System property: the seed to begin with, to play a failure again. */
    private static final String SEED = "tamanoir.seed";

    /** System property: how many times as much as in a usual run is played; 1 without it. */
    private static final String DEPTH = "tamanoir.depth";

    /** Seeds that follow the largest are numbers above 0, too. */
    private static final long MOST_SEED = Long.MAX_VALUE - Integer.MAX_VALUE;

    private static final int PATIENCE_S = 20;

    private Seeds() {}

    /**
     * Returns the seed to begin with and prints it with the option that plays the test again: {@code -Dtamanoir.seed},
     * else the first 28 bits of the name of the commit in the working directory; 1 where git names none, which is printed.
     *
     * @param test whose seed it is, as it is printed
     * @throws IllegalArgumentException in one line, if the property is no whole number
     */
    public static long ofCommit(Class<?> test) {
        long seed = System.getProperty(SEED) == null ? Commit.SEED : number(SEED, 0L);
        System.out.println(test.getSimpleName() + ": -D" + SEED + "=" + seed);
        return seed;
    }

    /**
     * Returns the seeds of as many rounds times {@code -Dtamanoir.depth}: {@link #ofCommit(Class)} and those that follow,
     * so that each of them plays its round again as the first.
     */
    public static long[] ofCommit(Class<?> test, int rounds) {
        long first = ofCommit(test);
        return LongStream.range(first, first + scaled(rounds)).toArray();
    }

    /**
     * Returns the rounds times {@code -Dtamanoir.depth}.
     *
     * @throws IllegalArgumentException in one line, if the property is no whole number above 0, or too large
     */
    public static int scaled(int rounds) {
        return rounds * (int) number(DEPTH, 1, 1, Integer.MAX_VALUE / rounds);
    }

    /**
     * Returns the number that a system property of a test gives.
     *
     * @param otherwise the number where the property is not set
     * @throws IllegalArgumentException in one line, if it is no whole number from 0 on, or too large
     */
    public static int number(String property, int otherwise) {
        return (int) number(property, otherwise, 0, Integer.MAX_VALUE);
    }

    /** Returns the number that a system property of a test gives, as {@link #number(String, int)} does. */
    public static long number(String property, long otherwise) {
        return number(property, otherwise, 0, MOST_SEED);
    }

    private static long number(String property, long otherwise, long least, long most) {
        String given = System.getProperty(property);
        if (given == null) {
            return otherwise;
        }
        try {
            long number = Long.parseLong(given);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // refused below, like a number that is out of bounds
        }
        throw new IllegalArgumentException(
                "-D" + property + "=" + given + ": must be a whole number from " + least + " to " + most);
    }

    /** The commit's seed, for which git is asked once. */
    private static final class Commit {
        static final long SEED = fromGit();

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
}
