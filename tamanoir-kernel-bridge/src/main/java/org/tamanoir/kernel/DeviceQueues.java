package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.util.HashMap;
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
    private static final int PACKETS_AT = 8;

    private final NetlinkSocket socket;
    /** By discipline, how many packets will have left when what waited at first has. */
    private final Map<Discipline, Integer> pending = new HashMap<>();

    private boolean hasLooked;

    /** A discipline, by its interface and where it stands there. */
    private record Discipline(int device, int handle, int parent) {}

    DeviceQueues() throws NetlinkException {
        socket = NetlinkSocket.open(NetlinkSocket.ROUTE);
    }

    /** Looks whether all that waited when this was called first has left; true as well of disciplines that are gone. */
    boolean areThrough() throws NetlinkException {
        Map<Discipline, Integer> still = new HashMap<>();
        for (ByteBuffer answer : socket.exchange(
                new NetlinkRequest(GET_DISCIPLINE, NetlinkRequest.DUMP).header(new int[HEADER_BYTES]))) {
            look(answer, still);
        }
        hasLooked = true;
        pending.clear();
        pending.putAll(still);
        return pending.isEmpty();
    }

    private void look(ByteBuffer answer, Map<Discipline, Integer> still) {
        if (answer.limit() < HEADER_BYTES) {
            return;
        }
        ByteBuffer stats = NetlinkAttributes.find(answer, HEADER_BYTES, STATS);
        ByteBuffer basic = stats == null ? null : NetlinkAttributes.find(stats, 0, STATS_BASIC);
        ByteBuffer queue = stats == null ? null : NetlinkAttributes.find(stats, 0, STATS_QUEUE);
        if (basic == null
                || queue == null
                || basic.capacity() < PACKETS_AT + Integer.BYTES
                || queue.capacity() < Integer.BYTES) {
            return;
        }
        int waiting = queue.getInt(0);
        int left = basic.getInt(PACKETS_AT);
        Discipline discipline =
                new Discipline(answer.getInt(INTERFACE_AT), answer.getInt(HANDLE_AT), answer.getInt(PARENT_AT));
        @Nullable Integer until = hasLooked ? pending.get(discipline) : Integer.valueOf(left + waiting);
        if (waiting > 0 && until != null && until - left > 0) {
            still.put(discipline, until);
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
