package org.tamanoir.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.PacketSigner;
import org.tamanoir.sapf.Sapf;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.QuicPort;
import org.tamanoir.transport.StreamCodec;
import org.tamanoir.transport.TransportKind;

/**
 * Sends packets to a node over one TCP connection or one UDP socket, and reads what it answers.
 *
 * <pre>{@code
 * try (AnepSender sender = AnepSender.tcp(new InetSocketAddress("127.0.0.1", 3322))) {
 *     PacketBuilder builder = new PacketBuilder()
 *             .destination(InetAddress.getByName("10.0.2.7")).service("org.tamanoir.services.Monitor").stream(7);
 *     sender.send(builder, payload);
 *     sender.finish();
 * }
 * }</pre>
 *
 * <p>Packets are collected and leave when the batch is full, at {@link #flush} and at {@link #finish}. Waits are
 * bounded: a node that takes nothing for the stall time-out ends the call with an exception.
 *
 * <p>Thread contract: one thread; {@link #sentPackets} and {@link #sentBytes} may be read, and {@link #close} be
 * called, from any.
 */
public final class AnepSender implements AutoCloseable {
    /** Bytes collected before they leave unless told otherwise; larger and smaller batches were slower over TCP. */
    public static final int DEFAULT_BATCH_BYTES = 256 * 1024;

    private final PacketLink link;
    /** The process's own part of a stream over QUIC; null without. */
    private final @Nullable QuicPort quic;

    private final int batchBytes;
    private final @Nullable PacketSigner signer;
    private final Packet view;
    private @Nullable ByteBuffer batch;
    private int batchPackets;
    private volatile long sentPackets;
    private volatile long sentBytes;

    private AnepSender(PacketLink link, @Nullable QuicPort quic, Settings settings) {
        this.link = link;
        this.quic = quic;
        this.batchBytes = settings.batchBytes;
        this.signer = settings.key == null ? null : new PacketSigner(settings.key);
        this.view = new Packet(settings.typeId, PacketSpace.HEAP);
    }

    /** Where to send, and how: end with {@link #tcp()}, {@link #quic()} or {@link #udp()}. */
    public static final class Settings {
        private final InetSocketAddress node;
        private Duration connectTimeout = Duration.ofSeconds(5);
        private Duration stallTimeout = Duration.ofSeconds(30);
        private int batchBytes = DEFAULT_BATCH_BYTES;
        private int typeId = Anep.DEFAULT_TYPE_ID;
        private TransportKind kind = TransportKind.AUTO;
        private @Nullable Consumer<Packet> replyHandler;
        private @Nullable TlsFiles tls;
        private @Nullable AuthKey key;

        private Settings(InetSocketAddress node) {
            this.node = node;
        }

        /** Bounds the wait for a TCP connection; 5 s by default. */
        public Settings connectTimeout(Duration timeout) {
            this.connectTimeout = timeout;
            return this;
        }

        /** Bounds the time that a TCP peer may take nothing before {@code send} gives up; 30 s by default. */
        public Settings stallTimeout(Duration timeout) {
            this.stallTimeout = timeout;
            return this;
        }

        /** Sets how many bytes are collected before they leave; one packet always fits. */
        public Settings batchBytes(int bytes) {
            this.batchBytes = bytes;
            return this;
        }

        /** Says under which Type ID private options of answers count. */
        public Settings typeId(int typeId) {
            this.typeId = typeId;
            return this;
        }

        /**
         * Sends TCP inside TLS: the node must show a certificate of a trusted authority for its name, or for its
         * address if none was given. Then {@link AnepSender#close} without {@link AnepSender#finish} is a cut, which
         * the node hands on as one.
         *
         * @param files null = without
         */
        public Settings tls(@Nullable TlsFiles files) {
            this.tls = files;
            return this;
        }

        /**
         * Signs each packet as it leaves; it must have the {@linkplain PacketBuilder#authentication option} for that, and
         * generated load no checksum.
         *
         * @param key null = signs none
         */
        public Settings sign(@Nullable AuthKey key) {
            this.key = key;
            return this;
        }

        /** Chooses the implementation of UDP sockets. */
        public Settings transportKind(TransportKind kind) {
            this.kind = kind;
            return this;
        }

        /**
         * Takes answers as they come while packets are sent, on the sending thread; the view is valid during the
         * call. Over TCP this keeps a node that answers as it reads, and a sender that does not read, from blocking
         * each other.
         */
        public Settings onReply(Consumer<Packet> handler) {
            this.replyHandler = handler;
            return this;
        }

        /**
         * Connects.
         *
         * @throws IOException if the node cannot be reached in time, a TLS file is no good, or TLS finds another node
         */
        public AnepSender tcp() throws IOException {
            TlsContext context = tls == null ? null : TlsContext.of(tls);
            BlockingConnection connection = BlockingConnection.connect(node, context, connectTimeout, stallTimeout);
            return new AnepSender(new TcpLink(connection, typeId, replyHandler), null, this);
        }

        /**
         * Connects likewise, without TLS, and asks the node for selectors, in place of which headers stay away that do not
         * change from packet to packet. A node that knows nothing of them, or does not answer in half the time for a
         * connection, or 1 s, gets packets as they are, by another connection. {@link AnepSender#finish} waits for what the
         * node still has to answer, up to the stall time-out.
         *
         * @throws IOException as {@link #tcp}
         */
        public AnepSender sapfOverTcp() throws IOException {
            StreamCodec codec =
                    node.isUnresolved() ? null : Sapf.towards(node, typeId).streamTo(node);
            if (codec == null) {
                return tcp(); // Which says that the name does not resolve.
            }
            BlockingConnection connection =
                    BlockingConnection.connectThrough(node, codec, connectTimeout, stallTimeout);
            return new AnepSender(new TcpLink(connection, typeId, replyHandler), null, this);
        }

        /**
         * Connects by QUIC, a reliable stream over UDP; what {@link #tls} says of files, ends and cuts holds here too,
         * and without files the JDK's authorities are believed. The thread that carries it belongs to this sender.
         *
         * @throws IOException as {@link #tcp}, and where QUIC's library does not load
         */
        public AnepSender quic() throws IOException {
            QuicPort port = new QuicPort(kind, (tls == null ? TlsFiles.NONE : tls).load(), QuicPort.Limits.DEFAULT);
            try {
                BlockingConnection connection = BlockingConnection.connect(node, port, connectTimeout, stallTimeout);
                return new AnepSender(new TcpLink(connection, typeId, replyHandler), port, this);
            } catch (IOException | RuntimeException e) {
                port.close();
                throw e;
            }
        }

        /**
         * Binds a socket on a free port.
         *
         * @throws IOException if the node's name is unknown or no socket can be had
         */
        public AnepSender udp() throws IOException {
            return new AnepSender(new UdpLink(node, kind, typeId, replyHandler, false), null, this);
        }

        /**
         * Binds a socket likewise and asks the node for selectors, in place of which headers stay away that do not change
         * from packet to packet.
         *
         * @throws IOException as {@link #udp}
         */
        public AnepSender sapf() throws IOException {
            return new AnepSender(new UdpLink(node, kind, typeId, replyHandler, true), null, this);
        }
    }

    /** Begins the settings of a sender to {@code node}. */
    public static Settings to(InetSocketAddress node) {
        return new Settings(node);
    }

    /** Connects a TCP sender with default settings. */
    public static AnepSender tcp(InetSocketAddress node) throws IOException {
        return to(node).tcp();
    }

    /** Binds a UDP sender with default settings. */
    public static AnepSender udp(InetSocketAddress node) throws IOException {
        return to(node).udp();
    }

    /**
     * Adds one packet to the batch; sends the batch first when the packet does not fit any more.
     *
     * @param payload from its position to its limit; copied
     * @throws IllegalArgumentException if the packet exceeds what the transport carries: 65,535 bytes over TCP,
     *     65,507 over UDP
     * @throws IOException if the batch has to leave and the connection is gone or stalled
     */
    public void send(PacketBuilder builder, ByteBuffer payload) throws IOException {
        int bytes = builder.headerLength() + payload.remaining();
        builder.write(room(bytes), payload);
        batchPackets++;
    }

    /** Adds one finished packet to the batch; see {@link #send(PacketBuilder, ByteBuffer)}. */
    public void send(Packet packet) throws IOException {
        packet.seal();
        ByteBuffer target = room(packet.length());
        target.put(target.position(), packet.buffer(), packet.offset(), packet.length());
        target.position(target.position() + packet.length());
        batchPackets++;
    }

    private ByteBuffer room(int bytes) throws IOException {
        requireFits(bytes);
        ByteBuffer target = batch;
        if (target == null) {
            target = ByteBuffer.allocateDirect(Math.max(batchBytes, Anep.MAX_PACKET_OCTETS));
            batch = target;
        }
        if (target.remaining() < bytes) {
            flush();
        }
        return target;
    }

    private void requireFits(int bytes) {
        if (bytes > link.maxPacketBytes()) {
            throw new IllegalArgumentException("packet of " + bytes + " bytes: this transport carries at most "
                    + link.maxPacketBytes() + "; send several packets");
        }
    }

    /**
     * Sends the next packets of generated load at once, behind all that {@code send} collected.
     *
     * @return packets sent: at most {@code maxPackets}, and at most to the end of the batch's memory
     */
    public int send(LoadBatch load, int maxPackets) throws IOException {
        requireFits(load.packetBytes());
        flush();
        int packets = load.prepare(maxPackets);
        sign(load.bytes(), load.from(), load.to());
        link.write(load.bytes(), load.from(), load.to());
        count(packets, load.to() - load.from());
        return packets;
    }

    /** Sends all that was collected. Over TCP it is then in the hands of the operating system. */
    public void flush() throws IOException {
        ByteBuffer target = batch;
        if (target != null && target.position() > 0) {
            int bytes = target.position();
            int packets = batchPackets;
            target.clear();
            batchPackets = 0;
            sign(target, 0, bytes);
            link.write(target, 0, bytes);
            count(packets, bytes);
        }
    }

    private void sign(ByteBuffer packets, int from, int to) {
        for (int at = from; signer != null && at < to; at += view.length()) {
            ParseFault fault = view.parse(packets, at, to - at);
            if (fault != null || !view.has(Option.AUTHENTICATION)) {
                throw new IllegalArgumentException("a packet that is to be signed "
                        + (fault == null ? "has no option for that: build it with one" : "is malformed: " + fault));
            }
            signer.sign(view);
        }
    }

    private void count(int packets, int bytes) {
        sentPackets = sentPackets + packets;
        sentBytes = sentBytes + bytes;
    }

    /** Sends all that was collected and, over TCP, ends the output; answers can still be polled. */
    public void finish() throws IOException {
        flush();
        link.shutdownOutput();
    }

    /**
     * Points the view at the next answer, whichever packet it answers. What was collected is not sent by this: flush
     * first.
     *
     * @param packet valid until the next call on this sender
     * @param timeout zero does not wait
     * @return false when the time is up or {@link #ended}
     * @throws IOException if the connection is gone, or an answer over TCP is so malformed that the next one cannot
     *     be found
     */
    public boolean poll(Packet packet, Duration timeout) throws IOException {
        return link.poll(packet, timeout.toNanos());
    }

    /** Returns true if the far side has ended its output and every answer was polled; never so over UDP. */
    public boolean ended() {
        return link.ended();
    }

    /** Returns the packets that were handed to the operating system. */
    public long sentPackets() {
        return sentPackets;
    }

    /** Returns the bytes of the packets that were handed to the operating system. */
    public long sentBytes() {
        return sentBytes;
    }

    /** Returns the packets that the operating system refused (UDP). */
    public long refusedPackets() {
        return link.refusedPackets();
    }

    /** Returns why the operating system refused the last packet; empty when it refused none. */
    public String lastError() {
        return link.lastError();
    }

    /** Returns the address of this end. */
    public InetSocketAddress localAddress() throws IOException {
        return link.local();
    }

    /** Ends at once; what was collected and not sent is lost. By QUIC, up to 3 s behind {@link #finish}. Any thread. */
    @Override
    public void close() {
        link.close();
        if (quic != null) {
            quic.close();
        }
    }
}
