package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
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
 * @param maxStreams TCP connections at once; more are closed at once
 * @param hopBudget active hops that this node gives a packet that comes without, 1–65,535
 * @param inboxOctets capacity of the queue to a service's thread; a power of two from 256 Ki
 * @param firstPacketTimeout from accept to the first whole header, and from a packet's first octet to its last
 * @param connectTimeout to reach a TCP next hop, retries included
 * @param stallTimeout how long a next hop may take nothing before its stream is closed
 * @param lingerTimeout how long a stream whose sender has ended waits for silent replies
 * @param tls addresses to accept TCP streams inside TLS on; port 0 takes a free one
 * @param tlsFiles what the node shows and believes, on these addresses and towards TLS next hops; null = nothing to
 *     show, and the JDK's authorities to believe
 * @param deployTimeout how long packets wait for a service's code
 * @param makeTimeout how long a service's constructor may take
 * @param holdOctets UDP packets that wait for a service at once, 64 Ki to 1 Gi
 */
public record EeConfig(
        List<InetSocketAddress> tcp,
        List<InetSocketAddress> udp,
        int typeId,
        TransportKind transport,
        FailurePolicy unknownService,
        int maxStreams,
        int hopBudget,
        int inboxOctets,
        Duration firstPacketTimeout,
        Duration connectTimeout,
        Duration stallTimeout,
        Duration lingerTimeout,
        List<InetSocketAddress> tls,
        @Nullable TlsFiles tlsFiles,
        Duration deployTimeout,
        Duration makeTimeout,
        int holdOctets) {
    private static final Duration DEFAULT_DEPLOY_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration DEFAULT_MAKE_TIMEOUT = Duration.ofSeconds(5);
    private static final int DEFAULT_HOLD_OCTETS = 4 << 20;

    public EeConfig {
        tcp = List.copyOf(tcp);
        tls = List.copyOf(tls);
        udp = List.copyOf(udp);
        requireInside("Type ID", typeId, 1, 0xFFFF);
        requireInside("streams at once", maxStreams, 1, 1 << 20);
        requireInside("hop budget", hopBudget, 1, 0xFFFF);
        requireInside("octets held", holdOctets, 1 << 16, 1 << 30);
        requireInside("inbox octets", inboxOctets, PacketRing.MIN_OCTETS, 1 << 30);
        if (Integer.bitCount(inboxOctets) != 1) {
            throw new IllegalArgumentException("inbox octets " + inboxOctets + ": must be a power of two");
        }
    }

    /** Without TLS; with 60 s for a service's code, 5 s for its constructor and 4 MiB of UDP packets that wait. */
    public EeConfig(
            List<InetSocketAddress> tcp,
            List<InetSocketAddress> udp,
            int typeId,
            TransportKind transport,
            FailurePolicy unknownService,
            int maxStreams,
            int hopBudget,
            int inboxOctets,
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
                inboxOctets,
                firstPacketTimeout,
                connectTimeout,
                stallTimeout,
                lingerTimeout,
                List.of(),
                null,
                DEFAULT_DEPLOY_TIMEOUT,
                DEFAULT_MAKE_TIMEOUT,
                DEFAULT_HOLD_OCTETS);
    }

    private static void requireInside(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " " + value + ": must be " + min + " to " + max);
        }
    }

    /** The defaults, with nothing to listen on. */
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

    /** The same with these addresses to listen on. */
    public EeConfig listening(List<InetSocketAddress> tcp, List<InetSocketAddress> udp) {
        return with(tcp, udp, tls, tlsFiles, deployTimeout, makeTimeout, holdOctets);
    }

    /** The same with these addresses to accept TLS on, and these files. */
    public EeConfig withTls(List<InetSocketAddress> tls, @Nullable TlsFiles tlsFiles) {
        return with(tcp, udp, tls, tlsFiles, deployTimeout, makeTimeout, holdOctets);
    }

    /** The same with these bounds for services that are brought in. */
    public EeConfig deploying(Duration deployTimeout, Duration makeTimeout, int holdOctets) {
        return with(tcp, udp, tls, tlsFiles, deployTimeout, makeTimeout, holdOctets);
    }

    private EeConfig with(
            List<InetSocketAddress> tcp,
            List<InetSocketAddress> udp,
            List<InetSocketAddress> tls,
            @Nullable TlsFiles tlsFiles,
            Duration deployTimeout,
            Duration makeTimeout,
            int holdOctets) {
        return new EeConfig(
                tcp,
                udp,
                typeId,
                transport,
                unknownService,
                maxStreams,
                hopBudget,
                inboxOctets,
                firstPacketTimeout,
                connectTimeout,
                stallTimeout,
                lingerTimeout,
                tls,
                tlsFiles,
                deployTimeout,
                makeTimeout,
                holdOctets);
    }
}
