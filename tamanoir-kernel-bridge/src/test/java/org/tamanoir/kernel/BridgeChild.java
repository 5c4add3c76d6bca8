package org.tamanoir.kernel;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.tamanoir.anep.Anep;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.Waiting;

/** A process of its own with levels: it can be killed, and it can be without privilege. */
final class BridgeChild implements AutoCloseable {
    /** The namespace that it is started in. */
    static final String HERE = "-";

    private static final String READY = "ready";

    private final Process process;
    private final List<String> lines = new ArrayList<>();

    /**
     * Starts it and waits until it has said all.
     *
     * @param namespace that it is in
     * @param wrapper a command that it runs under; none = as this process
     */
    BridgeChild(String namespace, String... wrapper) throws IOException {
        List<String> command = new ArrayList<>(List.of(wrapper));
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                BridgeChild.class.getName(),
                namespace));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = output.readLine(); line != null && !line.equals(READY); line = output.readLine()) {
            lines.add(line);
        }
    }

    /** What it said: its levels, one in a line, and what it could not do. */
    List<String> lines() {
        return lines;
    }

    /** Kills it with signal 9. */
    void kill() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("child does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        kill();
    }

    /** The process: stream 1 goes on, stream 2 up, stream 3 on by XDP. Ends when its input does. */
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals(HERE)) {
            run();
            return;
        }
        try (Namespaces namespaces = new Namespaces("child")) {
            namespaces.in(arguments[0], () -> {
                run();
                return 0;
            });
        }
    }

    private static void run() throws IOException {
        NodeOs os = KernelBridge.open(BridgeNet.config(Level.TC, Level.XDP));
        try {
            os.attach(List.of(new InetSocketAddress("0.0.0.0", BridgeNet.PORT)), List.of(), Anep.DEFAULT_TYPE_ID);
            EnumSet<Level> all = EnumSet.allOf(Level.class);
            os.offload(List.of(BridgeNet.KEY), stream(1), Policy.forward(), all, true);
            os.offload(List.of(BridgeNet.KEY), stream(2), Policy.up(), all, false);
            os.offload(List.of(BridgeNet.KEY), stream(3), Policy.forward(), all, false);
        } catch (LevelException refused) {
            System.out.println(refused.getMessage());
        }
        for (LevelStatus status : os.levels()) {
            System.out.println(status.level().label() + ": " + status.isThere() + ": " + status.detail());
        }
        System.out.println(READY);
        System.in.read(); // until its parent ends, or kills it
    }

    private static Flow stream(long stream) {
        return new Flow(Flow.Protocol.UDP, null, null, stream);
    }
}
