package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.netns.NodeApi;
import org.tamanoir.nodeos.Level;

/** How nodes are started in the router. */
record NodeFactory(NodeJvm jvm) {
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
                            NodeApi.PORT);
        }
    }

    /** Starts one in the router and waits until it is ready. */
    RouterNode start(Lab lab, Work work) throws IOException {
        RouterNode node = start(lab, work.yaml());
        try {
            if (work.offload.isEmpty()) {
                node.awaitPlaced(work.level);
            }
            return node;
        } catch (IOException e) {
            node.close();
            throw e;
        }
    }

    /** Starts one with this configuration. */
    RouterNode start(Lab lab, String yaml) throws IOException {
        Path config = Files.writeString(lab.processes.folder().resolve("node.yaml"), yaml);
        RouterNode node = new RouterNode(lab.network.router.node(lab.processes, jvm.line("-c", config.toString())));
        try {
            node.node().awaitReady();
            return node;
        } catch (IOException e) {
            node.close();
            throw e;
        }
    }
}
