package org.tamanoir.kernel;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.plain.PlainTraffic;

/**
 * The BPF program for plain IP, at the ingress of the configured interfaces, behind that of the levels: its filters'
 * priority is {@value #FIRST_PRIORITY} and the instance's number.
 *
 * <p>Thread contract: any thread, and {@link #attach} and {@link #close} in the network namespace of the interfaces.
 */
final class PlainDriver implements AutoCloseable {
    static final int FIRST_PRIORITY = TcDriver.FIRST_PRIORITY + Abi.MAX_INSTANCES;

    /** {@code enum tmn_plain_met}, in its order. */
    private static final List<String> MET = List.of(
            "up",
            "no-rule",
            "fragment",
            "options",
            "length",
            "hops",
            "local",
            "stale",
            "absent",
            "limited",
            "sent-on",
            "begun",
            "one-way",
            "checksum",
            "way");

    private static final Logger LOG = LoggerFactory.getLogger(PlainDriver.class);
    private static final String PROGRAM = "tmn_plain";

    private final int priority;
    private final BpfPins pins;
    private final BpfObject object;
    private final int program;
    private final int processors = LibBpf.libbpf_num_possible_cpus();
    private final PlainBuffers rules;
    private final BpfMap locals;
    private final BpfMap interfaces;
    private final BpfMap counts;
    private final BpfMap mets;
    private final BpfMemory beats;
    private final List<TcHook> attached = new ArrayList<>();
    private final List<TcHook> withOwnQdisc = new ArrayList<>();
    private final Set<ByteBuffer> localAddresses = new HashSet<>();

    /** Loads the program; nothing calls it yet. */
    PlainDriver(int instance) throws LevelException {
        priority = FIRST_PRIORITY + instance;
        pins = BpfPins.of(instance);
        object = BpfObject.load("tamanoir_plain.bpf.o", Map.of());
        try {
            program = object.program(PROGRAM);
            rules = new PlainBuffers(object);
            locals = map("tmn_plain_locals", AbiEncoder.ADDRESS_BYTES, Integer.BYTES);
            interfaces = map("tmn_plain_interfaces", Integer.BYTES, Integer.BYTES);
            counts = map("tmn_plain_counts", Integer.BYTES, PlainAbi.CountStruct.SIZE * processors);
            mets = map("tmn_plain_mets", Integer.BYTES, Long.BYTES * processors);
            beats = new BpfMemory("tmn_plain_beats", object.map("tmn_plain_beats"), PlainAbi.BeatStruct.SIZE);
        } catch (LevelException e) {
            object.close();
            throw e;
        }
    }

    private BpfMap map(String name, int keyBytes, int valueBytes) throws LevelException {
        return new BpfMap(name, object.map(name), keyBytes, valueBytes);
    }

    /** Returns the program's descriptor. */
    int program() {
        return program;
    }

    /** Returns the tables of the rules. */
    PlainBuffers rules() {
        return rules;
    }

    /** Replaces the addresses of this host; one that stays is never missing, and of too many the first count. */
    synchronized void locals(Collection<InetAddress> addresses) throws LevelException {
        ByteBuffer all =
                AbiEncoder.addresses(addresses.stream().limit(Abi.MAX_LOCALS).toList());
        Set<ByteBuffer> now = new HashSet<>();
        for (int at = 0; at < all.capacity(); at += AbiEncoder.ADDRESS_BYTES) {
            byte[] address = new byte[AbiEncoder.ADDRESS_BYTES];
            all.get(at, address);
            now.add(ByteBuffer.wrap(address));
        }
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
    }

    /** Says when the node was last seen alive, in ns of CLOCK_MONOTONIC. */
    void beat(long nowNs) {
        beats.set(PlainAbi.BeatStruct.NODE_NS, nowNs);
    }

    /** Puts the program where the interfaces' packets come in; all of them, or none with an exception. */
    synchronized void attach(List<String> names) throws LevelException {
        try {
            for (Links link : Links.named(names)) {
                TcHook at = new TcHook(link.index(), link.name());
                if (at.attach(program, priority)) {
                    withOwnQdisc.add(at);
                    pins.noteQdisc(at.ifindex());
                }
                attached.add(at);
                interfaces.put(BpfMap.number(link.index()), BpfMap.number(1));
            }
        } catch (LevelException e) {
            detach();
            throw e;
        }
    }

    private void detach() {
        attached.forEach(at -> at.detach(priority));
        attached.clear();
        for (TcHook at : withOwnQdisc) {
            try {
                at.removeQdiscIfEmpty();
            } catch (NetlinkException e) {
                LOG.warn("plain IP: clsact of {} stays: {}", at.name(), e.getMessage());
            }
        }
        withOwnQdisc.clear();
        pins.removeAll();
    }

    /** Returns datagrams and segments by what became of them, of all processors together. */
    Map<String, Long> met() throws LevelException {
        Map<String, Long> met = new LinkedHashMap<>();
        for (int i = 0; i < PlainAbi.MET_COUNT; i++) {
            met.put(MET.get(i), sum(mets.get(BpfMap.number(i)), 0, Long.BYTES));
        }
        return met;
    }

    /** Begins the counts of a place anew, which no rule in force has. */
    void clear(int place) throws LevelException {
        counts.put(BpfMap.number(place), ByteBuffer.allocate(counts.valueBytes()));
    }

    /** Returns what the rule with this place did. */
    PlainTraffic.RuleCount count(int place) throws LevelException {
        ByteBuffer all = counts.get(BpfMap.number(place));
        return new PlainTraffic.RuleCount(
                sum(all, PlainAbi.CountStruct.FITS, PlainAbi.CountStruct.SIZE),
                sum(all, PlainAbi.CountStruct.UP, PlainAbi.CountStruct.SIZE));
    }

    private static long sum(ByteBuffer all, int at, int stride) {
        long sum = 0;
        for (int from = at; from < all.capacity(); from += stride) {
            sum += all.getLong(from);
        }
        return sum;
    }

    @Override
    public synchronized void close() {
        detach();
        object.close();
    }
}
