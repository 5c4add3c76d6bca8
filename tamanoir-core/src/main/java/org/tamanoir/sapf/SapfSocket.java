package org.tamanoir.sapf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpRefusals;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * A socket on whose wire packets are ANEP or SAPF, and behind which all are ANEP.
 *
 * <p>Thread contract: that of {@link UdpSocket}.
 */
final class SapfSocket implements UdpSocket {
    private final Sapf sapf;
    private final UdpSocket socket;
    /** Answers to who sends here; null before the first batch. The receiving thread's. */
    private @Nullable Control answers;

    SapfSocket(Sapf sapf, UdpSocket socket) {
        this.sapf = sapf;
        this.socket = socket;
    }

    @Override
    public UdpBatch newBatch() {
        answers(); // With its memory: a datagram that found none would lose all that came with it.
        return new SapfBatch(sapf, this, socket.newBatch());
    }

    @Override
    public int receive(UdpBatch batch) throws IOException {
        if (!(batch instanceof SapfBatch framed)) {
            throw new IllegalArgumentException("batch of another kind of socket; take it from newBatch()");
        }
        int messages = framed.open(socket.receive(framed.under()));
        if (answers != null) {
            answers.flush();
        }
        return messages;
    }

    /** Returns what answers leave through. The receiving thread. */
    Control answers() {
        Control known = answers;
        if (known == null) {
            known = new Control(socket, 0);
            answers = known;
        }
        return known;
    }

    @Override
    public UdpSender newSender() {
        return newSender(0);
    }

    @Override
    public UdpSender newSender(int scope) {
        UdpSender sender = socket.newSender(scope);
        return sapf.asked().hasNeighbours() ? new SapfSender(sapf, socket, scope, sender) : sender;
    }

    @Override
    public UdpSender newSender(UdpRefusals refusals) {
        return socket.newSender(refusals);
    }

    @Override
    public boolean knowsOwnAddress() {
        return socket.knowsOwnAddress();
    }

    @Override
    public UdpSocket watched() {
        return socket.watched();
    }

    @Override
    public InetSocketAddress localAddress() {
        return socket.localAddress();
    }

    @Override
    public void receiveInTransit() throws IOException {
        socket.receiveInTransit();
    }

    @Override
    public int takeOverflows() {
        return socket.takeOverflows();
    }

    @Override
    public boolean hasUnsent() {
        return socket.hasUnsent();
    }

    @Override
    public int sendBufferBytes() {
        return socket.sendBufferBytes();
    }

    @Override
    public void joinGroup(InetAddress group) throws IOException {
        socket.joinGroup(group);
    }

    @Override
    public boolean awaitReadable(Duration timeout) throws IOException {
        return socket.awaitReadable(timeout);
    }

    @Override
    public void close() {
        socket.close();
    }
}
