package org.tamanoir.offload;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.transport.StreamGateway;
import org.tamanoir.transport.TransitSockets;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSocket;

/**
 * The levels below the JVM of one environment, and the way up from them.
 *
 * <p>Thread contract: any thread.
 */
public final class Levels {
    /** Takes connections. */
    public interface Listener {
        /** Listens for those of a gateway, until what it returns is closed. */
        Listening listen(StreamGateway gateway) throws IOException;
    }

    /** A socket that listens. Any thread. */
    public interface Listening extends AutoCloseable {
        int port();

        @Override
        void close();
    }

    private static final Logger LOG = LoggerFactory.getLogger(Levels.class);
    private volatile NodeOs os = NodeOs.NONE;
    private volatile PlainTraffic plain = PlainTraffic.NONE;
    private volatile @Nullable UpcallPath path;

    /** Has these levels look at packets, once they are attached. */
    public void use(NodeOs os) {
        this.os = os;
    }

    public NodeOs os() {
        return os;
    }

    public boolean isNone() {
        return os == NodeOs.NONE;
    }

    /** Has plain datagrams come up, once that is attached. */
    public void use(PlainTraffic plain) {
        this.plain = plain;
    }

    public PlainTraffic plain() {
        return plain;
    }

    /** Returns how datagrams come up; null while no levels are attached. */
    public @Nullable UpcallPath path() {
        return path;
    }

    /**
     * Attaches them to these sockets and addresses, and plain traffic, as far as they can be; the log says why they cannot.
     *
     * @param listener takes plain connections
     * @return sockets that plain datagrams come to
     */
    public List<UdpSocket> attach(
            List<UdpSocket> udp, List<InetSocketAddress> tcp, int typeId, TransportKind kind, Listener listener) {
        boolean isPlain = plain != PlainTraffic.NONE;
        if (isNone() && !isPlain) {
            return List.of();
        }
        TransitSockets onward;
        try {
            onward = TransitSockets.open(plain.sentMark());
        } catch (IOException e) {
            if (!isNone()) {
                LOG.warn("no level below the JVM: {}", e.getMessage());
            }
            if (isPlain) {
                plain.notAttached(String.valueOf(e.getMessage()));
                LOG.warn("plain IP: nothing comes up, all goes on: {}", e.getMessage());
            }
            return List.of();
        }
        boolean looks = !isNone() && looksAt(udp, tcp, typeId);
        PlainSockets sockets = isPlain ? PlainSockets.attach(plain, kind, typeId, listener) : PlainSockets.none(plain);
        if (looks || !sockets.all().isEmpty()) {
            path = new UpcallPath(os, looks ? os.upMark() : 0, plain, sockets, onward);
        } else {
            onward.close();
        }
        return sockets.all();
    }

    /**
     * Makes other rules for plain IP ready. One call at a time, the next when what this returned is committed or abandoned.
     *
     * @throws LevelException in one line, if they cannot be had; nothing is changed then
     */
    public PlainChange stage(PlainRules rules, int alertsPerSecond) throws LevelException {
        UpcallPath up = path;
        return (up == null ? PlainSockets.none(plain) : up.plainSockets()).stage(rules, alertsPerSecond);
    }

    private boolean looksAt(List<UdpSocket> udp, List<InetSocketAddress> tcp, int typeId) {
        try {
            for (UdpSocket socket : udp) {
                socket.receiveInTransit();
            }
            os.attach(udp.stream().map(UdpSocket::localAddress).toList(), tcp, typeId);
            return true;
        } catch (IOException | LevelException e) {
            LOG.warn("no level below the JVM: {}", e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("no level below the JVM: by a fault of theirs", e);
        }
        return false;
    }

    /** Returns whether plain datagrams to this address are let go by, since they end at this host or at its links. */
    public boolean endsHere(InetAddress address) {
        UpcallPath up = path;
        return up != null && up.endsHere(address);
    }

    /** Has new packets go by the node. */
    public void release() {
        quietly(os::release);
        quietly(plain::release);
    }

    public void close() {
        quietly(os::close);
        quietly(plain::close);
    }

    /** Lets nothing go on any more. */
    public void closePath() {
        UpcallPath up = path;
        if (up != null) {
            up.close();
        }
    }

    private static void quietly(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.error("the levels below the JVM fail", e);
        }
    }
}
