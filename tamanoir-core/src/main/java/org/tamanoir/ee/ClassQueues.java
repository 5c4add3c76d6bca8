package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.platform.Platform;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.sched.WaitingGrants;
import org.tamanoir.transport.BufferPool;

/**
 * The datagrams of a service that wait for turns, by class; all lie in one store, where they are processed and from
 * where they are sent.
 *
 * <p>Thread contract: the service's thread.
 */
final class ClassQueues {
    /** Datagrams without memory that are kept to be used again; more are left to the garbage collector. */
    private static final int MAX_SPARE = 1024;

    private final PacketStore store;
    private final Platform platform;
    private final Packet view;
    private final ArrayDeque<Waiting> spare = new ArrayDeque<>();
    /** Taken out; they may not have left. */
    private final ArrayDeque<Waiting> leaving = new ArrayDeque<>();

    private List<ClassQueue> queues = List.of();
    private int maxChunks;
    private int packets;

    ClassQueues(BufferPool pool, Platform platform, int typeId, Object owner) {
        this.store = new PacketStore(pool, owner);
        this.platform = platform;
        this.view = new Packet(typeId, PacketSpace.HEAP);
    }

    /**
     * Has datagrams wait by these classes from now on; those that wait are classified anew, and none is dropped.
     *
     * @param told where they were counted until now; null = nowhere
     */
    void change(QosConfig config, Classifier classifier, @Nullable WaitingGrants told) {
        List<ClassQueue> before = queues;
        queues = config.classes().stream().map(ClassQueue::new).toList();
        maxChunks = config.maxChunks(BufferPool.MEDIUM_BYTES);
        for (ClassQueue each : before) {
            Waiting datagram;
            while ((datagram = each.poll()) != null) {
                view.parse(datagram.memory(), datagram.offset, datagram.length);
                queues.get(classifier.classOf(view)).add(datagram, each.waitsSinceNs());
            }
        }
        for (int i = 0; told != null && i < before.size(); i++) {
            before.get(i).tell(told, i);
        }
    }

    /** Returns how many wait. */
    int packets() {
        return packets;
    }

    /** Returns how many classes there are. */
    int count() {
        return queues.size();
    }

    ClassQueue of(int classIndex) {
        return queues.get(classIndex);
    }

    /** Copies a packet in; false, and it counts as dropped, when its class is full or no memory is left. */
    boolean offer(int classIndex, Packet packet, Arrival from) {
        ClassQueue queue = queues.get(classIndex);
        int length = packet.length();
        if (!queue.hasRoom(length) || !store.reserve(length, maxChunks)) {
            queue.refused(length);
            return false;
        }
        Waiting datagram = spare.poll();
        if (datagram == null) {
            datagram = new Waiting(from);
        } else {
            datagram.from.set(from);
        }
        datagram.length = length;
        store.put(datagram, packet.buffer(), packet.offset(), length);
        queue.add(datagram, queue.isEmpty() ? platform.nanoTime() : 0);
        packets++;
        return true;
    }

    /** Takes the oldest datagram of a class out; null when none waits. Its memory stays until {@link #release}. */
    @Nullable
    Waiting poll(ClassQueue queue) {
        Waiting first = queue.poll();
        if (first != null) {
            packets--;
            leaving.add(first);
        }
        return first;
    }

    /** Frees the memory of what was taken out: it has left. */
    void release() {
        Waiting datagram;
        while ((datagram = leaving.poll()) != null) {
            store.release(datagram);
            if (spare.size() < MAX_SPARE) {
                spare.add(datagram);
            }
        }
    }

    /** Tells the scheduling point what has changed since this was called last. */
    void tell(WaitingGrants grants) {
        for (int i = 0; i < queues.size(); i++) {
            queues.get(i).tell(grants, i);
        }
    }

    /**
     * A datagram that waits in a {@link PacketStore}, with its arrival.
     *
     * <p>Thread contract: the service's thread.
     */
    static final class Waiting extends PacketStore.Stored {
        final Arrival from;
        int length;

        /** Makes a datagram that came from there; the arrival is copied. */
        Waiting(Arrival from) {
            this.from = from.copy();
        }

        /** Returns the memory in which it lies, from its offset on. */
        ByteBuffer memory() {
            return required().buffer.nio();
        }
    }
}
