package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tamanoir.nodeos.LevelException;

/**
 * The rules of the program for plain IP, twice: those in force, and those that are made ready. What is in force is never
 * written to. The kernel puts the one hook in the place of the other, and returns when no packet uses the former any more
 * ({@code maybe_wait_bpf_programs} in kernel/bpf/syscall.c), so that its buffer can be filled again.
 *
 * <p>Thread contract: one thread at a time.
 */
final class PlainBuffers {
    private final BpfMap inForce;
    private final List<BpfMap> hooks;
    private final BpfMemory ports;
    private final BpfMemory held;
    private final Table sources;
    private final Table destinations;
    private final Table marks;
    private int current;

    /** A map whose keys name a buffer, and those that are in it. */
    private record Table(BpfMap map, List<Set<ByteBuffer>> keys) {
        static Table of(BpfObject object, String name, int keyBytes) throws LevelException {
            BpfMap map = new BpfMap(name, object.map(name), keyBytes, Long.BYTES);
            return new Table(map, List.of(new HashSet<>(), new HashSet<>()));
        }

        void fill(int buffer, Map<ByteBuffer, Long> rules) throws LevelException {
            Set<ByteBuffer> there = keys.get(buffer);
            for (ByteBuffer key : List.copyOf(there)) {
                map.remove(key);
                there.remove(key);
            }
            for (Map.Entry<ByteBuffer, Long> each : rules.entrySet()) {
                ByteBuffer key = each.getKey().rewind();
                ByteBuffer bits = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
                map.put(key, bits.putLong(0, each.getValue()));
                there.add(key);
            }
        }
    }

    PlainBuffers(BpfObject object) throws LevelException {
        inForce = new BpfMap("tmn_plain_hooks", object.map("tmn_plain_hooks"), Integer.BYTES, Integer.BYTES);
        hooks = new ArrayList<>();
        for (int buffer = 0; buffer < PlainAbi.BUFFERS; buffer++) {
            String name = "tmn_plain_hook" + buffer;
            hooks.add(new BpfMap(name, object.map(name), Integer.BYTES, PlainAbi.HookStruct.SIZE));
        }
        int portsBytes = PlainTables.PORTS * PlainAbi.BUFFERS * Long.BYTES;
        ports = new BpfMemory("tmn_plain_ports", object.map("tmn_plain_ports"), portsBytes);
        held = new BpfMemory("tmn_plain_held", object.map("tmn_plain_held"), PlainTables.PORTS / Byte.SIZE);
        sources = Table.of(object, "tmn_plain_sources", PlainAbi.PrefixStruct.SIZE);
        destinations = Table.of(object, "tmn_plain_destinations", PlainAbi.PrefixStruct.SIZE);
        marks = Table.of(object, "tmn_plain_marks", PlainAbi.AskedStruct.SIZE);
    }

    /**
     * Fills the buffer that is not in force.
     *
     * @param hook as {@link PlainTables#hook} makes it
     * @throws LevelException if the kernel refuses; what is in force is as it was
     */
    void fill(PlainTables tables, ByteBuffer hook) throws LevelException {
        int buffer = 1 - current;
        sources.fill(buffer, tables.sources(buffer));
        destinations.fill(buffer, tables.destinations(buffer));
        marks.fill(buffer, tables.marks(buffer));
        long[] rules = tables.ports();
        for (int port = 0; port < rules.length; port++) {
            ports.set((port * PlainAbi.BUFFERS + buffer) * Long.BYTES, rules[port]);
        }
        hooks.get(buffer).put(BpfMap.number(0), hook.putShort(PlainAbi.HookStruct.BUFFER, (short) buffer));
    }

    /** Has segments from and to these ports be asked for connections here, once a hook says that there may be some. */
    void hold(int firstPort, int lastPort) {
        for (int port = firstPort; port <= lastPort; port++) {
            int at = port / Long.SIZE * Long.BYTES;
            held.set(at, held.get(at) | 1L << port);
        }
    }

    /** Puts in force what was filled last. */
    void turn() throws LevelException {
        int buffer = 1 - current;
        inForce.put(BpfMap.number(0), BpfMap.number(hooks.get(buffer).fd()));
        current = buffer;
    }
}
