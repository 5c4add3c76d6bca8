package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A forwarder that listens. Thread contract: one thread. */
final class RunningForwarder implements AutoCloseable {
    private static final double START_TIMEOUT_S = 120;
    private static final String LISTENING = "0A";

    private final int port;
    private final @Nullable Child child;

    private RunningForwarder(int port, @Nullable Child child) {
        this.port = port;
        this.child = child;
    }

    /** Starts the process and waits until its port is open. */
    static RunningForwarder start(Processes processes, Forwarder forwarder, Transport transport, int sinkPort)
            throws IOException {
        RunningForwarder running = launch(processes, forwarder, transport, sinkPort);
        try {
            running.awaitOpen(forwarder.name(), transport);
            return running;
        } catch (IOException e) {
            running.close();
            throw e;
        }
    }

    /** Starts the process and does not wait. */
    static RunningForwarder launch(Processes processes, Forwarder forwarder, Transport transport, int sinkPort)
            throws IOException {
        Forwarder.Command command = forwarder.command();
        if (command == null) {
            return new RunningForwarder(sinkPort, null);
        }
        int port = Load.freePort();
        List<String> line = command.line(port, sinkPort, transport, processes.folder());
        return new RunningForwarder(port, processes.start(forwarder.name(), line));
    }

    /** Looks into /proc/net, so that no connection but the load's reaches the forwarder. */
    private void awaitOpen(String name, Transport transport) throws IOException {
        if (child == null) {
            return;
        }
        boolean isReady = Threads.await(START_TIMEOUT_S, 5, () -> {
            child.requireAlive();
            return isOpen(transport);
        });
        if (!isReady) {
            throw new IOException(name + " did not open port " + port + " in " + (int) START_TIMEOUT_S + " s");
        }
    }

    private boolean isOpen(Transport transport) throws IOException {
        String table = transport.name().toLowerCase(Locale.ROOT);
        String local = ":%04X".formatted(port);
        for (String file : List.of(table, table + "6")) {
            Path path = Path.of("/proc/net", file);
            if (!Files.exists(path)) {
                continue;
            }
            for (String line : Files.readAllLines(path)) {
                String[] columns = line.trim().split(" +");
                if (columns[1].endsWith(local) && (transport == Transport.UDP || columns[3].equals(LISTENING))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Where packets come in. */
    int port() {
        return port;
    }

    /** Returns the processor time so far; nothing without a process. */
    CpuClock.Used cpu() {
        return child == null ? CpuClock.Used.NOTHING : CpuClock.used(child.handle());
    }

    /** Fails if the process has ended. */
    void requireAlive() throws IOException {
        if (child != null) {
            child.requireAlive();
        }
    }

    /** Asks the process to end and waits for it. */
    boolean terminate(double timeoutS) throws IOException {
        return child == null || child.terminate(timeoutS);
    }

    /** Resident KiB, threads and descriptors of the process and of those that it started. */
    long[] footprint() throws IOException {
        long[] sum = new long[3];
        if (child != null) {
            for (ProcessHandle process : Stream.concat(
                            Stream.of(child.handle()), child.handle().descendants())
                    .toList()) {
                Path proc = Path.of("/proc", Long.toString(process.pid()));
                for (String line : Files.readAllLines(proc.resolve("status"))) {
                    String[] words = line.split("\\s+");
                    if (words[0].equals("VmRSS:")) {
                        sum[0] += Long.parseLong(words[1]);
                    } else if (words[0].equals("Threads:")) {
                        sum[1] += Long.parseLong(words[1]);
                    }
                }
                try (Stream<Path> descriptors = Files.list(proc.resolve("fd"))) {
                    sum[2] += descriptors.count();
                }
            }
        }
        return sum;
    }

    @Override
    public void close() {
        if (child != null) {
            child.close();
        }
    }
}
