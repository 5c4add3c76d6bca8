package org.tamanoir.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * A load process's side of the pipe to the comparison: each line that comes in is a question and gets one line
 * back. The process ends with the pipe, so that none outlives the comparison.
 *
 * <p>Thread contract: the main thread of the process.
 */
public final class Control {
    /** What answers questions. */
    public interface Answers {
        /** Returns the answer to a question, which was split at blanks. */
        String get(String[] words) throws Exception;
    }

    private Control() {}

    /**
     * Says {@code ready}, then answers until the pipe ends.
     *
     * @param ready what the comparison must know first: a port, or nothing
     */
    public static void serve(Object ready, Answers answers) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        say(("ready " + ready).trim());
        String question;
        while ((question = questions.readLine()) != null) {
            say(answers.get(question.split(" ")));
        }
    }

    /** Returns what answers a question that there is none for. */
    public static IOException unknown(String question, String known) {
        return new IOException("no answer to '" + question + "': known are " + known);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
