package org.tamanoir.benchmarks.levels;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.benchmarks.netns.Namespace;

/**
 * When packets passed three places on their way: out of the client, into the router, out of the router; written down by
 * tc programs ({@code segments.bpf.c}).
 *
 * <p>Thread contract: one thread.
 */
final class SegmentLog implements AutoCloseable {
    /** Packets that one place can write down. */
    static final int MAX_EVENTS = 1 << 18;

    private static final int EVENT_BYTES = 24;
    private static final int BATCH = 1 << 14;

    private final Pointer object;
    private final int events;
    private final int met;
    private final int port;

    /** A place on the way, in the order of the programs. */
    enum Place {
        SENT,
        IN,
        OUT
    }

    /**
     * A packet that passed a place.
     *
     * @param ns of the monotonic clock
     * @param number UDP: its sequence number; TCP: of the payload's first byte, modulo 2^32
     * @param bytes of the payload
     * @param classOfService of a datagram
     * @param begins whether a TCP connection begins with it
     */
    record Event(long ns, long number, int bytes, boolean tcp, int classOfService, boolean begins) {}

    /** Loads and attaches the programs. */
    SegmentLog(Network network) throws IOException {
        object = LibBpf.load("segments.bpf.o");
        try {
            events = LibBpf.map(object, "seg_events");
            met = LibBpf.map(object, "seg_met");
            port = LibBpf.map(object, "seg_port");
            listen(true);
            attach(network.client, Network.UP, LibBpf.EGRESS, "seg_sent");
            attach(network.router, Network.FROM, LibBpf.INGRESS, "seg_in");
            attach(network.router, Network.TO, LibBpf.EGRESS, "seg_out");
        } catch (IOException e) {
            LibBpf.Bpf.bpf_object__close(object);
            throw e;
        }
    }

    private void attach(Namespace namespace, String networkInterface, int where, String name) throws IOException {
        int program = LibBpf.program(object, name);
        namespace.call(() -> {
            LibBpf.attach(networkInterface, where, program);
            return program;
        });
    }

    private static ByteBuffer words(int count) {
        return ByteBuffer.allocateDirect(count * Integer.BYTES).order(ByteOrder.nativeOrder());
    }

    /** Whether packets are written down. */
    void listen(boolean on) throws IOException {
        ByteBuffer value = words(1).order(ByteOrder.BIG_ENDIAN).putShort(0, (short) (on ? Network.PORT : 0));
        LibBpf.require(LibBpf.Bpf.bpf_map_update_elem(port, words(1), value, 0), "port");
    }

    /** Forgets all; no packets may be on their way. */
    void clear() throws IOException {
        for (Place place : Place.values()) {
            ByteBuffer key = words(1).putInt(0, place.ordinal());
            LibBpf.require(LibBpf.Bpf.bpf_map_update_elem(met, key, words(2), 0), "clearing " + place);
        }
    }

    /** What passed this place since {@link #clear}, in the order in which it did; at most {@link #MAX_EVENTS}. */
    List<Event> read(Place place) throws IOException {
        ByteBuffer key = words(1).putInt(0, place.ordinal());
        ByteBuffer number = words(2);
        LibBpf.require(LibBpf.Bpf.bpf_map_lookup_elem(met, key, number), "reading " + place);
        int count = (int) Math.min(MAX_EVENTS, number.getLong(0));
        List<Event> all = new ArrayList<>(count);
        // A batch begins behind the key that is given; without one at the first.
        ByteBuffer from = place.ordinal() == 0 ? null : words(1).putInt(0, place.ordinal() * MAX_EVENTS - 1);
        ByteBuffer next = words(1);
        ByteBuffer keys = words(BATCH);
        ByteBuffer values = ByteBuffer.allocateDirect(BATCH * EVENT_BYTES).order(ByteOrder.nativeOrder());
        while (all.size() < count) {
            IntByReference wanted = new IntByReference(Math.min(BATCH, count - all.size()));
            int code = LibBpf.Bpf.bpf_map_lookup_batch(events, from, next, keys, values, wanted, null);
            if (wanted.getValue() == 0) {
                LibBpf.require(code, "reading " + place);
                break;
            }
            for (int i = 0; i < wanted.getValue(); i++) {
                all.add(event(values, i * EVENT_BYTES));
            }
            from = words(1).putInt(0, next.getInt(0));
        }
        return all;
    }

    /** A {@code struct event} of {@code segments.bpf.c}. */
    static Event event(ByteBuffer values, int at) {
        return new Event(
                values.getLong(at),
                values.getLong(at + 8),
                values.getInt(at + 16),
                values.get(at + 20) == 6,
                values.get(at + 21) & 0xFF,
                values.get(at + 22) != 0);
    }

    @Override
    public void close() {
        LibBpf.Bpf.bpf_object__close(object);
    }
}
