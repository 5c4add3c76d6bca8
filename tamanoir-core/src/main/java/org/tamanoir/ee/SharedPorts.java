package org.tamanoir.ee;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.offload.UpcallCompletions;
import org.tamanoir.offload.UpcallPath;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;

/**
 * The UDP ports that the reception reads: those of which it is not known yet who uses them, and those that several
 * services share. Parses each datagram and hands it to the inbox of its service.
 *
 * <p>Thread contract: the reception's thread, but for what is said to be any thread's.
 */
final class SharedPorts {
    /** Batches taken from a port when the node stops: what waits there, but no flood without end. */
    private static final int LAST_BATCHES = 64;

    private final NodeContext context;
    private final UdpServices udp;
    private final IoLoop loop;
    private final Traffic traffic;
    private final UpcallCompletions completions = new UpcallCompletions();
    private final Packet packet;
    private @Nullable Arrival arrival;
    private @Nullable PacketGuard guard;
    private final Set<UdpPort> ports = new LinkedHashSet<>();
    private boolean closed;

    SharedPorts(NodeContext context, UdpServices udp, IoLoop loop, Traffic traffic) {
        this.context = context;
        this.udp = udp;
        this.loop = loop;
        this.traffic = traffic;
        this.packet = new Packet(context.config().typeId(), PacketSpace.HEAP);
    }

    /** Reads a port from now on. Any thread. */
    void adopt(UdpPort port) {
        loop.execute(() -> {
            if (closed) {
                return;
            }
            ports.add(port);
            port.watch(loop, () -> read(port));
        });
    }

    /** Reads a batch; false when nothing waited. */
    private boolean read(UdpPort port) {
        UdpSocket socket = port.socket();
        UdpBatch batch;
        int messages;
        try {
            batch = port.batch();
            batch.leaveFolded(false);
            messages = port.receive();
        } catch (IOException e) {
            port.backOff(loop, () -> read(port), e);
            return false;
        }
        UpcallPath up = context.levels().path();
        if (up != null) {
            up.tellLost(socket);
            up.arrived(batch, messages);
        }
        Arrival from = arrival == null ? new Arrival(socket) : arrival;
        arrival = from;
        UdpTaker only;
        try {
            only = deliver(port, from, batch, messages, up);
        } finally {
            batch.done();
        }
        completions.report(context.levels().os());
        if (only != null && !port.isShared() && !closed) {
            ports.remove(port);
            port.release();
            if (!only.pass(port)) {
                adopt(port);
            }
        }
        return messages > 0;
    }

    /** Delivers a batch; returns the instance that took the last of its datagrams that one took. */
    private @Nullable UdpTaker deliver(
            UdpPort port, Arrival from, UdpBatch batch, int messages, @Nullable UpcallPath up) {
        UdpTaker only = null;
        for (int message = 0; message < messages; message++) {
            from.set(port.socket(), batch, message, up);
            int segment = Math.max(1, batch.segmentBytes(message));
            int start = batch.start(message);
            int end = batch.end(message);
            do {
                UdpTaker service = deliver(port, from, batch.buffer(message), start, Math.min(segment, end - start));
                if (service != null) {
                    only = service;
                }
                start += segment;
            } while (start < end);
        }
        return only;
    }

    /** Reads what waits, but no flood without end, then leaves the port alone. */
    private void readLast(UdpPort port) {
        int batches = 0;
        while (batches < LAST_BATCHES && read(port)) {
            batches++;
        }
        port.release();
    }

    private @Nullable UdpTaker deliver(UdpPort port, Arrival from, ByteBuffer bytes, int offset, int length) {
        Tap tap = context.tap();
        if (tap.watchesArrivals()) {
            tap.arrived(StreamInfo.Transport.UDP, from.peer(), from.local(), bytes, offset, length);
        }
        ParseFault malformed = packet.parse(bytes, offset, length);
        DropReason fault = malformed == null ? null : DropReason.of(malformed);
        long key = fault == null ? packet.serviceKey() : ServiceKey.NONE;
        traffic.in(packet.length());
        guard = context.authentication().guard(guard);
        if (fault == null && guard != null) {
            fault = guard.check(packet);
        }
        from.prove(guard == null ? PacketGuard.NO_PROOF : guard.proof());
        if (fault == null && !packet.isTamanoir() && packet.discardIfUnknownType()) {
            fault = DropReason.TYPE_ID;
        }
        UdpTaker service = null;
        if (fault == null) {
            try {
                service = udp.running(key);
                fault = service == null ? null : service.offer(packet, from);
                if (service == null || fault == DropReason.SHUTDOWN) {
                    service = null;
                    fault = udp.deliver(key, packet, from);
                }
            } catch (Throwable e) {
                // The rest of the batch is other senders'.
                context.threads().survived("UDP " + port.socket().localAddress(), 1, e);
                service = null;
                fault = DropReason.NO_INSTANCE;
            }
            if (fault != null && udp.goesOn(fault, from)) {
                fault = udp.deliver(ServiceKey.NONE, packet, from);
            }
            if (service != null || fault == null) {
                port.usedBy(key);
            }
        }
        if (fault != null) {
            traffic.drop(fault, tap.watchesDrops() ? from.peer() : null, key, packet.length());
            completions.add(from.slot());
        } else {
            if (packet.hasTrailer() || packet.hasRepeatedOption()) {
                traffic.anomaly();
            }
            traffic.handed();
        }
        return service != null && service.readsPorts() ? service : null;
    }

    /** Takes no port any more; what has come to those that are read is handled. */
    void close() {
        closed = true;
        ports.forEach(this::readLast);
        ports.clear();
    }

    /** Leaves the ports alone at once. */
    void release() {
        ports.forEach(UdpPort::release);
    }
}
