package org.tamanoir.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line of our node: the one place that knows its options.
 *
 * @param jvm how it is started
 * @param maxStreams TCP streams at once
 * @param options more of the node
 */
record NodeCommand(NodeJvm jvm, int maxStreams, List<String> options) implements Forwarder.Command {
    private static final int DEFAULT_MAX_STREAMS = 4096;

    @Override
    public List<String> line(int port, int sinkPort, Transport transport, Path folder) {
        String listen = "127.0.0.1:" + port;
        String route = "127.0.0.0/8=127.0.0.1:" + sinkPort + ",host";
        List<String> command = new ArrayList<>(jvm.line("--tcp", listen, "--udp", listen, "--route", route));
        if (maxStreams > DEFAULT_MAX_STREAMS) {
            command.addAll(List.of("--max-streams", Integer.toString(maxStreams)));
        }
        command.addAll(options);
        return command;
    }

    /** The same with more options of the node. */
    NodeCommand withOptions(String... more) {
        return new NodeCommand(jvm, maxStreams, List.of(more));
    }

    /** The same with more flags for the JVM. */
    NodeCommand withFlags(String... more) {
        return new NodeCommand(jvm.with(List.of(more)), maxStreams, options);
    }
}
