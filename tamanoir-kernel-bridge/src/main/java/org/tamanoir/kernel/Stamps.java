package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.tamanoir.nodeos.LevelException;

/**
 * For experiments: when each packet of a stream crosses two places of the network, as the kernel saw it, by the packet's
 * sequence number. The clock is that of {@link System#nanoTime} on Linux.
 *
 * <p>Thread contract: one thread at a time; {@link #begins} and {@link #ends} in the network namespace of their interface,
 * which may be two.
 */
public final class Stamps implements AutoCloseable {
    /** Sequence numbers from 0 to this, without it, are stamped. */
    public static final int PACKETS = 1 << 20;

    /** Before the programs of levels. */
    private static final int PRIORITY = 0x5300;

    private static final int FILTER_OCTETS = 8;

    private final BpfObject object;
    private final BpfMemory in;
    private final BpfMemory out;

    /**
     * Loads the programs.
     *
     * @param typeId ANEP Type ID under which the sequence option counts
     * @param port destination of the stream, UDP or TCP
     * @throws LevelException if the host cannot run them
     */
    public Stamps(int typeId, int port) throws LevelException {
        object = BpfObject.load("stamp.bpf.o", Map.of());
        try {
            in = new BpfMemory("stamps_in", object.map("stamps_in"), PACKETS * Long.BYTES);
            out = new BpfMemory("stamps_out", object.map("stamps_out"), PACKETS * Long.BYTES);
            ByteBuffer filter = ByteBuffer.allocate(FILTER_OCTETS).order(ByteOrder.nativeOrder());
            filter.putInt(0, typeId);
            filter.put(4, (byte) (port >>> 8)).put(5, (byte) port);
            new BpfMap("stamp_filters", object.map("stamp_filters"), Integer.BYTES, FILTER_OCTETS)
                    .put(BpfMap.number(0), filter);
        } catch (LevelException e) {
            object.close();
            throw e;
        }
    }

    /** Stamps packets that come in ({@code isEgress}: leave) through this interface as the beginning of their way. */
    public void begins(String networkInterface, boolean isEgress) throws LevelException {
        attach("stamp_in", networkInterface, isEgress);
    }

    /** Stamps packets that come in ({@code isEgress}: leave) through this interface as the end of their way. */
    public void ends(String networkInterface, boolean isEgress) throws LevelException {
        attach("stamp_out", networkInterface, isEgress);
    }

    private void attach(String program, String networkInterface, boolean isEgress) throws LevelException {
        Links link = Links.named(List.of(networkInterface)).get(0);
        new TcHook(link.index(), link.name(), isEgress ? LibBpf.TC_EGRESS : LibBpf.TC_INGRESS)
                .attach(object.program(program), PRIORITY);
    }

    /** Takes a program away from an interface of the calling thread's network namespace, if there is one. */
    public static void remove(String networkInterface, boolean isEgress) throws LevelException {
        Links link = Links.named(List.of(networkInterface)).get(0);
        new TcHook(link.index(), link.name(), isEgress ? LibBpf.TC_EGRESS : LibBpf.TC_INGRESS).detach(PRIORITY);
    }

    /** When a packet began its way, in ns; 0 if it did not. */
    public long beganNs(int sequence) {
        return in.get(sequence * Long.BYTES);
    }

    /** When a packet ended its way, in ns; 0 if it did not. */
    public long endedNs(int sequence) {
        return out.get(sequence * Long.BYTES);
    }

    /** Forgets all times. */
    public void clear() {
        for (int at = 0; at < in.octets(); at += Long.BYTES) {
            in.set(at, 0);
            out.set(at, 0);
        }
    }

    /** Frees the programs; those that are still attached go on until they are removed. */
    @Override
    public void close() {
        object.close();
    }
}
