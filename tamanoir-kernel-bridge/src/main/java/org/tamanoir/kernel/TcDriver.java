package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;

/**
 * The BPF program of traffic control, at the ingress of the configured interfaces. Its filters' priority is {@value
 * #FIRST_PRIORITY} and the instance's number, so that they are found again after a node was killed.
 *
 * <p>Thread contract: as {@link LevelDriver}; all but {@link #settled}, {@link #counters}, {@link #state} and {@link
 * #met} in the network namespace of the interfaces.
 */
final class TcDriver extends BpfDriver {
    static final int FIRST_PRIORITY = 0x5400;

    private static final Logger LOG = LoggerFactory.getLogger(TcDriver.class);
    private static final String PROGRAM = "tmn_tc";
    /** Stands in the place of {@link #PROGRAM}, and calls it, where XDP's is in front. */
    private static final String WORD_PROGRAM = "tmn_tc_word";

    private static final String PROGRAMS = "tmn_programs";
    private static final String CARRIED = "tmn_carried";

    private final int instance;
    private final List<TcHook> hooks = new ArrayList<>();
    private final List<TcHook> attached = new ArrayList<>();
    private final List<TcHook> withOwnQdisc = new ArrayList<>();
    private final BpfObject object;
    private final int program;
    private final BpfTables tables;
    private final BpfMap carried;
    private final BpfPins pins;

    /**
     * Loads the program; nothing calls it yet.
     *
     * @param interfaces by name
     * @throws LevelException if the host cannot run it
     */
    TcDriver(int instance, List<String> interfaces) throws LevelException {
        super(Level.TC, Abi.LEVEL_TC);
        this.instance = instance;
        List<Links> links = Links.namedApart(interfaces);
        for (Links link : links) {
            hooks.add(new TcHook(link.index(), link.name()));
        }
        pins = BpfPins.of(instance);
        object = BpfObject.load("tamanoir_tc.bpf.o", Map.of());
        try {
            program = object.program(PROGRAM);
            tables = new BpfTables(object);
            carried = new BpfMap(CARRIED, object.map(CARRIED), Integer.BYTES, Integer.BYTES);
        } catch (LevelException e) {
            object.close();
            throw e;
        }
    }

    @Override
    public String detail() {
        String names = hooks.stream().map(TcHook::name).collect(Collectors.joining(", "));
        return "tc on " + names + (pins.whyNot() == null ? "" : ", not pinned: " + pins.whyNot());
    }

    @Override
    public void attach(ByteBuffer hook) throws LevelException {
        tables.hook(hook);
        if (!attached.isEmpty()) {
            return;
        }
        try {
            for (TcHook at : hooks) {
                if (at.attach(program, FIRST_PRIORITY + instance)) {
                    withOwnQdisc.add(at);
                    pins.noteQdisc(at.ifindex());
                }
                attached.add(at);
            }
        } catch (LevelException e) {
            detach();
            throw e;
        }
        tables.descriptors().forEach(pins::pin);
        pins.pin(PROGRAM, program);
    }

    private void detach() {
        for (TcHook at : attached) {
            at.detach(FIRST_PRIORITY + instance);
        }
        attached.clear();
        for (TcHook at : withOwnQdisc) {
            removeQdisc(at);
        }
        withOwnQdisc.clear();
        pins.removeAll();
    }

    private static void removeQdisc(TcHook at) {
        try {
            at.removeQdiscIfEmpty();
        } catch (NetlinkException e) {
            LOG.warn("levels: clsact of {} stays: {}", at.name(), e.getMessage());
        }
    }

    /**
     * Takes away what a node of this instance left behind that was killed, from the calling thread's network namespace.
     *
     * @return how many filters and pins there were
     */
    static int removeLeftBehind(int instance) throws NetlinkException {
        if (LibBpf.whyNot() != null) {
            return 0;
        }
        int removed = 0;
        BpfPins pins = BpfPins.of(instance);
        List<Integer> ownQdiscs = pins.notedQdiscs();
        for (Links link : Links.all()) {
            TcHook at = new TcHook(link.index(), link.name());
            removed += at.detach(FIRST_PRIORITY + instance) ? 1 : 0;
            removed += at.detach(PlainDriver.FIRST_PRIORITY + instance) ? 1 : 0;
            if (ownQdiscs.contains(link.index())) {
                removeQdisc(at);
            }
        }
        return removed + pins.removeAll();
    }

    /** Returns the program's descriptor. */
    int program() {
        return program;
    }

    @Override
    BpfTables tables() {
        return tables;
    }

    /** Has the program of the attached interfaces take what XDP's in front writes into metadata. */
    void takeWords() throws LevelException {
        new BpfMap(PROGRAMS, object.map(PROGRAMS), Integer.BYTES, Integer.BYTES)
                .put(BpfMap.number(0), BpfMap.number(program));
        for (TcHook at : attached) {
            at.attach(object.program(WORD_PROGRAM), FIRST_PRIORITY + instance);
        }
    }

    /** Has the program look whether XDP's metadata comes through an interface to it. */
    void awaitMetadata(Links link) throws LevelException {
        carried.put(BpfMap.number(link.index()), BpfMap.number(0));
    }

    /** Returns whether it has come through an interface for which it was awaited. */
    boolean hasMetadata(Links link) throws LevelException {
        return carried.get(BpfMap.number(link.index())).getInt(0) != 0;
    }

    /** Returns the pins, for the level that shares them. */
    BpfPins pins() {
        return pins;
    }

    @Override
    public void close() {
        detach();
        tables.close();
        object.close();
    }
}
