package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.supervision.Abandoned;
import org.tamanoir.supervision.NodeFault;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.NoMemoryException;

/**
 * Sends the packets that a service has made, from a copy in the instance's own memory.
 *
 * <p>Thread contract: the service's thread; on others it refuses.
 */
final class Emitter {
    private final PacketPath path;
    private final PacketPath.Owner owner;
    private final int typeId;
    private final Traffic traffic;

    Emitter(PacketPath path, PacketPath.Owner owner, int typeId) {
        this.path = path;
        this.owner = owner;
        this.typeId = typeId;
        this.traffic = path.thread.traffic;
    }

    /** Sends a packet, as {@link ServiceThread.Body#emit}. */
    boolean emit(Packet made, @Nullable InetSocketAddress destination) {
        if (path.thread.isClosing()) {
            throw new IllegalStateException("the instance closes: send packets in endOfStream() at the latest");
        }
        if (!path.thread.isOwnThread()) {
            throw new IllegalStateException(
                    "emit() on thread " + Thread.currentThread().getName()
                            + ": packets leave on the service's own thread alone; pass them to it, with every() for instance");
        }
        path.thread.comeBack();
        if (!path.thread.context().qualityOfService().now().links().isEmpty()) {
            StackRoom.require("emit()"); // A link's discipline is everybody's.
        }
        path.endRun();
        if (!path.dispatcher.admitMade(made, destination)) {
            traffic.made();
            return false;
        }
        made.seal();
        long before = path.inHand();
        try {
            send(made, destination);
        } catch (Abandoned e) {
            throw e;
        } catch (RuntimeException | Error e) {
            // Counted here: the service may go on as if nothing had been thrown.
            boolean lacksMemory = e instanceof NoMemoryException;
            DropReason reason = lacksMemory ? DropReason.NO_MEMORY : DropReason.SERVICE_FAILURE;
            if (path.inHand() > before) {
                traffic.drop(reason, path.inHand() - before);
            }
            owner.abort(reason, lacksMemory ? String.valueOf(e.getMessage()) : "a fault of the node");
            throw e instanceof NoMemoryException lack ? lack : new NodeFault(e);
        }
        return true;
    }

    private void send(Packet made, @Nullable InetSocketAddress destination) {
        ByteBuffer room = path.memory.reserve(made.length());
        int at = room.position();
        made.copyTo(room, at);
        path.memory.commit(made.length());
        Packet own = new Packet(typeId, path.memory);
        ParseFault fault = own.parse(room, at, made.length());
        traffic.made();
        Answers answers = path.nextHops.answers;
        if (answers == null) {
            depart(fault == null ? null : DropReason.of(fault), own, destination);
        } else {
            answers.begin(made.space());
            try {
                depart(fault == null ? null : DropReason.of(fault), own, destination);
            } finally {
                answers.end();
            }
        }
        owner.settle();
    }

    private void depart(@Nullable DropReason fault, Packet own, @Nullable InetSocketAddress destination) {
        PacketGuard guard = path.nextHops.guard();
        if (guard == null) {
            path.dispatcher.departMade(fault, own, destination);
            return;
        }
        int before = guard.proof();
        guard.beginMade();
        try {
            path.dispatcher.departMade(fault, own, destination);
        } finally {
            guard.resume(before);
        }
    }
}
