package org.tamanoir.cluster.element;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * Sends the datagrams of one stream to the units of a distributed element, in rounds, as {@link
 * java.nio.channels.DatagramChannel#send} would to one receiver: who sends knows nothing of units.
 *
 * <pre>{@code
 * try (Sprayer sprayer = Sprayer.over(units).distribution(Distribution.EXACT)
 *         .destination(InetAddress.getByName("10.0.9.1")).service("org.tamanoir.services.Monitor").open()) {
 *     sprayer.send(datagram);
 *     sprayer.flush();
 * }
 * }</pre>
 *
 * <p>A datagram becomes the payload of an ANEP packet with a sequence number (private option 4) and its round (5): 40
 * bytes more, 12 more each for an IPv4 destination and a service. Packets are collected, copied behind their headers, and
 * leave when one unit has a burst of them, and at {@link #flush}: of each unit's as few messages as the kernel allows.
 *
 * <p>Thread contract: one thread; counts of what was sent may be read by any.
 */
public final class Sprayer implements AutoCloseable {
    /** Room for a burst of one unit; the largest datagram fits twice. */
    private static final int PATH_BYTES = 128 * 1024;
    /** 5 cache lines more than a power of two, so that the units' packets do not share sets of the caches. */
    private static final int STRIDE_BYTES = PATH_BYTES + 5 * 64;

    private static final AtomicLong LAST_BEGINNING = new AtomicLong();

    private final UdpSocket socket;
    private final UdpSender sender;
    private final Rounds rounds;
    private final byte[] header;
    private final int sequenceAt;
    private final int roundAt;
    private final int burst;
    private final List<Unit> units;
    private final int[] paths;
    private final long[] highs = new long[Rounds.MAX_PATHS];
    private final long[] lows = new long[Rounds.MAX_PATHS];
    private final int[] ports = new int[Rounds.MAX_PATHS];
    /** By path, what waits: packets, their lengths in bytes, all bytes. */
    private final int[] counts = new int[Rounds.MAX_PATHS];

    private final int[][] lengths = new int[Rounds.MAX_PATHS][];
    private final int[] fills = new int[Rounds.MAX_PATHS];
    private final int[] bases = new int[Rounds.MAX_PATHS];
    private final ByteBuffer memory;
    private final long[] packets = new long[Rounds.MAX_PATHS];
    private long sequence;
    private long markers;

    /** Has this socket from now on. */
    private Sprayer(Settings settings, List<Unit> units, UdpSocket socket) {
        this.socket = socket;
        sender = socket.newSender();
        burst = settings.burst;
        header = settings.header();
        Packet template = new Packet(settings.typeId, PacketSpace.HEAP);
        template.parse(ByteBuffer.wrap(header), 0, header.length);
        sequenceAt = template.optionOffset(Option.STREAM) + 4;
        roundAt = template.optionOffset(Option.ROUND);
        memory = ByteBuffer.allocateDirect(units.size() * STRIDE_BYTES);
        this.units = units;
        paths = units.stream().mapToInt(Unit::path).toArray();
        int size = settings.roundSize != 0 ? settings.roundSize : 8 * units.size();
        rounds = new Rounds(settings.distribution, size, Rounds.MAX_PATHS, settings.firstRound, this::mark);
        for (int i = 0; i < units.size(); i++) {
            Unit unit = units.get(i);
            int path = unit.path();
            highs[path] = Addresses.high(unit.host());
            lows[path] = Addresses.low(unit.host());
            ports[path] = unit.address().getPort();
            lengths[path] = new int[burst];
            bases[path] = i * STRIDE_BYTES;
            rounds.weight(path, unit.weight());
        }
    }

    static InetSocketAddress anyPortToward(InetAddress like) throws IOException {
        return new InetSocketAddress(InetAddress.getByAddress(new byte[like.getAddress().length]), 0);
    }

    /** Says to whom to send, and how: ends with {@link #open}. */
    public static final class Settings {
        private final Collection<Unit> units;
        private Distribution distribution = Distribution.ROUND_ROBIN;
        private int roundSize;
        private long firstRound = beginning();
        private int burst = 32;
        private int typeId = Anep.DEFAULT_TYPE_ID;
        private int streamId = 1;
        private @Nullable InetAddress destination;
        private int destinationPort = -1;
        private @Nullable String service;
        private TransportKind kind = TransportKind.AUTO;

        private Settings(Collection<Unit> units) {
            this.units = units;
        }

        /** Returns a round above those of all earlier starts: here, and by the clock on this and other hosts. */
        private static long beginning() {
            return LAST_BEGINNING.updateAndGet(
                    last -> Math.max(Beginning.above(last), Beginning.at(System.currentTimeMillis())));
        }

        /** Sets how packets are divided; round-robin by default. */
        public Settings distribution(Distribution distribution) {
            this.distribution = distribution;
            return this;
        }

        /** Sets the packets of a round by weight or with sticky keys, 1 to 65,536; 8 for each unit by default. */
        public Settings roundSize(int packets) {
            require(packets >= 1 && packets <= Rounds.MAX_SIZE, "round size", packets, "1 to " + Rounds.MAX_SIZE);
            roundSize = packets;
            return this;
        }

        /**
         * Sets the first round, 1 to 2⁶³ - 2³⁰; by default one above those of all earlier starts, by the clock. Upper bits as
         * theirs have packets ordered with them; without that, whatever they were is later than a low round.
         */
        public Settings firstRound(long round) {
            require(round >= 1 && round <= Beginning.MAX_ROUND, "first round", round, "1 to " + Beginning.MAX_ROUND);
            firstRound = round;
            return this;
        }

        /** Sets how many packets of a unit may wait for others, 1 to 64; 32 by default. 1 keeps the units in step best. */
        public Settings burst(int packets) {
            require(packets >= 1 && packets <= 64, "burst", packets, "1 to 64");
            burst = packets;
            return this;
        }

        /** Sets the Type ID of the packets, which is that of the nodes. */
        public Settings typeId(int typeId) {
            this.typeId = typeId;
            return this;
        }

        /** Sets the stream id of the packets. */
        public Settings streamId(int streamId) {
            this.streamId = streamId;
            return this;
        }

        /** Sets where the packets are to end up: units route them by it. */
        public Settings destination(InetAddress address) {
            destination = address;
            return this;
        }

        /** Sets the transport port there, 0–65,535. */
        public Settings destinationPort(int port) {
            destinationPort = port;
            return this;
        }

        /** Sets the service that the units run. */
        public Settings service(String name) {
            service = name;
            return this;
        }

        /** Chooses the implementation of UDP sockets. */
        public Settings transportKind(TransportKind kind) {
            this.kind = kind;
            return this;
        }

        private byte[] header() {
            PacketBuilder builder = new PacketBuilder().typeId(typeId);
            if (destination != null) {
                builder.destination(destination);
            }
            if (destinationPort >= 0) {
                builder.destinationPort(destinationPort);
            }
            if (service != null) {
                builder.service(service);
            }
            byte[] bytes = new byte[builder.stream(streamId).round(0, 0, 0).headerLength()];
            builder.write(ByteBuffer.wrap(bytes), ByteBuffer.allocate(0));
            return bytes;
        }

        /**
         * Binds a socket on a free port.
         *
         * @throws IllegalArgumentException in one line, if there is no unit, one twice, or they are of both IPv4 and IPv6
         * @throws IOException if no socket can be had
         */
        public Sprayer open() throws IOException {
            require(!units.isEmpty(), "units", 0, "1 to " + Rounds.MAX_PATHS);
            long numbers = units.stream().map(Unit::path).distinct().count();
            require(numbers == units.size(), "numbers of units", numbers, units.size() + " different ones");
            long families = units.stream()
                    .map(unit -> unit.host().getClass())
                    .distinct()
                    .count();
            require(families == 1, "address families of units", families, "1: IPv4 or IPv6 for all");
            List<Unit> known = List.copyOf(units);
            UdpSocket socket = UdpSockets.bind(kind, anyPortToward(known.get(0).host()));
            try {
                return new Sprayer(this, known, socket);
            } catch (RuntimeException | Error e) {
                socket.close();
                throw e;
            }
        }

        private static void require(boolean holds, String what, long value, String bound) {
            if (!holds) {
                throw new IllegalArgumentException(what + " " + value + ": must be " + bound);
            }
        }
    }

    /** Begins the settings of a sprayer over these units, 64 at most. */
    public static Settings over(Collection<Unit> units) {
        return new Settings(units);
    }

    /**
     * Sends a datagram, as the payload of a packet, sooner or later.
     *
     * @param datagram from its position, which moves there, to its limit; copied
     * @return its bytes
     * @throws IllegalArgumentException if it is too long, see {@link #maxDatagramBytes}
     * @throws IOException if no unit takes packets
     */
    public int send(ByteBuffer datagram) throws IOException {
        return send(datagram, 0);
    }

    /**
     * Sends a datagram, as {@link #send(ByteBuffer)}.
     *
     * @param key those of one key take one path, where keys are sticky
     */
    public int send(ByteBuffer datagram, long key) throws IOException {
        int bytes = datagram.remaining();
        if (bytes > maxDatagramBytes()) {
            throw new IllegalArgumentException("datagram of " + bytes + " bytes: " + maxDatagramBytes()
                    + " fit behind a header of " + header.length + "; send several");
        }
        if (!spray(datagram, datagram.position(), bytes, key)) {
            throw noUnit();
        }
        datagram.position(datagram.limit());
        return bytes;
    }

    /**
     * Sends an ANEP packet, whose service and destination are its own.
     *
     * @param packet gets the option of a round where it has none; copied
     * @throws IllegalArgumentException if it does not fit a datagram
     * @throws IOException if no unit takes packets
     */
    public void send(Packet packet) throws IOException {
        boolean fits = packet.length() <= Anep.MAX_DATAGRAM_OCTETS - Option.ROUND.words() * 4;
        if (!fits || !packet.has(Option.ROUND) && !packet.addOption(Option.ROUND)) {
            throw new IllegalArgumentException("packet of " + packet.length() + " bytes: with its round it has to fit "
                    + Anep.MAX_DATAGRAM_OCTETS + "; send several");
        }
        int path = rounds.next(packet.streamId());
        if (path < 0) {
            throw noUnit();
        }
        NodeOptions.setRound(packet, rounds.round(), path, rounds.flags());
        packet.seal();
        packet.copyTo(memory, room(path, packet.length()));
        packets[path]++;
    }

    private static IOException noUnit() {
        return new IOException("no unit takes packets: let one join, or give one a weight of 1 and more");
    }

    /** Sends bytes as {@link #send(ByteBuffer, long)}; returns false when no unit takes packets. */
    boolean spray(ByteBuffer source, int offset, int length, long key) {
        int path = rounds.next(key);
        if (path < 0) {
            return false;
        }
        int at = write(path, path, rounds.round(), rounds.flags(), length);
        memory.put(at + header.length, source, offset, length);
        packets[path]++;
        sequence++;
        return true;
    }

    private void mark(int way, int path, long round, int flags) {
        write(way, path, round, flags, 0);
        markers++;
    }

    /** Returns where the header begins, which is written for the unit of path {@code way}. */
    private int write(int way, int path, long round, int flags, int payloadBytes) {
        int bytes = header.length + payloadBytes;
        int at = room(way, bytes);
        memory.put(at, header)
                .putShort(at + 6, (short) bytes)
                .putLong(at + sequenceAt, sequence)
                .putLong(at + roundAt, round)
                .putInt(at + roundAt + 8, path << 16 | flags << 8);
        return at;
    }

    private int room(int path, int bytes) {
        if (counts[path] == burst || fills[path] + bytes > PATH_BYTES) {
            flush();
        }
        int at = bases[path] + fills[path];
        lengths[path][counts[path]++] = bytes;
        fills[path] += bytes;
        return at;
    }

    /** Sends all that was collected. */
    public void flush() {
        for (int path : paths) {
            addAll(path);
        }
        sender.flush();
    }

    /** Adds the packets of a path; those of one length that follow each other go together. */
    private void addAll(int path) {
        int at = bases[path];
        int count = counts[path];
        int[] sizes = lengths[path];
        for (int from = 0, to; from < count; from = to) {
            int bytes = sizes[from];
            to = from + 1;
            while (to < count && sizes[to] == bytes) {
                to++;
            }
            int all = (to - from) * bytes;
            sender.addRun(memory, at, all, bytes, highs[path], lows[path], ports[path]);
            at += all;
        }
        counts[path] = 0;
        fills[path] = 0;
    }

    /**
     * Sets a unit's share, from the next round on.
     *
     * @param weight 0 to 1,000; 0 = no packets
     */
    public void weight(int path, int weight) {
        Settings.require(weight >= 0 && weight <= Rounds.MAX_WEIGHT, "weight", weight, "0 to " + Rounds.MAX_WEIGHT);
        rounds.weight(known(path), weight);
    }

    /** Leaves a unit out from now on: the round ends, and the last that the unit gets says that nothing follows. */
    public void leave(int path) {
        end(path, Rounds.LEAVING);
    }

    /** Leaves a unit out from now on that may be dead, and may come back: the round ends, and the unit is told nothing. */
    public void remove(int path) {
        end(path, Rounds.ABSENT);
    }

    private void end(int path, int weight) {
        rounds.weight(known(path), weight);
        rounds.endRound();
    }

    private int known(int path) {
        boolean isKnown = path >= 0 && path < Rounds.MAX_PATHS && lengths[path] != null;
        Settings.require(isKnown, "unit", path, "one of those that this sprayer was opened with");
        return path;
    }

    /** Begins anew above this round, which another distributor gave, if it is above the own ones. */
    public void beginAbove(long round) {
        if (round > rounds.round()) {
            long first = Beginning.above(round, System.currentTimeMillis());
            LAST_BEGINNING.accumulateAndGet(first, Math::max);
            rounds.beginAnew(first);
        }
    }

    List<Unit> units() {
        return units;
    }

    /** Returns the longest datagram that fits a packet, in bytes. */
    public int maxDatagramBytes() {
        return Anep.MAX_DATAGRAM_OCTETS - header.length;
    }

    /** Returns the bytes that stand before each datagram. */
    public int headerBytes() {
        return header.length;
    }

    /** Returns the round of the last packet. */
    public long round() {
        return rounds.round();
    }

    /** Returns the packets for a unit so far, without markers. */
    public long packets(int path) {
        return packets[known(path)];
    }

    /** Returns the markers of empty rounds, and of paths that came or ended, so far. */
    public long markers() {
        return markers;
    }

    /** Returns the packets that the operating system took, with markers. Any thread. */
    public long sentPackets() {
        return sender.sentPackets();
    }

    /** Returns the bytes of those. Any thread. */
    public long sentBytes() {
        return sender.sentBytes();
    }

    /** Returns the packets that the operating system refused. Any thread. */
    public long refusedPackets() {
        return sender.failedPackets();
    }

    /** Returns why it refused the last one; empty when it refused none. Any thread. */
    public String lastError() {
        return sender.lastError();
    }

    /** Sends what was collected, and ends. */
    @Override
    public void close() {
        flush();
        socket.close();
    }
}
