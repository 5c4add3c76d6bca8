package org.tamanoir.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line of our node: the one place that knows its options.
 *
 * @param java the launcher
 * @param jvmFlags flags for the JVM
 * @param jar the node's jar
 * @param maxStreams TCP streams at once
 */
record NodeCommand(String java, List<String> jvmFlags, Path jar, int maxStreams) implements Forwarder.Command {
    private static final int DEFAULT_MAX_STREAMS = 4096;

    @Override
    public List<String> line(int port, int sinkPort, Transport transport, Path folder) {
        List<String> command = new ArrayList<>();
        command.add(java);
        command.addAll(jvmFlags);
        command.addAll(List.of("-jar", jar.toString(), "node"));
        command.addAll(List.of("--tcp", "127.0.0.1:" + port));
        command.addAll(List.of("--udp", "127.0.0.1:" + port));
        command.addAll(List.of("--route", "127.0.0.0/8=127.0.0.1:" + sinkPort + ",host"));
        if (maxStreams > DEFAULT_MAX_STREAMS) {
            command.addAll(List.of("--max-streams", Integer.toString(maxStreams)));
        }
        return command;
    }

    /** The same with more flags for the JVM. */
    NodeCommand withFlags(List<String> more) {
        List<String> flags = new ArrayList<>(jvmFlags);
        flags.addAll(more);
        return new NodeCommand(java, flags, jar, maxStreams);
    }
}
