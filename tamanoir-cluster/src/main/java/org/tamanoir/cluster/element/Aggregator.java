package org.tamanoir.cluster.element;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Prefix;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * The aggregation unit: takes in the packets of several units and sends one stream to a receiver, as they come, or in the
 * order in which they were distributed.
 *
 * <p>in = out + dropped + held, each by {@link Drop}; nothing is held once {@link #run} has returned.
 *
 * <p>Thread contract: {@link #run} on one thread; {@link #stop}, and the counts of what came and what was sent, from any;
 * the others once {@link #run} has returned.
 */
public final class Aggregator implements Runnable, AutoCloseable {
    /** Batches in a row after which deadlines pass although more waits: a socket that is never empty would stop time. */
    private static final int BUSY_BATCHES = 64;

    /** Why a packet does not leave. */
    public enum Drop {
        /** It comes from an address that is not let in. */
        NOT_ALLOWED,
        /** It breaks a rule of ANEP. */
        MALFORMED,
        /** It has no round, of all that a distributor gives, where order goes by them. */
        NO_ROUND,
        /** Its path is none of those that are joined. */
        NO_PATH,
        /** It is longer than what may wait. */
        TOO_LONG,
        /** It stands for an empty round. */
        MARKER,
        /** Its turn has passed, it is of an earlier start of the distributor, or it came twice. */
        LATE,
        /** The operating system refused it. */
        SEND_ERROR
    }

    private final Settings settings;
    private final UdpSocket socket;
    private final UdpSocket out;
    private final UdpSender sender;
    private final BatchReader reader;
    private final Packet packet;
    private final long high;
    private final long low;
    private final int port;
    private final @Nullable ExactOrder order;
    private final long[] drops = new long[Drop.values().length];
    private final long[] packetsOfPaths = new long[Rounds.MAX_PATHS];
    private int batches;
    private volatile long packets;
    private volatile long bytes;

    /** Has these sockets from now on. */
    private Aggregator(Settings settings, UdpSocket socket, UdpSocket out) {
        this.settings = settings;
        packet = new Packet(settings.typeId, PacketSpace.HEAP);
        high = Addresses.high(settings.to.getAddress());
        low = Addresses.low(settings.to.getAddress());
        port = settings.to.getPort();
        order = settings.paths == 0
                ? null
                : new ExactOrder(
                        settings.paths,
                        settings.depth,
                        settings.deadline.toNanos(),
                        settings.largestBytes,
                        new OrderedOutput());
        this.socket = socket;
        this.out = out;
        sender = out.newSender();
        reader = new BatchReader(socket, new BatchReader.Handler() {
            @Override
            public void take(UdpBatch batch, int messages) {
                walk(batch, messages);
            }

            @Override
            public long idle() {
                return expire();
            }
        });
    }

    /** Says from where to take packets, to whom to send them, and how: ends with {@link #open}. */
    public static final class Settings {
        private final InetSocketAddress listen;
        private final InetSocketAddress to;
        private List<Prefix> from = List.of();
        private int typeId = Anep.DEFAULT_TYPE_ID;
        private boolean anep;
        private int paths;
        private int depth = 1_024;
        private int largestBytes = 2_048;
        private Duration deadline = Duration.ofMillis(100);
        private TransportKind kind = TransportKind.AUTO;

        private Settings(InetSocketAddress listen, InetSocketAddress to) {
            this.listen = listen;
            this.to = to;
        }

        /** Lets in only packets from these addresses; all by default. */
        public Settings from(List<Prefix> prefixes) {
            from = List.copyOf(prefixes);
            return this;
        }

        /** Sets the Type ID under which rounds count. */
        public Settings typeId(int typeId) {
            this.typeId = typeId;
            return this;
        }

        /** Sends packets as they are, in place of their payloads. */
        public Settings anep() {
            anep = true;
            return this;
        }

        /** Sends in the order of distribution, joining paths 0 to {@code paths} less 1, 64 at most. */
        public Settings exact(int paths) {
            require(paths >= 1 && paths <= Rounds.MAX_PATHS, "paths", paths, "1 to " + Rounds.MAX_PATHS);
            this.paths = paths;
            return this;
        }

        /** Sets how long a packet is waited for while later ones wait; 100 ms by default. */
        public Settings deadline(Duration deadline) {
            this.deadline = deadline;
            return this;
        }

        /** Sets how many packets of a path may wait, 1 to 65,536, of which 1 is taken as 2; 1,024 by default. */
        public Settings depth(int packets) {
            require(packets >= 1 && packets <= 65_536, "depth", packets, "1 to 65536");
            depth = Math.max(2, packets); // One far ahead alone must not fill its queue.
            return this;
        }

        /** Sets the longest packet that may wait, with its header, in bytes; 2,048 by default. */
        public Settings largest(int bytes) {
            require(bytes >= 1 && bytes <= Anep.MAX_PACKET_OCTETS, "largest packet", bytes, "1 to 65535 bytes");
            largestBytes = bytes;
            return this;
        }

        /** Chooses the implementation of UDP sockets. */
        public Settings transportKind(TransportKind kind) {
            this.kind = kind;
            return this;
        }

        /**
         * Binds the sockets.
         *
         * @throws IllegalArgumentException in one line, if what may wait takes too much memory, or it would send to itself
         * @throws IOException in one line, if the address cannot be had
         */
        public Aggregator open() throws IOException {
            long memory = ((long) paths * depth + 1) * largestBytes;
            require(
                    memory <= 1 << 30,
                    "memory for packets that wait",
                    memory,
                    "1 GiB at most: paths * depth * largest");
            UdpSocket socket = UdpSockets.bind(kind, listen);
            UdpSocket out = null;
            try {
                OwnPort.refuse(socket.localAddress(), "receiver", to);
                out = UdpSockets.bind(kind, Sprayer.anyPortToward(to.getAddress()));
                return new Aggregator(this, socket, out);
            } catch (IOException | RuntimeException | Error e) {
                socket.close();
                if (out != null) {
                    out.close();
                }
                throw e;
            }
        }

        private static void require(boolean holds, String what, long value, String bound) {
            if (!holds) {
                throw new IllegalArgumentException(what + " " + value + ": must be " + bound);
            }
        }
    }

    /** Begins the settings of an aggregator. */
    public static Settings between(InetSocketAddress listen, InetSocketAddress receiver) {
        return new Settings(listen, receiver);
    }

    /** Sends what the order gives back. */
    private final class OrderedOutput implements ExactOrder.Output {
        @Override
        public void send(ByteBuffer memory, int offset, int length) {
            sender.add(memory, offset, length, high, low, port);
        }

        @Override
        public void flush() {
            sender.flush();
        }

        @Override
        public void drop(ExactMerge.Ending ending) {
            count(
                    switch (ending) {
                        case MARKER -> Drop.MARKER;
                        case LATE -> Drop.LATE;
                    },
                    1);
        }
    }

    @Override
    public void run() {
        reader.run();
        if (order != null) {
            order.drain();
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void walk(UdpBatch batch, int messages) {
        long nowNs = order == null ? 0 : System.nanoTime();
        long count = 0;
        long sum = 0;
        for (int message = 0; message < messages; message++) {
            ByteBuffer memory = batch.buffer(message);
            int at = batch.start(message);
            int end = batch.end(message);
            int segment = Math.max(1, batch.segmentBytes(message));
            boolean isAllowed = isAllowed(batch.addressHigh(message), batch.addressLow(message));
            do {
                int length = Math.min(segment, end - at);
                count++;
                sum += length;
                if (isAllowed) {
                    handle(memory, at, length, nowNs);
                } else {
                    count(Drop.NOT_ALLOWED, 1);
                }
                at += segment;
            } while (at < end);
        }
        if (order == null) {
            sender.flush();
        } else {
            if (++batches == BUSY_BATCHES) {
                batches = 0;
                order.merge().expire(nowNs);
            }
            order.endBatch();
        }
        packets += count;
        bytes += sum;
    }

    private boolean isAllowed(long high, long low) {
        if (settings.from.isEmpty()) {
            return true;
        }
        for (int i = 0; i < settings.from.size(); i++) {
            if (settings.from.get(i).contains(high, low)) {
                return true;
            }
        }
        return false;
    }

    private void handle(ByteBuffer memory, int at, int available, long nowNs) {
        if (packet.parse(memory, at, available) != null) {
            count(Drop.MALFORMED, 1);
            return;
        }
        int path = packet.pathOfRound();
        if (path >= 0 && path < packetsOfPaths.length) {
            packetsOfPaths[path]++;
        }
        int offset = settings.anep ? at : packet.payloadOffset();
        int length = settings.anep ? packet.length() : packet.payloadLength();
        if (order != null) {
            offer(order, path, memory, offset, length, nowNs);
        } else if ((packet.roundFlags() & Anep.ROUND_EMPTY) != 0) {
            count(Drop.MARKER, 1);
        } else {
            sender.add(memory, offset, length, high, low, port);
        }
    }

    private void offer(ExactOrder order, int path, ByteBuffer memory, int offset, int length, long nowNs) {
        long round = packet.round();
        if (round <= 0 || round > Beginning.MAX_ROUND) {
            count(Drop.NO_ROUND, 1);
        } else if (path >= settings.paths) {
            count(Drop.NO_PATH, 1);
        } else if (packet.length() > settings.largestBytes) {
            count(Drop.TOO_LONG, 1);
        } else {
            order.offer(path, round, packet.roundFlags(), memory, offset, length, nowNs);
        }
    }

    private long expire() {
        if (order == null) {
            return Long.MAX_VALUE;
        }
        batches = 0;
        ExactMerge merge = order.merge();
        long nowNs = System.nanoTime();
        merge.expire(nowNs);
        order.endBatch();
        return merge.dueNs() == ExactMerge.NEVER ? Long.MAX_VALUE : Math.max(0, merge.dueNs() - nowNs);
    }

    private void count(Drop drop, long more) {
        drops[drop.ordinal()] += more;
    }

    /** Has {@link #run} return, once it has sent what has come. */
    public void stop() {
        reader.stop();
    }

    /** Returns why {@link #run} returned before it was to; null when it did not. */
    public @Nullable String failure() {
        return reader.failure();
    }

    /** Returns where it listens, with the real port. */
    public InetSocketAddress address() {
        return socket.localAddress();
    }

    /** Returns the packets that came. */
    public long packets() {
        return packets;
    }

    /** Returns the bytes of those. */
    public long bytes() {
        return bytes;
    }

    /** Returns the packets that the operating system took. */
    public long sentPackets() {
        return sender.sentPackets();
    }

    /** Returns the bytes of those, without headers where they were left off. */
    public long sentBytes() {
        return sender.sentBytes();
    }

    /** Returns why the operating system refused the last one; empty when it refused none. */
    public String lastError() {
        return sender.lastError();
    }

    /** Returns the packets that did not leave, by reasons that there were. */
    public Map<Drop, Long> drops() {
        drops[Drop.SEND_ERROR.ordinal()] = sender.failedPackets();
        Map<Drop, Long> counts = new EnumMap<>(Drop.class);
        for (Drop drop : Drop.values()) {
            if (drops[drop.ordinal()] > 0) {
                counts.put(drop, drops[drop.ordinal()]);
            }
        }
        return counts;
    }

    /** Returns the packets that came of a path, 0 to 63. */
    public long packetsOf(int path) {
        return packetsOfPaths[path];
    }

    /** Returns what is known of the order; nothing but zeros where packets leave as they come. */
    public Order order() {
        if (order == null) {
            return new Order(0, 0, 0, 0, 0);
        }
        ExactMerge merge = order.merge();
        return new Order(merge.held(), merge.gaps(), merge.timeouts(), merge.overflows(), merge.restarts());
    }

    /**
     * What an exact order met.
     *
     * @param held packets that wait
     * @param gaps packets that never came although a later one of their path did
     * @param timeouts waits that lasted until their deadline
     * @param overflows waits that ended because a queue was full
     * @param restarts how often the order began anew, since another start of the distributor followed
     */
    public record Order(long held, long gaps, long timeouts, long overflows, long restarts) {}

    /** Frees the sockets; after {@link #run}. */
    @Override
    public void close() {
        socket.close();
        out.close();
    }
}
