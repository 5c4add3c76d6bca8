package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.supervision.Supervision;
import org.tamanoir.supervision.Watchdog;
import org.tamanoir.transport.StreamGateway;

/**
 * A running instance of a service, as those see it who keep account of instances.
 *
 * <p>Thread contract: any thread, but for {@link #run}.
 */
final class Instance implements Watchdog.Watched {
    final ServiceThread thread;
    final PacketPath path;
    private final NodeContext context;
    private final Owner owner;

    /** Whose instance it is: a TCP stream, a branch of one, or a UDP service. */
    interface Owner {
        /** Counts what waits for the instance, and takes from it what others need; as {@link Instance#abandon}. */
        void leaveBehind(DropReason reason);

        /** Takes note that it has ended, or was given up, and holds no place any more; outside of all locks. */
        default void over() {}

        /** Handles what is there, then ends, since the node stops. Senders end streams; cut is what is left. */
        default void nodeStops() {}

        /** Returns the instance whose end is that of the whole stream. */
        Instance trunk();
    }

    Instance(NodeContext context, PacketPath path, Owner owner) {
        this.context = context;
        this.path = path;
        this.thread = path.thread;
        this.owner = owner;
    }

    /**
     * Gives the instance up: what it has is counted and its connections are reset. When the thread comes back it frees
     * what it held and touches nothing else. Any other thread; the thread must be in the service's code.
     *
     * <p>Not known, and not counted: bytes that the operating system holds for its connections in either direction,
     * and part of a packet that a next hop has begun to send back.
     *
     * @param reason that its packets end for
     * @return false when it has come back meanwhile
     */
    boolean abandon(DropReason reason) {
        return supervision().giveUp(() -> {
            // Before its port is another's: the next packet must not make a new instance at once.
            context.incidents().leftBehind(supervision(), !isStream(), reason);
            thread.cutUnseen();
            path.forfeitTurns();
            owner.leaveBehind(reason);
            path.nextHops.resetFromOutside();
            thread.traffic.giveUp(reason);
        });
    }

    /** Tells the owner that it is over, as {@link Owner#over}. */
    void over() {
        owner.over();
    }

    /** Tells the owner that the node stops, as {@link Owner#nodeStops}. */
    void nodeStops() {
        owner.nodeStops();
    }

    /** Returns whether it serves a TCP stream, alone or with others. */
    boolean isStream() {
        return path.isStream();
    }

    /** Returns the instance whose end is that of the whole stream. */
    Instance trunk() {
        return owner.trunk();
    }

    /** Returns the gateway that its stream came by; null if its packets came as such. */
    @Nullable
    StreamGateway gateway() {
        return path.nextHops.gateway();
    }

    /** Serves packets until the end. The service's thread, or another one in its place, when there is none. */
    void run() {
        path.run();
    }

    @Override
    public long progress() {
        return thread.traffic.progress();
    }

    @Override
    public long call() {
        return thread.calls();
    }

    @Override
    public boolean isInService() {
        return thread.isInService();
    }

    @Override
    public Supervision supervision() {
        return thread.supervision();
    }

    @Override
    public void wake() {
        thread.wake();
    }
}
