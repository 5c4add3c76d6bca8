package org.tamanoir.cluster.reflect;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpEgressSockets;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/** A socket of a session: for its datagrams, or for RTCP. The reflector's thread; made by any. */
final class Inlet implements AutoCloseable {
    /** Batches that one session gets before others have their turn. */
    private static final int BATCHES = 4;

    /** Copies after which no further batch is begun in a turn: some tens of milliseconds. */
    private static final long COPIES = 1 << 16;

    private static final Logger LOG = LoggerFactory.getLogger(Inlet.class);

    private final Session session;
    private final int portOffset;
    private final UdpSocket socket;
    private final UdpPort port;
    private final UdpSender sender;

    /**
     * Binds the socket, and joins the session's group.
     *
     * @param portOffset 1 for RTCP, else 0
     */
    Inlet(Session session, Transport transport, InetSocketAddress address, int portOffset) throws IOException {
        this.session = session;
        this.portOffset = portOffset;
        socket = transport.bind(address);
        UdpEgressSockets.warnOfAnswers(socket);
        try {
            InetAddress group =
                    address.getAddress().isMulticastAddress() ? address.getAddress() : session.config.group();
            if (group != null) {
                socket.joinGroup(group);
            }
            port = new UdpPort(socket);
            sender = socket.newSender(session.refusals(portOffset));
            if (portOffset == 0) {
                session.media(sender);
            }
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    InetSocketAddress address() {
        return socket.localAddress();
    }

    int sendBufferBytes() {
        return socket.sendBufferBytes();
    }

    UdpBatch newBatch() {
        return socket.newBatch();
    }

    /** Has a loop call while datagrams wait; all inlets of a loop share the batch. */
    void watch(IoLoop loop, UdpBatch batch) {
        port.watch(loop, () -> read(loop, batch));
    }

    private void read(IoLoop loop, UdpBatch batch) {
        try {
            long mostAsked = session.asked() + COPIES;
            for (int i = 0; i < BATCHES && session.asked() < mostAsked; i++) {
                int messages = socket.receive(batch);
                if (messages == 0) {
                    return;
                }
                session.receive(batch, messages, sender, portOffset, System.nanoTime());
            }
        } catch (IOException e) {
            port.backOff(loop, () -> read(loop, batch), e);
        } catch (RuntimeException e) {
            LOG.error("session {}: a batch was not reflected to its end: {}", session.config.name(), e.toString(), e);
            port.backOff(loop, () -> read(loop, batch), new IOException("the batch before failed", e));
        }
    }

    @Override
    public void close() {
        port.release();
        socket.close();
    }
}
