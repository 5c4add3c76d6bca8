package org.tamanoir.kernel.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A program that takes commands a line and answers a line. One test thread asks; one of its own reads what it says, up
 * to {@value #LINES} lines ahead.
 */
final class Program implements AutoCloseable {
    private static final int LINES = 65_536;
    private static final int ANSWER_S = 50;
    private static final String END = "\u0004"; // behind the last line

    private final String name;
    private final Process process;
    private final Writer in;
    private final BlockingQueue<String> lines = new ArrayBlockingQueue<>(LINES);

    private Program(List<String> command) {
        try {
            name = String.join(" ", command);
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            in = process.outputWriter(StandardCharsets.US_ASCII);
            Thread reader = new Thread(this::read, "reader of " + name);
            reader.setDaemon(true);
            reader.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Program start(String... command) {
        return new Program(List.of(command));
    }

    /** Runs a program to its end, which must be good, and gives what it said. */
    static String run(String... command) {
        try (Program program = start(command)) {
            program.in.close();
            assertThat(program.process.waitFor(ANSWER_S, TimeUnit.SECONDS))
                    .as(program.name)
                    .isTrue();
            String said = String.join("\n", program.rest());
            assertThat(program.process.exitValue())
                    .as("%s: %s", program.name, said)
                    .isZero();
            return said;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private List<String> rest() throws IOException, InterruptedException {
        List<String> rest = new ArrayList<>();
        for (String line = next(); !line.equals(END); line = next()) {
            rest.add(line);
        }
        return rest;
    }

    private void read() {
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                lines.put(line);
            }
            lines.put(END);
        } catch (IOException | InterruptedException e) {
            lines.offer(END); // the program was ended
        }
    }

    /** The next line; fails if none comes. */
    String next() {
        try {
            String line = lines.poll(ANSWER_S, TimeUnit.SECONDS);
            assertThat(line).as("%s said nothing for %d s", name, ANSWER_S).isNotNull();
            return String.valueOf(line);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The last of the lines that are there, or null if none comes in a while or the thread is interrupted. */
    @Nullable
    String latest() {
        try {
            String line = lines.poll(100, TimeUnit.MILLISECONDS);
            for (String later = line; later != null; later = lines.poll()) {
                line = later;
            }
            return line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    void tell(String command) {
        try {
            in.write(command + "\n");
            in.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " has ended, having said: " + lines, e);
        }
    }

    /** Tells and gives the next line; any thread may. */
    synchronized String ask(String command) {
        tell(command);
        return next();
    }

    /** Asks for what must be answered with "ok" and perhaps values. */
    String ok(String command) {
        String answer = ask(command);
        assertThat(answer).as("%s: %s", name, command).startsWith("ok");
        return answer;
    }

    /** The number behind NAME= in an answer. */
    static long value(String answer, String name) {
        Matcher matcher = Pattern.compile("\\b" + name + "=(-?\\d+)").matcher(answer);
        assertThat(matcher.find()).as("%s in: %s", name, answer).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    /** Ends it by signal 9. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(ANSWER_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
