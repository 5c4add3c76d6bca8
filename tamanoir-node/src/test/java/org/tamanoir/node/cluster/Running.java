package org.tamanoir.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Tamanoir as a process on a machine; what it says is in a file that the host keeps. One thread. */
final class Running implements AutoCloseable {
    private static final Path SHARE = Path.of("/run/share");

    private final String name;
    private final Process process;
    private final Path output;
    /** Bytes of those of this name before it. */
    private final int before;

    /** Starts it and does not wait: several start at once. */
    Running(Machine machine, String name, List<String> arguments) {
        this.name = name;
        try {
            output = output(name);
            before = Files.exists(output) ? Math.toIntExact(Files.size(output)) : 0;
            process = machine.builder(Machine.command(arguments))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                    .start();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Where a program's output goes. */
    static Path output(String name) throws IOException {
        return Files.isDirectory(SHARE) ? SHARE.resolve(name + ".log") : Files.createTempFile(name + "-", ".log");
    }

    /** What it has said so far. */
    String said() {
        try {
            byte[] all = Files.readAllBytes(output);
            return new String(all, before, all.length - before, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Waits until it says something. */
    void awaitSaid(String text) {
        ClusterBed.eventually().atMost(ClusterBed.START).until(() -> !process.isAlive() || said().contains(text));
        assertThat(said()).as(name).contains(text);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Signal 9, and waits until it is gone. */
    void kill() {
        process.destroyForcibly();
        await();
    }

    /** Signal 15, and waits until it is gone. */
    void stop() {
        process.destroy();
        await();
    }

    private void await() {
        try {
            assertThat(process.waitFor(ClusterBed.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as("%s ends", name)
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        kill();
    }
}
