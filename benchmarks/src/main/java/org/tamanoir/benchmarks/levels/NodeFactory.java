package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.nodeos.Level;

/**
 * How nodes are started.
 *
 * @param java the launcher
 * @param jar of the node
 */
record NodeFactory(String java, Path jar) {
    /** Emulated processors are slow. */
    private static final long START_TIMEOUT_S = 240;

    private static final long START_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(START_TIMEOUT_S);
    private static final long ASK_AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(50);

    /**
     * What a node is to do with the packets that cross the router.
     *
     * @param level the one below the JVM that it may use
     * @param offload which packets Monitor asks that level to handle; empty = the operator has placed all of them there
     */
    record Work(Level level, String offload) {
        /** All at one level. */
        static Work allAt(Level level) {
            return new Work(level, "");
        }

        /** Whether packets without a policy, and connections, come up to the node. */
        private boolean unknownUp() {
            return level == Level.JVM || !offload.isEmpty();
        }

        /** The node's configuration. */
        String yaml() {
            // To the JVM packets come up by the module where it is loaded and compared, else by tc.
            String allowed = level == Level.JVM ? "module, tc" : level.label();
            String service = offload.isEmpty()
                    ? "{name: Monitor, level: " + level.label() + "}"
                    : "{name: Monitor, config: {offload: \"" + offload + "\"}}";
            return """
                    listen:
                      tcp: ["0.0.0.0:%1$d"]
                      udp: ["0.0.0.0:%1$d"]
                    routes:
                      - {to: %2$s/32, via: "%2$s:%1$d", kind: host}
                    levels:
                      interfaces: [%3$s]
                      allowed: [jvm, %4$s]
                      unknown: %5$s
                    services:
                      - %6$s
                    admin:
                      listen: 127.0.0.1:%7$d
                    """.formatted(
                            Network.PORT,
                            Network.sink().getAddress().getHostAddress(),
                            Network.FROM,
                            allowed,
                            unknownUp() ? "up" : "on",
                            service,
                            RouterNode.ADMIN_PORT);
        }
    }

    /** Starts one in the router and waits until it is ready. */
    RouterNode start(Lab lab, Work work, String... jvmFlags) throws IOException {
        Path config = Files.writeString(lab.folder().resolve("node.yaml"), work.yaml());
        List<String> command = new ArrayList<>(List.of(java));
        command.addAll(List.of(jvmFlags));
        command.addAll(List.of("-jar", jar.toString(), "node", "-c", config.toString()));
        Child child = lab.processes().start("node", lab.network().router().inside(command));
        RouterNode node = new RouterNode(lab.network().router(), child);
        try {
            long endNs = System.nanoTime() + START_TIMEOUT_NS;
            while (!node.isReady()) {
                child.requireAlive();
                if (System.nanoTime() - endNs > 0) {
                    throw new IOException("the node was not ready in " + START_TIMEOUT_S + " s: " + child.lastWords());
                }
                LockSupport.parkNanos(ASK_AGAIN_NS);
            }
            if (work.offload.isEmpty()) {
                node.awaitPlaced(work.level);
            }
            return node;
        } catch (IOException e) {
            node.close();
            throw e;
        }
    }
}
