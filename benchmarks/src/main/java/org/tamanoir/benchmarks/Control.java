package org.tamanoir.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A load process's side of the pipe to the comparison: each line that comes in is a question and gets one line
 * back. The process ends with the pipe, so that none outlives the comparison.
 *
 * <p>Thread contract: the main thread of the process.
 */
public final class Control {
    /** What answers a question. */
    interface Answer {
        String get() throws Exception;
    }

    /** What answers all questions. */
    public interface Answers {
        /**
         * The answer to one.
         *
         * @param words of the question, split at blanks
         */
        String get(String[] words) throws Exception;
    }

    private Control() {}

    /**
     * Says {@code ready}, then answers until the pipe ends.
     *
     * @param ready what the comparison must know first: a port, or nothing
     */
    static void serve(String ready, Map<String, Answer> answers) throws Exception {
        serve(ready, words -> {
            Answer answer = answers.get(words[0]);
            if (answer == null) {
                throw new IOException("no answer to '" + words[0] + "': known are " + answers.keySet());
            }
            return answer.get();
        });
    }

    /** The same with questions of several words. */
    public static void serve(String ready, Answers answers) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        say(("ready " + ready).trim());
        String question;
        while ((question = questions.readLine()) != null) {
            say(answers.get(question.split(" ")));
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
