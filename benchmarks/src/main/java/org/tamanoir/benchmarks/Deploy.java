package org.tamanoir.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.benchmarks.DeployLab.LabNode;
import org.tamanoir.routing.NextHop;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What deployment costs: the first packet's time, running streams' throughput, and what many services leave behind. */
@Command(
        name = "deploy",
        mixinStandardHelpOptions = true,
        description = {
            "Measures deployment in one warm JVM, over loopback, with Monitor in a jar of 30 KB:",
            "the time from sending a stream's first packet to its arrival behind the node, for a service that is "
                    + "loaded, in the cache, in the repository, at the previous node;",
            "the throughput of a stream while services are deployed one after another;",
            "what publishing and fetching many large services leaves behind."
        })
final class Deploy implements Callable<Integer> {
    private static final int JAR_BYTES = 30_000;
    private static final int SINK_TIMEOUT_MS = 20_000;
    private static final long CACHE_BYTES = 256L << 20;

    @Option(names = "--rounds", defaultValue = "40", description = "First packets of each kind. Default: 40.")
    private int rounds;

    @Option(names = "--warm-up", defaultValue = "40", description = "Rounds before. Default: 40.")
    private int warmUp;

    @Option(names = "--services", defaultValue = "100", description = "Deployed beside the stream. Default: 100.")
    private int services;

    @Option(names = "--large", defaultValue = "1000", description = "Services of 1 MB. Default: 1000; 0 = none.")
    private int large;

    @Override
    public Integer call() throws Exception {
        try (DeployLab lab = new DeployLab()) {
            firstPackets(lab);
            throughput(lab);
            if (large > 0) {
                manyLarge(lab);
            }
        }
        return 0;
    }

    // ---- first packets ---------------------------------------------------------------------------------------------

    private void firstPackets(DeployLab lab) throws Exception {
        try (ServerSocket sink = new ServerSocket()) {
            sink.bind(Load.loopback(0));
            sink.setSoTimeout(SINK_TIMEOUT_MS);
            InetSocketAddress end = Load.loopback(sink.getLocalPort());
            LabNode node = lab.node(end, NextHop.Kind.HOST, true, CACHE_BYTES);
            LabNode second = lab.node(end, NextHop.Kind.HOST, false, CACHE_BYTES);
            LabNode first = lab.node(second.address(), NextHop.Kind.ACTIVE_NODE, true, CACHE_BYTES);
            lab.publish("org.example.Loaded", JAR_BYTES);
            Histogram loaded = new Histogram(3);
            Histogram cached = new Histogram(3);
            Histogram fetched = new Histogram(3);
            Histogram fromNode = new Histogram(3);
            for (int round = -warmUp; round < rounds; round++) {
                String suffix = "R" + (round + warmUp);
                for (String kind : new String[] {"Cached", "Fetched", "Passed"}) {
                    lab.publish("org.example." + kind + suffix, JAR_BYTES);
                }
                node.fetcher().fetch(ServiceKey.of("org.example.Cached" + suffix), null);
                first.manager().deploy("org.example.Passed" + suffix, false);
                record(round, loaded, firstPacketNs(node, sink, "org.example.Loaded"));
                record(round, cached, firstPacketNs(node, sink, "org.example.Cached" + suffix));
                record(round, fetched, firstPacketNs(node, sink, "org.example.Fetched" + suffix));
                record(round, fromNode, firstPacketNs(first, sink, "org.example.Passed" + suffix));
            }
            System.out.printf("%-32s %9s %9s %9s%n", "first packet, ms", "p50", "p90", "max");
            print("loaded", loaded);
            print("in the cache", cached);
            print("in the repository", fetched);
            print("at the previous node, two nodes", fromNode);
        }
    }

    private static void record(int round, Histogram times, long ns) {
        if (round >= 0) {
            times.recordValue(ns);
        }
    }

    private static void print(String what, Histogram times) {
        System.out.printf(
                "%-32s %9.2f %9.2f %9.2f%n",
                what,
                times.getValueAtPercentile(50) / 1e6,
                times.getValueAtPercentile(90) / 1e6,
                times.getMaxValue() / 1e6);
    }

    /** From the write of a stream's first packet to its first byte behind the node. */
    private static long firstPacketNs(LabNode node, ServerSocket sink, String service) throws IOException {
        byte[] packet = packets(service, 1);
        InetSocketAddress to = node.address();
        try (Socket stream = new Socket(to.getAddress(), to.getPort())) {
            stream.setTcpNoDelay(true);
            long sentNs = System.nanoTime();
            stream.getOutputStream().write(packet);
            try (Socket arrived = sink.accept()) {
                arrived.setSoTimeout(SINK_TIMEOUT_MS);
                if (arrived.getInputStream().read() < 0) {
                    throw new IOException("the packet for " + service + " did not arrive");
                }
                return System.nanoTime() - sentNs;
            }
        }
    }

    private static byte[] packets(String service, int count) {
        PacketBuilder header = new PacketBuilder()
                .destination(Load.loopback(0).getAddress())
                .service(service)
                .previousNode(false)
                .hopBudget(16);
        ByteBuffer payload = Load.payload(header, 1400);
        ByteBuffer batch = ByteBuffer.allocate(count * 1400);
        for (int i = 0; i < count; i++) {
            header.write(batch, payload);
        }
        return batch.array();
    }

    // ---- a stream beside deployments
    // ---------------------------------------------------------------------------------

    private void throughput(DeployLab lab) throws Exception {
        for (int i = 0; i < services; i++) {
            lab.publish("org.example.Beside" + i, JAR_BYTES);
        }
        try (TcpSink sink = new TcpSink(false)) {
            LabNode node = lab.node(Load.loopback(sink.port()), NextHop.Kind.HOST, true, CACHE_BYTES);
            SocketChannel stream = Load.connect(node.address());
            byte[] batch = packets("org.example.Loaded", Load.BATCH_BYTES / 1400);
            Threads.start("sender", () -> Load.flood(stream, ByteBuffer.wrap(batch)));
            Thread.sleep(4000);
            double before = rate(sink, () -> Thread.sleep(3000));
            long beginNs = System.nanoTime();
            double beside = rate(sink, () -> {
                for (int i = 0; i < services; i++) {
                    node.manager().deploy("org.example.Beside" + i, false);
                }
            });
            double seconds = (System.nanoTime() - beginNs) / 1e9;
            double after = rate(sink, () -> Thread.sleep(3000));
            stream.close();
            System.out.printf(
                    "%nstream of 1,400 bytes, MB/s: %.0f before, %.0f while %d services were deployed in %.2f s, %.0f "
                            + "after: %.2f of undisturbed%n",
                    before, beside, services, seconds, after, beside / ((before + after) / 2));
        }
    }

    private static double rate(TcpSink sink, Threads.Body during) throws Exception {
        long bytesBefore = sink.bytes();
        long beginNs = System.nanoTime();
        during.run();
        return (sink.bytes() - bytesBefore) / 1e6 / ((System.nanoTime() - beginNs) / 1e9);
    }

    // ---- many large services
    // -------------------------------------------------------------------------------------------

    private void manyLarge(DeployLab lab) throws Exception {
        System.out.printf("%n%d services of 1 MB, cache of 256 MiB%n", large);
        System.out.printf(
                "%10s %12s %12s %12s %12s%n", "services", "publish ms", "deploy ms", "heap MB", "metaspace MB");
        LabNode node = lab.node(Load.loopback(9), NextHop.Kind.HOST, true, CACHE_BYTES);
        int step = Math.max(1, large / 10);
        for (int done = 0; done < large; done += step) {
            long publishNs = 0;
            long deployNs = 0;
            for (int i = done; i < Math.min(large, done + step); i++) {
                String name = "org.example.Large" + i;
                long beginNs = System.nanoTime();
                lab.publish(name, 1_000_000);
                long publishedNs = System.nanoTime();
                node.manager().deploy(name, false);
                deployNs += System.nanoTime() - publishedNs;
                publishNs += publishedNs - beginNs;
                node.manager().undeploy(name, java.time.Duration.ZERO, true);
            }
            System.gc();
            System.out.printf(
                    "%10d %12.1f %12.1f %12.1f %12.1f%n",
                    done + step,
                    publishNs / 1e6 / step,
                    deployNs / 1e6 / step,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1e6,
                    metaspace() / 1e6);
        }
    }

    private static long metaspace() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getName().equals("Metaspace"))
                .map(MemoryPoolMXBean::getUsage)
                .mapToLong(usage -> usage.getUsed())
                .sum();
    }
}
