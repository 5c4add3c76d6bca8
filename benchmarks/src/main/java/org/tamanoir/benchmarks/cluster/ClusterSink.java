package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.benchmarks.Arguments;
import org.tamanoir.benchmarks.Control;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.netns.Namespace;

/**
 * All receivers in one process, one thread per connection. Questions:
 *
 * <pre>
 *   count | walk | inflate   what is done with streams from now on: bytes are counted; packets are; payloads are
 *                            inflated, as one gzip stream for each connection → 0
 *   sample                   → monotonic time in ns, bytes, packets (walk, inflate, UDP), connections that have ended
 *   inflated                 → for each stream since inflate: id, CRC-32 of what came out, bytes; then what failed
 * </pre>
 */
public final class ClusterSink {
    private static final int BUFFER_BYTES = 256 * 1024;
    private static final int BACKLOG = 256;
    /** ID, method, flags, time, extra flags, system: what Gzip writes (RFC 1952, section 2.3). */
    private static final int GZIP_HEADER_BYTES = 10;

    /** What came out of one gzip stream. */
    private record Inflated(long crc, long bytes) {}

    private final LongAdder bytes = new LongAdder();
    private final LongAdder packets = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final Map<Integer, Inflated> inflated = new ConcurrentSkipListMap<>();
    private volatile String mode = "count";

    private ClusterSink() {}

    /** Runs until nobody asks any more. */
    public static void run(Arguments arguments) throws Exception {
        ClusterSink sink = new ClusterSink();
        InetSocketAddress any = new InetSocketAddress(Bed.PORT);
        for (Namespace namespace : Namespace.named(arguments.text("namespaces"))) {
            ServerSocketChannel server =
                    namespace.call(() -> ServerSocketChannel.open().bind(any, BACKLOG));
            DatagramChannel udp = namespace.call(() -> DatagramChannel.open().bind(any));
            Load.accept(server, channel -> sink.read(channel, sink.mode));
            Threads.start("udp " + namespace.name(), () -> sink.take(udp));
        }
        Control.serve("", words -> switch (words[0]) {
            case "count", "walk", "inflate" -> {
                sink.mode = words[0];
                sink.inflated.clear();
                yield "0";
            }
            case "sample" ->
                System.nanoTime() + " " + sink.bytes.sum() + " " + sink.packets.sum() + " " + sink.ended.sum();
            case "inflated" -> sink.answer();
            default -> throw Control.unknown(words[0], "count, walk, inflate, sample, inflated");
        });
    }

    private String answer() {
        StringBuilder text = new StringBuilder();
        inflated.forEach((stream, what) -> text.append(stream + " " + what.crc + " " + what.bytes + " "));
        return text.append(failures.sumThenReset()).toString();
    }

    private void take(DatagramChannel udp) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(65_536);
        while (true) {
            udp.receive(buffer.clear());
            bytes.add(buffer.position());
            packets.increment();
        }
    }

    private void read(SocketChannel channel, String todo) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        Unpacker unpacker = todo.equals("inflate") ? new Unpacker() : null;
        try (channel) {
            int read;
            while ((read = channel.read(buffer)) >= 0) {
                bytes.add(read);
                if (todo.equals("count")) {
                    buffer.clear();
                } else {
                    walk(buffer, unpacker);
                }
            }
            if (unpacker != null) {
                unpacker.end();
            }
        } catch (IOException | DataFormatException e) {
            // Streams that the source resets end like this; one that is verified must not.
            if (unpacker != null) {
                failures.increment();
                System.err.println("a stream does not inflate: " + e.getMessage());
            }
        } finally {
            if (unpacker != null) {
                unpacker.inflater.end();
            }
            ended.increment();
        }
    }

    private void walk(ByteBuffer buffer, @org.jspecify.annotations.Nullable Unpacker unpacker)
            throws IOException, DataFormatException {
        buffer.flip();
        int at = 0;
        int length;
        int count = 0;
        while ((length = Framing.next(buffer, at, buffer.limit())) > 0) {
            if (unpacker != null) {
                unpacker.add(buffer, at, length);
            }
            count++;
            at += length;
        }
        packets.add(count);
        if (length == Framing.BROKEN) {
            throw new IOException("no ANEP packet at byte " + at + " of a batch");
        }
        buffer.position(at).compact();
    }

    /** Inflates the payloads of a connection; its thread alone uses it. */
    private final class Unpacker {
        final Inflater inflater = new Inflater(true);
        private final Packet packet = new Packet();
        private final CRC32 crc = new CRC32();
        private final byte[] out = new byte[BUFFER_BYTES];
        private int headerLeft = GZIP_HEADER_BYTES;
        private int stream = -1;
        private long count;

        void add(ByteBuffer buffer, int at, int length) throws IOException, DataFormatException {
            if (packet.parse(buffer, at, length) != null) {
                throw new IOException("a packet is broken");
            }
            stream = packet.streamId();
            ByteBuffer payload = packet.payload();
            int skipped = Math.min(headerLeft, payload.remaining());
            headerLeft -= skipped;
            payload.position(payload.position() + skipped);
            inflater.setInput(payload);
            int made;
            while (!inflater.finished() && (made = inflater.inflate(out)) > 0) {
                crc.update(out, 0, made);
                count += made;
            }
        }

        void end() throws IOException {
            if (!inflater.finished()) {
                throw new IOException("it ends early");
            }
            inflated.put(stream, new Inflated(crc.getValue(), count));
        }
    }
}
