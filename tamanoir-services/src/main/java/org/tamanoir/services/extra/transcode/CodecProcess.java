package org.tamanoir.services.extra.transcode;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A program that gets a flow's bytes at its standard input, and whose standard output is the flow from then on. It runs in
 * {@code /}, with {@code PATH}, {@code LC_ALL=C} and a mark alone in its environment, its errors discarded, under the limits
 * that {@code sh} sets ({@code ulimit}): processor time, address space, 64 open files, no file written, no core. The mark is
 * inherited by what the program begins, and so is a session, which it has of its own where the host has {@code setsid}: by
 * one or the other those are found at the end that have left their parent, and their session or the mark.
 *
 * <p>Two threads move bytes between its pipes and two bounded queues. Neither queue is waited for here without a limit:
 * {@link #put} refuses, and {@link #awaitChange} returns.
 *
 * <p>Thread contract: any threads. Time is the machine's: so is the program's.
 */
final class CodecProcess {
    private static final String LIMITED =
            "ulimit -c 0 && ulimit -f 0 && ulimit -n 64 && ulimit -t \"$1\" && ulimit -v \"$2\" && shift 2 &&"
                    + " { ! command -v setsid >/dev/null || set -- setsid \"$@\"; } && exec \"$@\"";
    private static final int PART_BYTES = 8192;
    private static final int EXIT_PATIENCE_MS = 1000;

    private static final String MARK = "TAMANOIR_CODEC";
    /** Looks for processes that are left, each of which may have begun another one since the look before. */
    private static final int MAX_SWEEPS = 100;
    /** Between two looks: those that are killed take a moment to end. */
    private static final long SWEEP_REST_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final Process process;
    private final String mark;
    private final Runnable onChange;
    private final ByteRing input;
    private final ByteRing output;
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private boolean isInputEnded;
    /** The program does not read any more. */
    private boolean isInputClosed;

    private boolean isEnded;
    private long progressNs = System.nanoTime();

    private CodecProcess(Process process, String mark, int bufferBytes, Runnable onChange) {
        this.process = process;
        this.mark = mark;
        this.onChange = onChange;
        input = new ByteRing(bufferBytes);
        output = new ByteRing(bufferBytes);
    }

    /**
     * Starts a program.
     *
     * @param command its path and arguments
     * @param bufferBytes of each queue
     * @param onChange is run by a thread of this process when there is output, or the end
     */
    static CodecProcess start(List<String> command, Limits limits, int bufferBytes, Runnable onChange)
            throws IOException {
        List<String> limited = new ArrayList<>(List.of("/bin/sh", "-c", LIMITED, "sh"));
        limited.add(Long.toString(limits.cpuSeconds));
        limited.add(Long.toString(limits.memoryBytes >> 10));
        limited.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(limited)
                .directory(new java.io.File("/"))
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/bin:/bin");
        builder.environment().put("LC_ALL", "C");
        String mark = UUID.randomUUID().toString();
        builder.environment().put(MARK, mark);
        return serve(builder.start(), mark, bufferBytes, onChange);
    }

    /** Begins to serve a process that has this mark in its environment. */
    static CodecProcess serve(Process process, String mark, int bufferBytes, Runnable onChange) {
        CodecProcess started = new CodecProcess(process, mark, bufferBytes, onChange);
        started.begin("in", started::write);
        started.begin("out", started::read);
        return started;
    }

    /** What the program may use. */
    record Limits(long cpuSeconds, long memoryBytes) {}

    private void begin(String which, Runnable body) {
        Thread thread = new Thread(body, "codec " + process.pid() + " " + which);
        thread.setDaemon(true);
        thread.start();
    }

    private void write() {
        byte[] part = new byte[PART_BYTES];
        try (OutputStream to = process.getOutputStream()) {
            for (int bytes = takeInput(part); bytes >= 0; bytes = takeInput(part)) {
                to.write(part, 0, bytes);
                to.flush();
                progressed();
            }
        } catch (IOException e) {
            closeInput(); // It has ended, or has closed its input: both show in what comes out.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            closeInput();
        }
    }

    private synchronized void progressed() {
        progressNs = System.nanoTime();
    }

    private synchronized void closeInput() {
        isInputClosed = true;
        input.clear();
        notifyAll();
    }

    /** Waits for input. Returns −1 at its end. */
    private synchronized int takeInput(byte[] part) throws InterruptedException {
        while (input.bytes() == 0 && !isInputEnded && !isEnded) {
            wait();
        }
        int bytes = isEnded || input.bytes() == 0 ? -1 : input.take(part, part.length);
        notifyAll();
        return bytes;
    }

    private void read() {
        byte[] part = new byte[PART_BYTES];
        try (InputStream from = process.getInputStream()) {
            for (int bytes = from.read(part); bytes >= 0 && putOutput(part, bytes); bytes = from.read(part)) {
                onChange.run();
            }
            if (!process.waitFor(EXIT_PATIENCE_MS, TimeUnit.MILLISECONDS)) {
                killTree(process.toHandle());
            }
        } catch (IOException e) {
            killTree(process.toHandle());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            killTree(process.toHandle());
        } finally {
            killLeft();
            end();
            gone.complete(null);
        }
    }

    private void end() {
        synchronized (this) {
            isEnded = true;
            notifyAll();
        }
        onChange.run();
    }

    /** Waits for room, as the program does then. Returns false at the end. */
    private synchronized boolean putOutput(byte[] part, int bytes) throws InterruptedException {
        while (!output.hasRoom(bytes) && !isEnded) {
            wait();
        }
        if (!isEnded) {
            output.put(part, 0, bytes);
            notifyAll();
        }
        return !isEnded;
    }

    /** Queues all these bytes for the program, or none: false if there is no room, or nobody reads them. */
    synchronized boolean put(byte[] bytes, int count) {
        if (isEnded || isInputClosed || !input.hasRoom(count)) {
            return false;
        }
        if (input.bytes() == 0) {
            progressNs = System.nanoTime();
        }
        input.put(bytes, 0, count);
        notifyAll();
        return true;
    }

    /** Says that no more input comes: what is queued is given to it, and then the end. */
    synchronized void endInput() {
        isInputEnded = true;
        progressNs = System.nanoTime();
        notifyAll();
    }

    /** Takes output that is there, without waiting. */
    synchronized int take(byte[] target, int most) {
        int bytes = output.take(target, most);
        if (bytes > 0) {
            progressNs = System.nanoTime();
            notifyAll();
        }
        return bytes;
    }

    /** Waits until there is output, room for so many bytes of input, or the end, or until the time is over. */
    synchronized void awaitChange(int inputBytes, long ms) throws InterruptedException {
        if (output.bytes() == 0 && !isEnded && (inputBytes == 0 || !input.hasRoom(inputBytes) && !isInputClosed)) {
            wait(ms);
        }
    }

    /** Returns whether it has not taken or given a byte for so long. */
    synchronized boolean isStuck(long ms) {
        return System.nanoTime() - progressNs > TimeUnit.MILLISECONDS.toNanos(ms);
    }

    /** Returns whether it does not read, though it runs maybe. */
    synchronized boolean isInputClosed() {
        return isInputClosed;
    }

    /** Returns whether it has ended and all output was taken. */
    synchronized boolean isDone() {
        return isEnded && output.bytes() == 0;
    }

    /**
     * Ends it and those that it has begun; what is queued is lost. They are looked for by another thread, which takes it
     * milliseconds: not by the caller, nor by the thread that reads, which may wait for one of them.
     *
     * @return is complete when none is left
     */
    CompletableFuture<Void> kill() {
        boolean isFirst;
        synchronized (this) {
            isFirst = !isEnded;
            isEnded = true;
            input.clear();
            output.clear();
            notifyAll();
        }
        if (isFirst) {
            begin("end", this::killAll);
        }
        return gone;
    }

    private void killAll() {
        killTree(process.toHandle());
        killLeft();
        gone.complete(null);
    }

    /**
     * Kills those that have the mark, or its session, whoever their parent is now. Looks at every process of the host, where it has /proc:
     * some ten milliseconds for a hundred of them.
     */
    private void killLeft() {
        for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
            List<ProcessHandle> left =
                    ProcessHandle.allProcesses().filter(this::isLeft).toList();
            if (left.isEmpty()) {
                return;
            }
            left.forEach(ProcessHandle::destroyForcibly);
            LockSupport.parkNanos(SWEEP_REST_NS);
        }
    }

    private boolean isLeft(ProcessHandle handle) {
        String state = read(handle, "stat"); // PID (NAME) STATE PARENT GROUP SESSION ...
        String[] numbers = state.substring(state.lastIndexOf(')') + 1).split(" ", 6);
        return numbers.length == 6
                        && !numbers[1].equals("Z")
                        && numbers[4].equals(Long.toString(process.pid()))
                        && !isNumberTaken()
                || read(handle, "environ").contains(MARK + "=" + mark);
    }

    /**
     * Returns whether the number of the process is another's by now, and with it the session of that number: one of which
     * members are left keeps its number.
     */
    private boolean isNumberTaken() {
        return ProcessHandle.of(process.pid())
                .filter(other -> !other.equals(process.toHandle()))
                .isPresent();
    }

    /** Returns a file of a process; empty where it is another user's, or has ended. */
    private static String read(ProcessHandle handle, String file) {
        try {
            return new String(
                    Files.readAllBytes(Path.of("/proc/" + handle.pid() + "/" + file)), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }

    /** A process that is dead begins no more; its children are known from before. */
    private static void killTree(ProcessHandle handle) {
        List<ProcessHandle> children = handle.children().toList();
        handle.destroyForcibly();
        children.forEach(CodecProcess::killTree);
    }
}
