package org.tamanoir.benchmarks;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.netns.Namespace;

/**
 * Starts processes and makes sure that none outlives the comparison, however that ends. Their configurations and
 * logs lie in a temporary folder. Whoever made this is interrupted when a signal ends the program.
 *
 * <p>Thread contract: any thread.
 */
public final class Processes implements AutoCloseable {
    /** The load is simple: a small heap without concurrent collection, and no time spent in the second compiler. */
    private static final List<String> LOAD_JVM = List.of(
            "-Xms64m", "-Xmx64m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    /** For the owner, once it is interrupted, to say what it has. */
    private static final long OWNER_TIMEOUT_S = 10;

    private final List<Child> running = new ArrayList<>();
    private final Path folder;
    private final Thread owner = Thread.currentThread();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::interruptOwner, "end processes");
    private boolean ending;

    /** Makes the folder. */
    public Processes() throws IOException {
        folder = Files.createTempDirectory("tamanoir-benchmarks-");
        // A peer's worker may run as another user, and reads its configuration here.
        folder.toFile().setExecutable(true, false);
        folder.toFile().setReadable(true, false);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Where configurations and logs go. */
    public Path folder() {
        return folder;
    }

    /** Starts a forwarder. */
    public Child start(String name, List<String> command) throws IOException {
        return register(() -> Child.start(name, command, log(name)));
    }

    /** Starts a program that answers questions, a line each. */
    public Child startAnswering(String name, List<String> command) throws IOException {
        return register(() -> Child.startAnswering(name, command, log(name)));
    }

    /** Starts a part of the load in a JVM of its own, the same Java as this one, and waits until it is ready. */
    public Child load(String format, Object... values) throws IOException {
        return load(null, format, values);
    }

    /** The same with a JVM as it is by default, for what is measured. */
    public Child measured(String format, Object... values) throws IOException {
        String[] words = format.formatted(values).split(" ");
        return startAnswering(words[0], loadCommand(ownJava(), List.of(), words))
                .awaitReady();
    }

    /** The same in a network namespace. */
    public Child load(@Nullable Namespace namespace, String format, Object... values) throws IOException {
        List<String> command = new ArrayList<>(namespace == null ? List.of() : namespace.inside(List.of()));
        String[] words = format.formatted(values).split(" ");
        command.addAll(loadCommand(ownJava(), LOAD_JVM, words));
        return startAnswering(words[0], command).awaitReady();
    }

    /** The command line of a part of the load. */
    static List<String> loadCommand(String java, List<String> flags, String... words) {
        List<String> command = new ArrayList<>(List.of(java));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Loads.class.getName()));
        command.addAll(List.of(words));
        return command;
    }

    /** The java launcher of this process. */
    public static String ownJava() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private Path log(String name) {
        return folder.resolve(name.replaceAll("[^A-Za-z0-9]+", "-") + ".log");
    }

    private interface Start {
        Child child() throws IOException;
    }

    /** Starts under the lock, and nothing once all are being ended: it would outlive them. */
    private synchronized Child register(Start start) throws IOException {
        if (ending) {
            throw new InterruptedIOException("the program ends and starts no further process");
        }
        running.removeIf(earlier -> !earlier.isAlive());
        Child child = start.child();
        running.add(child);
        return child;
    }

    /** Interrupts the owner before its processes end, so that it does not take that for a failure. */
    private void interruptOwner() {
        owner.interrupt();
        endAll();
        try {
            closed.await(OWNER_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            // Nobody does; the program ends all the same.
        }
    }

    /** Both the hook and the owner come here; the folder may have got another file between them. */
    private synchronized void endAll() {
        ending = true;
        running.forEach(Child::kill);
        running.forEach(Child::close);
        try {
            if (Files.exists(folder)) {
                MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
            }
        } catch (IOException e) {
            System.err.println("left behind: " + folder + " (" + e.getMessage() + ")");
        }
    }

    @Override
    public void close() {
        endAll();
        closed.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM ends already.
        }
    }
}
