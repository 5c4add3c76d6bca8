package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.tamanoir.anep.Packet;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.netns.Namespace;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * All clients in one process: stream k leaves from client k mod 12 for receiver k mod 3, by target k mod the number of
 * targets: more than one is what senders do where no front-end divides their streams. One blocking thread each.
 * Questions:
 *
 * <pre>
 *   flood WORK OCTETS STREAMS TARGET,...         as fast as they are taken, until told to stop → 0
 *   stop                                         resets all streams → 0
 *   send WORK OCTETS STREAMS PACKETS TARGET,...  so many packets in each stream, to its end → CRC-32 of each one's payload
 *   udp OCTETS PACKETS TARGET                    from the first client, all from one port → packets
 * </pre>
 */
@Command(name = "cluster-source", hidden = true, description = "Sends streams from several network namespaces.")
public final class ClusterSource implements Callable<Integer> {
    private static final long SEND_TIMEOUT_S = 120;
    private static final int END_TIMEOUT_MS = 120_000;
    private static final long DATAGRAM_GAP_NS = 1_000_000;

    @Option(names = "--namespaces", required = true, split = ",")
    private List<String> namespaces = List.of();

    private final List<SocketChannel> floods = new ArrayList<>();
    private volatile boolean stopping;

    /** Made by picocli. */
    public ClusterSource() {}

    @Override
    public Integer call() throws Exception {
        Control.serve("", words -> switch (words[0]) {
            case "flood" -> flood(work(words[1]), number(words[2]), number(words[3]), words[4].split(","));
            case "stop" -> stop();
            case "send" ->
                send(work(words[1]), number(words[2]), number(words[3]), number(words[4]), words[5].split(","));
            case "udp" -> udp(number(words[1]), number(words[2]), words[3]);
            default -> throw new IOException("no answer to '" + words[0] + "': known are flood, stop, send, udp");
        });
        return 0;
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    private static Work work(String word) {
        return Work.valueOf(word.toUpperCase(Locale.ROOT));
    }

    private static InetAddress receiver(int stream) throws IOException {
        return InetAddress.getByName(Bed.receiver(stream % Bed.RECEIVERS));
    }

    private SocketChannel connect(int stream, String[] targets) throws IOException {
        Namespace client = new Namespace(namespaces.get(stream % namespaces.size()));
        InetSocketAddress target = new InetSocketAddress(targets[stream % targets.length], Bed.PORT);
        SocketChannel channel = client.call(() -> SocketChannel.open(target));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        return channel;
    }

    private String flood(Work work, int octets, int streams, String[] targets) throws IOException {
        stopping = false;
        for (int stream = 0; stream < streams; stream++) {
            ByteBuffer batch = work.batch(receiver(stream), stream, octets, Integer.MAX_VALUE);
            SocketChannel channel = connect(stream, targets);
            // What lies in buffers when the run ends is of no use: the streams are reset.
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            floods.add(channel);
            Thread writer = new Thread(() -> write(channel, batch), "stream-" + stream);
            writer.setDaemon(true);
            writer.start();
        }
        return "0";
    }

    private void write(SocketChannel channel, ByteBuffer batch) {
        try {
            while (true) {
                channel.write(batch);
                if (!batch.hasRemaining()) {
                    batch.rewind();
                }
            }
        } catch (IOException e) {
            if (!stopping) {
                System.err.println("the cluster ended a stream: " + e.getMessage());
            }
        }
    }

    private String stop() throws IOException {
        stopping = true;
        for (SocketChannel each : floods) {
            each.close();
        }
        floods.clear();
        return "0";
    }

    private String send(Work work, int octets, int streams, int packets, String[] targets) throws Exception {
        List<CompletableFuture<Long>> sums = new ArrayList<>();
        for (int stream = 0; stream < streams; stream++) {
            ByteBuffer batch = work.batch(receiver(stream), stream, octets, packets);
            SocketChannel channel = connect(stream, targets);
            CompletableFuture<Long> sum = new CompletableFuture<>();
            sums.add(sum);
            Thread writer = new Thread(() -> sendAll(channel, batch, octets, packets, sum), "stream-" + stream);
            writer.setDaemon(true);
            writer.start();
        }
        try {
            CompletableFuture.allOf(sums.toArray(CompletableFuture[]::new)).get(SEND_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw Namespace.failed(e);
        } catch (TimeoutException e) {
            throw new IOException("streams did not end in " + SEND_TIMEOUT_S + " s", e);
        }
        return sums.stream().map(sum -> String.valueOf(sum.join())).collect(Collectors.joining(" "));
    }

    private static void sendAll(
            SocketChannel channel, ByteBuffer batch, int octets, int packets, CompletableFuture<Long> sum) {
        CRC32 crc = new CRC32();
        Packet packet = new Packet();
        try (channel) {
            for (int sent = 0; sent < packets; sent++) {
                int at = sent * octets % batch.capacity();
                batch.limit(at + octets).position(at);
                packet.parse(batch, at, octets);
                crc.update(packet.payload());
                while (batch.hasRemaining()) {
                    channel.write(batch);
                }
            }
            channel.shutdownOutput();
            channel.socket().setSoTimeout(END_TIMEOUT_MS);
            channel.socket().getInputStream().transferTo(OutputStream.nullOutputStream());
            sum.complete(crc.getValue());
        } catch (IOException | RuntimeException e) {
            sum.completeExceptionally(e);
        }
    }

    private String udp(int octets, int packets, String target) throws IOException {
        Namespace client = new Namespace(namespaces.get(0));
        ByteBuffer batch = Work.MONITOR.batch(receiver(0), 0, octets, 1);
        try (DatagramChannel channel = client.call(DatagramChannel::open)) {
            channel.connect(new InetSocketAddress(target, Bed.PORT));
            long dueNs = System.nanoTime();
            for (int sent = 0; sent < packets; sent++) {
                channel.write(batch.rewind());
                dueNs += DATAGRAM_GAP_NS;
                while (dueNs - System.nanoTime() > 0) {
                    java.util.concurrent.locks.LockSupport.parkNanos(dueNs - System.nanoTime());
                }
            }
        }
        return Integer.toString(packets);
    }
}
