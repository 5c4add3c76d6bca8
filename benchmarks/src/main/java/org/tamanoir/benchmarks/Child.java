package org.tamanoir.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A process that the comparison started. Load processes answer questions through their standard streams; what
 * they and the forwarders say otherwise goes to a log.
 *
 * <p>Thread contract: one thread, but {@link #kill} from any.
 */
public final class Child implements AutoCloseable {
    private static final long ANSWER_TIMEOUT_S = 240;
    private static final long TERM_TIMEOUT_MS = 1500;

    private final String name;
    private final Process process;
    private final Path log;
    private final Writer questions;
    private final ArrayBlockingQueue<String> answers = new ArrayBlockingQueue<>(16);

    private Child(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
        this.questions = process.outputWriter(StandardCharsets.US_ASCII);
    }

    /** Starts a process whose output goes to a log. */
    static Child start(String name, List<String> command, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        return new Child(name, builder.start(), log);
    }

    /** Starts a process that answers questions. */
    static Child startAnswering(String name, List<String> command, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        Child child = new Child(name, builder.start(), log);
        Thread reader = new Thread(child::readAnswers, name + " answers");
        reader.setDaemon(true);
        reader.start();
        return child;
    }

    private void readAnswers() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
            String line;
            while ((line = lines.readLine()) != null) {
                answers.put(line);
            }
        } catch (IOException | InterruptedException e) {
            // The process is gone: the next question finds that out.
        }
    }

    /** The first line of a load process without the word ready: its port, or nothing. */
    public String awaitReady() throws IOException, InterruptedException {
        String line = answer();
        if (!line.startsWith("ready")) {
            throw new IOException(name + " said '" + line + "' instead of ready");
        }
        return line.substring("ready".length()).trim();
    }

    /** Asks and waits for the answer; its numbers. */
    public long[] ask(String question) throws IOException, InterruptedException {
        String[] words = askLine(question).split(" ");
        long[] numbers = new long[words.length];
        for (int i = 0; i < words.length; i++) {
            numbers[i] = Long.parseLong(words[i]);
        }
        return numbers;
    }

    /** The same for an answer that is text. */
    public String askLine(String question) throws IOException, InterruptedException {
        questions.write(question + "\n");
        questions.flush();
        return answer();
    }

    private String answer() throws IOException, InterruptedException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_TIMEOUT_S);
        while (deadlineNs - System.nanoTime() > 0) {
            String line = answers.poll(100, TimeUnit.MILLISECONDS);
            if (line != null) {
                return line;
            }
            requireAlive();
        }
        throw new IOException(name + " gave no answer in " + ANSWER_TIMEOUT_S + " s");
    }

    /** Fails with the last line of the log if the process has ended. */
    public void requireAlive() throws IOException {
        if (!process.isAlive()) {
            throw new IOException(name + " ended with code " + process.exitValue() + ": " + lastWords());
        }
    }

    /** Whether it runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Of a process that has ended. */
    public int exitCode() {
        return process.exitValue();
    }

    /** The last line of its log. */
    public String lastWords() throws IOException {
        List<String> lines = Files.exists(log) ? Files.readAllLines(log) : List.of();
        return lines.isEmpty() ? "it said nothing" : lines.get(lines.size() - 1);
    }

    /** The process. */
    public ProcessHandle handle() {
        return process.toHandle();
    }

    /** Asks the process to end, and waits; true when it did in time. */
    public boolean terminate(long timeoutMs) throws InterruptedException {
        process.destroy();
        return process.waitFor(timeoutMs, TimeUnit.MILLISECONDS);
    }

    /** Ends what a load process is asked, so that it ends by itself, and waits; true when it did in time. */
    public boolean finish(long timeoutMs) throws IOException, InterruptedException {
        questions.close();
        return process.waitFor(timeoutMs, TimeUnit.MILLISECONDS);
    }

    /** Ends the process and all that it started, at once. */
    void kill() {
        List<ProcessHandle> started = process.descendants().toList();
        process.destroyForcibly();
        started.forEach(ProcessHandle::destroyForcibly);
    }

    /** {@link #kill}, and waits until the process is gone, so that the next one has the processor for itself. */
    @Override
    public void close() {
        kill();
        try {
            process.waitFor(TERM_TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
