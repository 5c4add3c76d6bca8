package org.tamanoir.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line of our node: the one place that knows its options.
 *
 * @param jvm how it is started
 * @param maxStreams TCP streams at once
 */
record NodeCommand(NodeJvm jvm, int maxStreams) implements Forwarder.Command {
    private static final int DEFAULT_MAX_STREAMS = 4096;

    @Override
    public List<String> line(int port, int sinkPort, Transport transport, Path folder) {
        String listen = "127.0.0.1:" + port;
        String route = "127.0.0.0/8=127.0.0.1:" + sinkPort + ",host";
        List<String> command = new ArrayList<>(jvm.line("--tcp", listen, "--udp", listen, "--route", route));
        if (maxStreams > DEFAULT_MAX_STREAMS) {
            command.addAll(List.of("--max-streams", Integer.toString(maxStreams)));
        }
        return command;
    }

    /** The same with more flags for the JVM. */
    NodeCommand withFlags(String... more) {
        return new NodeCommand(jvm.with(List.of(more)), maxStreams);
    }
}
