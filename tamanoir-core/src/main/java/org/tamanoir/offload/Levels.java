package org.tamanoir.offload;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.transport.UdpSocket;

/**
 * The levels below the JVM of one environment, and the way up from them.
 *
 * <p>Thread contract: any thread.
 */
public final class Levels {
    private static final Logger LOG = LoggerFactory.getLogger(Levels.class);
    private volatile NodeOs os = NodeOs.NONE;
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

    /** Returns how datagrams come up; null while no levels are attached. */
    public @Nullable UpcallPath path() {
        return path;
    }

    /** Attaches them to these sockets and addresses, as far as they can be; the log says why they cannot. */
    public void attach(List<UdpSocket> udp, List<InetSocketAddress> tcp, int typeId) {
        try {
            path = UpcallPath.attach(os, udp, tcp, typeId);
        } catch (IOException | LevelException e) {
            LOG.warn("no level below the JVM: {}", e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("no level below the JVM: by a fault of theirs", e);
        }
    }

    /** Has new packets go by the node. */
    public void release() {
        quietly(os::release);
    }

    public void close() {
        quietly(os::close);
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
