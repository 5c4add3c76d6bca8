package org.tamanoir.benchmarks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Time from the start of a forwarder's process to the first packet that the sink gets through it. */
final class Startup {
    private static final int PACKET_BYTES = 200;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int ATTEMPT_TIMEOUT_MS = 500;
    private static final long RETRY_NS = 1_000_000;
    private static final int AUTO_ARCHIVE_SINCE = 19;
    private static final double DUMP_TIMEOUT_S = 30;

    private final Processes processes;

    Startup(Processes processes) {
        this.processes = processes;
    }

    Map<Figure, Double> measure(Forwarder forwarder) throws Exception {
        try (ServerSocket sink = new ServerSocket()) {
            sink.bind(Load.loopback(0), 64);
            sink.setSoTimeout(ATTEMPT_TIMEOUT_MS);
            long startNs = System.nanoTime();
            try (RunningForwarder running =
                    RunningForwarder.launch(processes, forwarder, Transport.TCP, sink.getLocalPort())) {
                awaitPacket(running, sink, startNs);
                return Map.of(Figure.STARTUP, (System.nanoTime() - startNs) / 1e6);
            }
        }
    }

    private static void awaitPacket(RunningForwarder running, ServerSocket sink, long startNs) throws IOException {
        byte[] packet = new byte[PACKET_BYTES];
        ByteBuffer.wrap(packet).put(Load.batch(1, PACKET_BYTES, PACKET_BYTES, 1));
        while (System.nanoTime() - startNs < TIMEOUT_NS) {
            running.requireAlive();
            try (Socket socket = new Socket()) {
                InetSocketAddress address = Load.loopback(running.port());
                socket.connect(address, ATTEMPT_TIMEOUT_MS);
                socket.getOutputStream().write(packet);
                if (arrives(sink)) {
                    return;
                }
            } catch (SocketException e) {
                // Not listening yet.
                LockSupport.parkNanos(RETRY_NS);
            }
        }
        throw new IOException("no packet came through in 20 s");
    }

    private static boolean arrives(ServerSocket sink) throws IOException {
        try (Socket accepted = sink.accept()) {
            accepted.setSoTimeout(ATTEMPT_TIMEOUT_MS);
            return accepted.getInputStream().readNBytes(PACKET_BYTES).length == PACKET_BYTES;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    /** The node with class-data sharing archives, in the ways that its JVM has; makes the archives. */
    List<Forwarder> withArchives(NodeCommand node) throws Exception {
        List<Forwarder> variants = new ArrayList<>();
        Path archive = processes.folder().resolve("node.jsa");
        runOnce(node.withFlags("-XX:ArchiveClassesAtExit=" + archive));
        if (Files.exists(archive)) {
            variants.add(
                    Peers.node(Peers.NODE + ", shared archive", node.withFlags("-XX:SharedArchiveFile=" + archive)));
        }
        if (Peers.javaVersion(node.jvm().java()) >= AUTO_ARCHIVE_SINCE) {
            Path auto = processes.folder().resolve("node-auto.jsa");
            NodeCommand command = node.withFlags("-XX:+AutoCreateSharedArchive", "-XX:SharedArchiveFile=" + auto);
            runOnce(command);
            variants.add(Peers.node(Peers.NODE + ", auto archive", command));
        }
        return variants;
    }

    private void runOnce(NodeCommand command) throws Exception {
        try (ServerSocket sink = new ServerSocket()) {
            sink.bind(Load.loopback(0), 64);
            sink.setSoTimeout(ATTEMPT_TIMEOUT_MS);
            try (RunningForwarder running = RunningForwarder.launch(
                    processes, Peers.node("node to archive", command), Transport.TCP, sink.getLocalPort())) {
                awaitPacket(running, sink, System.nanoTime());
                // The archive is written when the JVM ends by itself.
                running.terminate(DUMP_TIMEOUT_S);
            }
        }
    }
}
