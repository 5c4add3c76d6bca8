package org.tamanoir.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
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
    private static final double KILL_TIMEOUT_S = 1.5;

    private final String name;
    private final Process process;
    private final Path log;
    private final Writer questions;
    private final ArrayBlockingQueue<String> answers = new ArrayBlockingQueue<>(16);
    private String ready = "";

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
        Threads.start(name + " answers", () -> {
            try (BufferedReader lines = child.process.inputReader(StandardCharsets.US_ASCII)) {
                String line;
                while ((line = lines.readLine()) != null) {
                    child.answers.put(line);
                }
            } catch (IOException e) {
                // The process is gone: the next question finds that out.
            }
        });
        return child;
    }

    /** Waits for the first line of a load process. */
    Child awaitReady() throws IOException {
        String line = answer();
        if (!line.startsWith("ready")) {
            throw new IOException(name + " said '" + line + "' instead of ready");
        }
        ready = line.substring("ready".length()).trim();
        return this;
    }

    /** What a load process said when it was ready: its port, or nothing. */
    public String ready() {
        return ready;
    }

    /** Asks and waits for the answer; its numbers. */
    public long[] ask(String question) throws IOException {
        return Arrays.stream(askLine(question).split(" "))
                .mapToLong(Long::parseLong)
                .toArray();
    }

    /** The same for an answer that is text. */
    public String askLine(String question) throws IOException {
        questions.write(question + "\n");
        questions.flush();
        return answer();
    }

    private String answer() throws IOException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_TIMEOUT_S);
        while (deadlineNs - System.nanoTime() > 0) {
            try {
                String line = answers.poll(100, TimeUnit.MILLISECONDS);
                if (line != null) {
                    return line;
                }
            } catch (InterruptedException e) {
                throw Threads.interrupted();
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

    /** What it says but for answers. */
    public Path log() {
        return log;
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
    public boolean terminate(double timeoutS) throws IOException {
        process.destroy();
        return Threads.join(process, timeoutS);
    }

    /** Ends what a load process is asked, so that it ends by itself, and waits; true when it did in time. */
    public boolean finish(double timeoutS) throws IOException {
        questions.close();
        return Threads.join(process, timeoutS);
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
            Threads.join(process, KILL_TIMEOUT_S);
        } catch (IOException e) {
            // Interrupted: it is killed all the same.
        }
    }
}
