package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.admission.StreamLimits;
import org.tamanoir.anep.Anep;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.TransportKind;

/**
 * Settings of an execution environment.
 *
 * @param tcp addresses to accept TCP streams on; port 0 takes a free one
 * @param udp addresses to receive UDP packets on; port 0 takes a free one
 * @param typeId Tamanoir's Type ID, 1–65,535
 * @param transport which implementation of sockets
 * @param unknownService what becomes of packets for a service that the node does not have
 * @param maxStreams TCP connections and their further services at once; more are closed at once
 * @param hopBudget active hops that this node gives a packet that comes without, 1–65,535
 * @param inboxBytes capacity of the queue to a service's thread; a power of two from 256 Ki
 * @param firstPacketTimeout from accept to the first whole header, and from a packet's first byte to its last
 * @param connectTimeout to reach a TCP next hop, retries included
 * @param stallTimeout how long a next hop may take nothing before its stream is closed
 * @param lingerTimeout how long a stream whose sender has ended waits for silent replies
 * @param tls addresses to accept TCP streams inside TLS on; port 0 takes a free one
 * @param tlsFiles what the node shows and believes, on these addresses and towards TLS next hops; null = nothing to
 *     show, and the JDK's authorities to believe
 * @param deployTimeout how long packets wait for a service's code
 * @param makeTimeout how long a service's constructor may take
 * @param holdBytes UDP packets that wait for a service at once, 64 Ki to 1 Gi
 * @param udpBounds what one datagram may cause
 * @param streamLimits what one sender may take
 * @param threads which the services of TCP streams run on
 */
public record EeConfig(
        List<InetSocketAddress> tcp,
        List<InetSocketAddress> udp,
        int typeId,
        TransportKind transport,
        FailurePolicy unknownService,
        int maxStreams,
        int hopBudget,
        int inboxBytes,
        Duration firstPacketTimeout,
        Duration connectTimeout,
        Duration stallTimeout,
        Duration lingerTimeout,
        List<InetSocketAddress> tls,
        @Nullable TlsFiles tlsFiles,
        Duration deployTimeout,
        Duration makeTimeout,
        int holdBytes,
        UdpBounds udpBounds,
        StreamLimits streamLimits,
        ThreadKind threads) {
    private static final Duration DEFAULT_DEPLOY_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration DEFAULT_MAKE_TIMEOUT = Duration.ofSeconds(5);
    private static final int DEFAULT_HOLD_BYTES = 4 << 20;

    public EeConfig {
        tcp = List.copyOf(tcp);
        tls = List.copyOf(tls);
        udp = List.copyOf(udp);
        requireInside("Type ID", typeId, 1, 0xFFFF);
        requireInside("streams at once", maxStreams, 1, 1 << 20);
        requireInside("hop budget", hopBudget, 1, 0xFFFF);
        requireInside("bytes held", holdBytes, 1 << 16, 1 << 30);
        requireInside("inbox bytes", inboxBytes, PacketRing.MIN_BYTES, 1 << 30);
        if (Integer.bitCount(inboxBytes) != 1) {
            throw new IllegalArgumentException("inbox bytes " + inboxBytes + ": must be a power of two");
        }
    }

    /**
     * Makes a configuration without TLS, with 60 s for a service's code, 5 s for its constructor, 4 MiB of UDP packets
     * that wait, and the usual bounds of what {@linkplain UdpBounds#DEFAULT a datagram} and
     * {@linkplain StreamLimits#DEFAULT usual limits} of a sender.
     */
    public EeConfig(
            List<InetSocketAddress> tcp,
            List<InetSocketAddress> udp,
            int typeId,
            TransportKind transport,
            FailurePolicy unknownService,
            int maxStreams,
            int hopBudget,
            int inboxBytes,
            Duration firstPacketTimeout,
            Duration connectTimeout,
            Duration stallTimeout,
            Duration lingerTimeout) {
        this(
                tcp,
                udp,
                typeId,
                transport,
                unknownService,
                maxStreams,
                hopBudget,
                inboxBytes,
                firstPacketTimeout,
                connectTimeout,
                stallTimeout,
                lingerTimeout,
                List.of(),
                null,
                DEFAULT_DEPLOY_TIMEOUT,
                DEFAULT_MAKE_TIMEOUT,
                DEFAULT_HOLD_BYTES,
                UdpBounds.DEFAULT,
                StreamLimits.DEFAULT,
                ThreadKind.PLATFORM);
    }

    private static void requireInside(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " " + value + ": must be " + min + " to " + max);
        }
    }

    /** Returns the defaults, with nothing to listen on. */
    public static EeConfig defaults() {
        return new EeConfig(
                List.of(),
                List.of(),
                Anep.DEFAULT_TYPE_ID,
                TransportKind.AUTO,
                FailurePolicy.DROP,
                4096,
                32,
                1 << 20,
                Duration.ofSeconds(10),
                Duration.ofSeconds(5),
                Duration.ofMinutes(5),
                Duration.ofSeconds(30));
    }

    /** Returns the same with these addresses to listen on. */
    public EeConfig listening(List<InetSocketAddress> tcp, List<InetSocketAddress> udp) {
        return with(tcp, udp, tls, tlsFiles, deployTimeout, makeTimeout, holdBytes, udpBounds, streamLimits, threads);
    }

    /** Returns the same with these bounds of what one datagram may cause. */
    public EeConfig bounding(UdpBounds udpBounds) {
        return with(tcp, udp, tls, tlsFiles, deployTimeout, makeTimeout, holdBytes, udpBounds, streamLimits, threads);
    }

    /** Returns the same with these addresses to accept TLS on, and these files. */
    public EeConfig withTls(List<InetSocketAddress> tls, @Nullable TlsFiles tlsFiles) {
        return with(tcp, udp, tls, tlsFiles, deployTimeout, makeTimeout, holdBytes, udpBounds, streamLimits, threads);
    }

    /** Returns the same with these bounds for services that are brought in. */
    public EeConfig deploying(Duration deployTimeout, Duration makeTimeout, int holdBytes) {
        return with(tcp, udp, tls, tlsFiles, deployTimeout, makeTimeout, holdBytes, udpBounds, streamLimits, threads);
    }

    /** Returns the same with these limits of what one sender may take. */
    public EeConfig limiting(StreamLimits streamLimits) {
        return with(tcp, udp, tls, tlsFiles, deployTimeout, makeTimeout, holdBytes, udpBounds, streamLimits, threads);
    }

    /** Returns the same with these threads for the services of TCP streams. */
    public EeConfig running(ThreadKind threads) {
        return with(tcp, udp, tls, tlsFiles, deployTimeout, makeTimeout, holdBytes, udpBounds, streamLimits, threads);
    }

    /** Returns the same with this bound for streams that wait for a service's code. */
    public EeConfig waitingForCode(Duration deployTimeout) {
        return deploying(deployTimeout, makeTimeout, holdBytes);
    }

    private EeConfig with(
            List<InetSocketAddress> tcp,
            List<InetSocketAddress> udp,
            List<InetSocketAddress> tls,
            @Nullable TlsFiles tlsFiles,
            Duration deployTimeout,
            Duration makeTimeout,
            int holdBytes,
            UdpBounds udpBounds,
            StreamLimits streamLimits,
            ThreadKind threads) {
        return new EeConfig(
                tcp,
                udp,
                typeId,
                transport,
                unknownService,
                maxStreams,
                hopBudget,
                inboxBytes,
                firstPacketTimeout,
                connectTimeout,
                stallTimeout,
                lingerTimeout,
                tls,
                tlsFiles,
                deployTimeout,
                makeTimeout,
                holdBytes,
                udpBounds,
                streamLimits,
                threads);
    }
}
