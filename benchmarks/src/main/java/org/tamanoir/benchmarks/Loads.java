package org.tamanoir.benchmarks;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import org.tamanoir.benchmarks.cluster.ClusterSink;
import org.tamanoir.benchmarks.cluster.ClusterSource;
import org.tamanoir.benchmarks.levels.Changer;
import org.tamanoir.benchmarks.levels.Relay;
import org.tamanoir.benchmarks.levels.Sink;
import org.tamanoir.benchmarks.levels.Source;
import org.tamanoir.benchmarks.morph.MessageReceiver;
import org.tamanoir.benchmarks.morph.MessageSender;

/** The entry of processes that are a part of a load, which {@link Processes#load} starts. */
final class Loads {
    /** What such a process does until its standard input ends. */
    private interface Part {
        void run(Arguments arguments) throws Exception;
    }

    private static final Map<String, Part> PARTS = Map.ofEntries(
            entry("tcp-sink", TcpSink::run),
            entry("tcp-sender", TcpSender::run),
            entry("paced-sender", PacedSender::run),
            entry("stream-sink", StreamSink::run),
            entry("stream-sender", StreamSender::run),
            entry("life-sender", LifeSender::run),
            entry("udp-sink", UdpSink::run),
            entry("udp-flood", UdpFlood::run),
            entry("wire-flood", WireFlood::run),
            entry("wire-sink", WireSink::run),
            entry("reflect-sink", ReflectSink::run),
            entry("destination-flood", DestinationFlood::run),
            entry("destination-sink", DestinationSink::run),
            entry("netty-proxy", NettyProxy::run),
            entry("level-source", Source::run),
            entry("level-sink", Sink::run),
            entry("level-relay", Relay::run),
            entry("level-changer", Changer::run),
            entry("cluster-source", ClusterSource::run),
            entry("cluster-sink", ClusterSink::run),
            entry("message-sender", MessageSender::run),
            entry("message-receiver", MessageReceiver::run));

    private Loads() {}

    /** Runs the part that the first word names, and exits. */
    public static void main(String[] words) {
        try {
            PARTS.getOrDefault(words[0], arguments -> {
                        throw new IllegalArgumentException("there is no part " + words[0] + ": " + PARTS.keySet());
                    })
                    .run(new Arguments(Arrays.copyOfRange(words, 1, words.length)));
            System.exit(0);
        } catch (Exception e) {
            System.err.println(words[0] + ": " + (e.getMessage() == null ? e : e.getMessage()));
            System.exit(1);
        }
    }
}
