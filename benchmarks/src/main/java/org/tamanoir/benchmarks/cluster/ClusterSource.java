package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.tamanoir.anep.Packet;
import org.tamanoir.benchmarks.Arguments;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.netns.Namespace;

/**
 * All clients in one process: stream k leaves from client k mod 12 for receiver k mod 3, by target k mod the number of
 * targets: more than one is what senders do where no front-end divides their streams. One blocking thread each.
 * Questions:
 *
 * <pre>
 *   flood WORK BYTES STREAMS TARGET,...         as fast as they are taken, until told to stop → 0
 *   stop                                         resets all streams → 0
 *   send WORK BYTES STREAMS PACKETS TARGET,...  so many packets in each stream, to its end → CRC-32 of each one's payload
 *   udp BYTES PACKETS TARGET                    from the first client, all from one port → packets
 * </pre>
 */
public final class ClusterSource {
    private static final long SEND_TIMEOUT_S = 120;
    private static final int END_TIMEOUT_MS = 120_000;
    private static final long DATAGRAM_GAP_NS = 1_000_000;

    private final List<Namespace> clients;
    private final List<SocketChannel> floods = new ArrayList<>();

    private ClusterSource(List<Namespace> clients) {
        this.clients = clients;
    }

    /** Runs until nobody asks any more. */
    public static void run(Arguments arguments) throws Exception {
        ClusterSource source = new ClusterSource(Namespace.named(arguments.text("namespaces")));
        Control.serve("", words -> switch (words[0]) {
            case "flood" -> source.flood(work(words[1]), number(words[2]), number(words[3]), words[4].split(","));
            case "stop" -> source.stop();
            case "send" ->
                source.send(work(words[1]), number(words[2]), number(words[3]), number(words[4]), words[5].split(","));
            case "udp" -> source.udp(number(words[1]), number(words[2]), words[3]);
            default -> throw Control.unknown(words[0], "flood, stop, send, udp");
        });
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
        Namespace client = clients.get(stream % clients.size());
        InetSocketAddress target = new InetSocketAddress(targets[stream % targets.length], Bed.PORT);
        return client.call(() -> Load.connect(target));
    }

    private String flood(Work work, int bytes, int streams, String[] targets) throws IOException {
        for (int stream = 0; stream < streams; stream++) {
            ByteBuffer batch = work.batch(receiver(stream), stream, bytes, Integer.MAX_VALUE);
            SocketChannel channel = connect(stream, targets);
            // What lies in buffers when the run ends is of no use: the streams are reset.
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            floods.add(channel);
            Threads.start("stream " + stream, () -> Load.flood(channel, batch));
        }
        return "0";
    }

    private String stop() throws IOException {
        for (SocketChannel each : floods) {
            each.close();
        }
        floods.clear();
        return "0";
    }

    private String send(Work work, int bytes, int streams, int packets, String[] targets) throws Exception {
        List<CompletableFuture<Long>> sums = new ArrayList<>();
        for (int stream = 0; stream < streams; stream++) {
            ByteBuffer batch = work.batch(receiver(stream), stream, bytes, packets);
            SocketChannel channel = connect(stream, targets);
            CompletableFuture<Long> sum = new CompletableFuture<>();
            sums.add(sum);
            Threads.start("stream " + stream, () -> sendAll(channel, batch, bytes, packets, sum));
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(sums.toArray(CompletableFuture[]::new));
        Namespace.result(all, SEND_TIMEOUT_S, "all streams");
        return sums.stream().map(sum -> String.valueOf(sum.join())).collect(Collectors.joining(" "));
    }

    private static void sendAll(
            SocketChannel channel, ByteBuffer batch, int bytes, int packets, CompletableFuture<Long> sum) {
        CRC32 crc = new CRC32();
        Packet packet = new Packet();
        try (channel) {
            for (int sent = 0; sent < packets; sent++) {
                int at = sent * bytes % batch.capacity();
                batch.limit(at + bytes).position(at);
                packet.parse(batch, at, bytes);
                crc.update(packet.payload());
                Load.write(channel, batch);
            }
            Load.drain(channel, END_TIMEOUT_MS);
            sum.complete(crc.getValue());
        } catch (IOException | RuntimeException e) {
            sum.completeExceptionally(e);
        }
    }

    private String udp(int bytes, int packets, String target) throws IOException {
        ByteBuffer batch = Work.MONITOR.batch(receiver(0), 0, bytes, 1);
        try (DatagramChannel channel = clients.get(0).call(DatagramChannel::open)) {
            channel.connect(new InetSocketAddress(target, Bed.PORT));
            long dueNs = System.nanoTime();
            for (int sent = 0; sent < packets; sent++) {
                channel.write(batch.rewind());
                dueNs += DATAGRAM_GAP_NS;
                Threads.until(dueNs);
            }
        }
        return Integer.toString(packets);
    }
}
