package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What waits in the queueing disciplines of a network namespace's devices, from one look on: {@link #areThrough} once all
 * of that has left them. What a driver has taken over is seen by nobody.
 *
 * <p>Answers of RTM_GETQDISC, whose statistics are those of gen_stats.h:
 *
 * <pre>
 *   struct tcmsg: family 1, padding 3, interface 4, handle 4, parent 4, info 4; attributes, among them TCA_STATS2:
 *     TCA_STATS_BASIC: bytes 8, packets that have left 4
 *     TCA_STATS_QUEUE: packets that wait 4, bytes 4, ...
 * </pre>
 *
 * <p>Thread contract: one thread, in the namespace.
 */
final class DeviceQueues implements AutoCloseable {
    private static final int GET_DISCIPLINE = 38;
    private static final int HEADER_BYTES = 20;
    private static final int INTERFACE_AT = 4;
    private static final int HANDLE_AT = 8;
    private static final int PARENT_AT = 12;
    private static final int STATS = 7;
    private static final int STATS_BASIC = 1;
    private static final int STATS_QUEUE = 3;
    private static final int WAITING_AT = 4;

    private final NetlinkSocket socket;
    /**
     * By discipline, how many bytes will have left when what waited at first has. Packets are counted in two ways: those
     * that wait with all their segments as one, those that have left by segment.
     */
    private final Map<Discipline, Long> pending = new HashMap<>();

    private boolean hasLooked;

    /** A discipline, by its interface and where it stands there. */
    private record Discipline(int device, int handle, int parent) {}

    DeviceQueues() throws NetlinkException {
        socket = NetlinkSocket.open(NetlinkSocket.ROUTE);
    }

    /**
     * Looks whether all that waited when this was called first has left; true as well of disciplines that are gone.
     *
     * @param withinMs until the kernel has to answer
     */
    boolean areThrough(int withinMs) throws NetlinkException {
        socket.answerWithin(withinMs);
        return areThrough(
                socket.exchange(new NetlinkRequest(GET_DISCIPLINE, NetlinkRequest.DUMP).header(new int[HEADER_BYTES])));
    }

    boolean areThrough(List<ByteBuffer> answers) {
        Map<Discipline, Long> still = new HashMap<>();
        for (ByteBuffer answer : answers) {
            look(answer, still);
        }
        hasLooked = true;
        pending.clear();
        pending.putAll(still);
        return pending.isEmpty();
    }

    private void look(ByteBuffer answer, Map<Discipline, Long> still) {
        if (answer.limit() < HEADER_BYTES) {
            return;
        }
        ByteBuffer stats = NetlinkAttributes.find(answer, HEADER_BYTES, STATS);
        ByteBuffer basic = stats == null ? null : NetlinkAttributes.find(stats, 0, STATS_BASIC);
        ByteBuffer queue = stats == null ? null : NetlinkAttributes.find(stats, 0, STATS_QUEUE);
        if (basic == null
                || queue == null
                || basic.capacity() < Long.BYTES
                || queue.capacity() < WAITING_AT + Integer.BYTES) {
            return;
        }
        long waiting = Integer.toUnsignedLong(queue.getInt(WAITING_AT));
        long left = basic.getLong(0);
        Discipline discipline =
                new Discipline(answer.getInt(INTERFACE_AT), answer.getInt(HANDLE_AT), answer.getInt(PARENT_AT));
        @Nullable Long until = hasLooked ? pending.get(discipline) : Long.valueOf(left + waiting);
        if (waiting > 0 && until != null && until - left > 0) {
            still.put(discipline, until);
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
