package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;

/**
 * Takes thousands of TCP connections on one thread and checks each packet: whole, and the next of its stream. The
 * counters are written by that thread alone.
 */
final class StreamSink {
    private static final int BACKLOG = 4096;
    /** Holds the largest packet of this load, 2,048 bytes, and the start of the next. */
    private static final int BUFFER_BYTES = 16 * 1024;

    private final Packet packet = new Packet();
    /** Of streams that have ended: a buffer for each of many short ones would cost more than the streams. */
    private final Deque<Stream> free = new ArrayDeque<>();

    private volatile long bytes;
    private volatile long packets;
    private volatile long faults;

    private static final class Stream {
        final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        long nextSequence;
    }

    static void run(Arguments arguments) throws Exception {
        StreamSink sink = new StreamSink();
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(Load.loopback(0), BACKLOG);
                Selector selector = Selector.open()) {
            server.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            Threads.start("the sink's selector failed", () -> sink.loop(selector));
            Control.serve(
                    server.socket().getLocalPort(),
                    words -> words[0].equals("verified")
                            ? sink.packets + " " + sink.faults
                            : System.nanoTime() + " " + sink.bytes);
        }
    }

    private void loop(Selector selector) {
        try {
            while (selector.isOpen()) {
                selector.select(this::ready, 1000);
            }
        } catch (IOException e) {
            System.err.println("the sink's selector failed: " + e);
            Runtime.getRuntime().halt(1);
        }
    }

    private void ready(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                SocketChannel channel = ((ServerSocketChannel) key.channel()).accept();
                channel.configureBlocking(false).register(key.selector(), SelectionKey.OP_READ, stream());
                return;
            }
            SocketChannel channel = (SocketChannel) key.channel();
            Stream stream = (Stream) key.attachment();
            int read = channel.read(stream.buffer);
            if (read < 0) {
                end(stream, channel);
            } else {
                bytes += read;
                verify(stream);
            }
        } catch (IOException e) {
            faults++;
            System.err.println("stream " + key.channel() + ": " + e.getMessage());
            key.cancel();
        }
    }

    private Stream stream() {
        Stream stream = free.isEmpty() ? new Stream() : free.pop();
        stream.buffer.clear();
        stream.nextSequence = 0;
        return stream;
    }

    private void end(Stream stream, SocketChannel channel) throws IOException {
        free.push(stream);
        channel.close();
        if (stream.buffer.position() > 0) {
            faults++;
            System.err.println("a stream ended inside a packet, after " + stream.nextSequence + " whole ones");
        }
    }

    private void verify(Stream stream) throws IOException {
        ByteBuffer buffer = stream.buffer.flip();
        int at = 0;
        int length;
        while ((length = Framing.next(buffer, at, buffer.limit())) > 0) {
            if (packet.parse(buffer, at, length) != null || packet.sequence() != stream.nextSequence) {
                faults++;
                System.err.println("sequence " + packet.sequence() + " where " + stream.nextSequence + " was due");
            }
            stream.nextSequence = packet.sequence() + 1;
            packets++;
            at += length;
        }
        if (length == Framing.BROKEN) {
            throw new IOException("no ANEP packet at byte " + at);
        }
        buffer.position(at).compact();
    }
}
