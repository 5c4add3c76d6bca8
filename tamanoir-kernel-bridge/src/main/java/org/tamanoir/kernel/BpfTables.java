package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tamanoir.nodeos.LevelException;

/**
 * The maps of {@code tamanoir_abi.h}, which the BPF levels share: policies, states and counters.
 *
 * <p>Thread contract: any thread.
 */
final class BpfTables implements AutoCloseable {
    private static final List<String> NAMES = List.of(
            "tmn_hooks",
            "tmn_services",
            "tmn_policies",
            "tmn_locals",
            "tmn_states",
            "tmn_counts",
            "tmn_mets",
            "tmn_hints");

    private final Map<String, Integer> descriptors = new LinkedHashMap<>();
    private final int processors = LibBpf.libbpf_num_possible_cpus();
    private final BpfMap hooks;
    private final BpfMap services;
    private final BpfMap policies;
    private final BpfMap locals;
    private final BpfMap counts;
    private final BpfMap mets;
    private final BpfStates states;
    private final BpfHints hints;
    private final Set<ByteBuffer> flows = new HashSet<>();
    /** How many flows a service has by their wildcards. */
    private final Map<Long, int[]> flowsOfServices = new HashMap<>();

    private final Set<ByteBuffer> localAddresses = new HashSet<>();
    private boolean isClosed;

    BpfTables(BpfObject object) throws LevelException {
        for (String name : NAMES) {
            descriptors.put(name, object.map(name));
        }
        hooks = map("tmn_hooks", Integer.BYTES, Abi.HookStruct.SIZE);
        services = map("tmn_services", Long.BYTES, Integer.BYTES);
        policies = map("tmn_policies", Abi.FlowStruct.SIZE, Abi.PolicyStruct.SIZE);
        locals = map("tmn_locals", AbiEncoder.ADDRESS_BYTES, Integer.BYTES);
        counts = map("tmn_counts", Integer.BYTES, Abi.CountersStruct.SIZE * processors);
        mets = map("tmn_mets", Integer.BYTES, Long.BYTES * processors);
        hints = new BpfHints(map("tmn_hints", Integer.BYTES, BpfHints.SIZE));
        states = new BpfStates(object.map("tmn_states"));
    }

    private BpfMap map(String name, int keyBytes, int valueBytes) {
        return new BpfMap(name, descriptors.getOrDefault(name, -1), keyBytes, valueBytes);
    }

    /** Returns all maps by name, for another object that shares them. */
    Map<String, Integer> descriptors() {
        return descriptors;
    }

    synchronized void hook(ByteBuffer hook) throws LevelException {
        checkOpen();
        hints.beginChange();
        try {
            hooks.put(BpfMap.number(0), hook);
        } finally {
            hints.endChange();
        }
    }

    /** Replaces the addresses of this host; one that stays is never missing. */
    synchronized void locals(ByteBuffer addresses) throws LevelException {
        checkOpen();
        Set<ByteBuffer> now = new HashSet<>();
        for (int at = 0; at + AbiEncoder.ADDRESS_BYTES <= addresses.capacity(); at += AbiEncoder.ADDRESS_BYTES) {
            now.add(copy(addresses, at, AbiEncoder.ADDRESS_BYTES));
        }
        if (now.size() > Abi.MAX_LOCALS) {
            throw new LevelException(
                    now.size() + " addresses of this host: BPF programs know at most " + Abi.MAX_LOCALS);
        }
        Set<ByteBuffer> both = new HashSet<>(localAddresses);
        both.addAll(now);
        hints.locals(both);
        for (ByteBuffer gone : localAddresses) {
            if (!now.contains(gone)) {
                locals.remove(gone);
            }
        }
        localAddresses.retainAll(now);
        for (ByteBuffer address : now) {
            if (localAddresses.add(address)) {
                locals.put(address, BpfMap.number(1));
            }
        }
        hints.locals(now);
    }

    /** Says that XDP's program is attached to all interfaces of traffic control's, and whether it decides. */
    synchronized void front(boolean decides) throws LevelException {
        checkOpen();
        hints.front(decides);
    }

    /** Says that XDP's program was detached. */
    synchronized void noFront() throws LevelException {
        checkOpen();
        hints.noFront();
    }

    /** Adds or replaces a policy; a packet sees the old one or the new one. */
    synchronized void set(ByteBuffer flow, ByteBuffer policy) throws LevelException {
        checkOpen();
        ByteBuffer key = copy(flow, 0, Abi.FlowStruct.SIZE);
        boolean isNew = !flows.contains(key);
        hints.beginChange();
        try {
            if (isNew) {
                countService(key, 1);
            }
            try {
                policies.put(flow, policy);
                flows.add(key);
            } catch (LevelException e) {
                if (isNew) {
                    countService(key, -1);
                }
                throw e;
            }
        } finally {
            hints.endChange();
        }
    }

    synchronized void remove(ByteBuffer flow) throws LevelException {
        checkOpen();
        hints.beginChange();
        try {
            policies.remove(flow);
            ByteBuffer key = copy(flow, 0, Abi.FlowStruct.SIZE);
            if (flows.remove(key)) {
                countService(key, -1);
            }
        } finally {
            hints.endChange();
        }
    }

    private void countService(ByteBuffer flow, int change) throws LevelException {
        ByteBuffer service = copy(flow, Abi.FlowStruct.SERVICE, Long.BYTES);
        int wild = flow.get(Abi.FlowStruct.WILD);
        int[] counts = flowsOfServices
                .getOrDefault(service.getLong(0), new int[Abi.WILDS])
                .clone();
        counts[wild] += change;
        int wilds = 0;
        for (int i = 0; i < Abi.WILDS; i++) {
            wilds |= counts[i] > 0 ? 1 << i : 0;
        }
        if (wilds == 0) {
            services.remove(service);
            flowsOfServices.remove(service.getLong(0));
        } else {
            services.put(service, BpfMap.number(wilds));
            flowsOfServices.put(service.getLong(0), counts);
        }
        hints.countFlow(wild, change);
    }

    synchronized void clear(int slot) throws LevelException {
        checkOpen();
        states.clear(slot);
        counts.put(BpfMap.number(slot), ByteBuffer.allocate(Abi.CountersStruct.SIZE * processors));
    }

    /** Returns the counters of all processors together. */
    synchronized ByteBuffer counters(int slot) throws LevelException {
        checkOpen();
        ByteBuffer all = counts.get(BpfMap.number(slot));
        ByteBuffer sum = ByteBuffer.allocate(Abi.CountersStruct.SIZE).order(ByteOrder.nativeOrder());
        for (int processor = 0; processor < processors; processor++) {
            int from = processor * Abi.CountersStruct.SIZE;
            for (int at = 0; at < Abi.CountersStruct.SIZE; at += Long.BYTES) {
                sum.putLong(at, combine(at, sum.getLong(at), all.getLong(from + at)));
            }
        }
        return sum;
    }

    private static long combine(int at, long one, long other) {
        return switch (at) {
            case Abi.CountersStruct.SMALLEST -> one == 0 || (other != 0 && other < one) ? other : one;
            case Abi.CountersStruct.LARGEST -> Math.max(one, other);
            default -> one + other;
        };
    }

    ByteBuffer state(int slot) {
        return states.get(slot);
    }

    void settled(int slot, long packets) {
        states.settled(slot, packets);
    }

    /**
     * Returns what a level has met, of all processors together.
     *
     * @param level enum tmn_level
     */
    synchronized long[] met(int level) throws LevelException {
        checkOpen();
        long[] met = new long[Abi.MET_COUNT];
        for (int i = 0; i < met.length; i++) {
            ByteBuffer all = mets.get(BpfMap.number(level * Abi.MET_COUNT + i));
            for (int processor = 0; processor < processors; processor++) {
                met[i] += all.getLong(processor * Long.BYTES);
            }
        }
        return met;
    }

    private static ByteBuffer copy(ByteBuffer from, int at, int bytes) {
        byte[] copy = new byte[bytes];
        from.get(at, copy);
        return ByteBuffer.wrap(copy);
    }

    private void checkOpen() throws LevelException {
        if (isClosed) {
            throw new LevelException("BPF programs are detached");
        }
    }

    /** Refuses all from now on; the maps' descriptors are their object's to close, after this. Idempotent. */
    @Override
    public synchronized void close() {
        isClosed = true;
    }
}
