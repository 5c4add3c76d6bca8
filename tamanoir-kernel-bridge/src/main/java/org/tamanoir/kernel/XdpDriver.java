package org.tamanoir.kernel;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;

/**
 * The BPF program of the network interfaces (XDP), in front of traffic control's, with which it shares its maps and
 * through which its packets go up. It is native where the driver can, else generic; the kernel takes it away when the
 * process ends.
 *
 * <p>Thread contract: as {@link LevelDriver}; {@link #attach} and {@link #proceed} in the network namespace of the
 * interfaces.
 */
final class XdpDriver extends BpfDriver {
    private static final Logger LOG = LoggerFactory.getLogger(XdpDriver.class);
    private static final String PROGRAM = "tmn_xdp";
    private static final String OWN = "tmn_links";
    /** As many link addresses as the program compares with. */
    static final int MAX_LINKS = 32;
    /** Octets of one; the next says that there is one. */
    private static final int ETHERNET_BYTES = 6;

    private static final int EBUSY = 16;
    /** How long to wait for a first frame, which shows whether the driver hands metadata on. */
    private static final long FIRST_FRAME_NS = 1_000_000_000;

    /** struct bpf_link_create_opts: size 8, flags 4, and more that stays zero. */
    private static final int OPTIONS_SIZE = 64;

    private final List<Links> links;
    private final List<Attached> attached = new ArrayList<>();
    private final TcDriver tc;
    private final BpfObject object;
    private final int program;
    /** Link addresses of the interfaces, to which frames are that the program decides about. */
    private final BpfMap own;

    private Set<ByteBuffer> addresses = Set.of();
    /** Whether it decides about packets: since metadata was seen to come through all interfaces. */
    private volatile boolean decides;

    private record Attached(Links link, int fd, boolean isNative) {
        /** Whether metadata certainly comes to traffic control: what is generic the kernel itself hands on. */
        boolean carriesMetadata() {
            return !isNative || link.isVirtualPair();
        }
    }

    /**
     * Loads the program; nothing calls it yet.
     *
     * @param instance as of the other
     * @param interfaces by name
     * @param tc whose maps it shares; it is attached before and closed after
     * @throws LevelException if the host cannot run it
     */
    XdpDriver(int instance, List<String> interfaces, TcDriver tc) throws LevelException {
        super(Level.XDP, Abi.LEVEL_XDP);
        this.tc = tc;
        links = Links.named(interfaces);
        object = BpfObject.load("tamanoir_xdp.bpf.o", tc.tables().descriptors());
        try {
            program = object.program(PROGRAM);
            own = new BpfMap(OWN, object.map(OWN), Integer.BYTES, MAX_LINKS * Long.BYTES);
        } catch (LevelException e) {
            object.close();
            throw e;
        }
    }

    @Override
    public String detail() {
        return "xdp on "
                + (attached.isEmpty()
                        ? links.stream().map(Links::name).collect(Collectors.joining(", "))
                        : attached.stream()
                                .map(at -> at.link.name() + (at.isNative ? " (native)" : " (generic)"))
                                .collect(Collectors.joining(", ")));
    }

    /** Says so while the program does not decide, and of which interface no frame has shown that it hands on metadata. */
    @Override
    public @Nullable String whyNot() throws LevelException {
        if (decides) {
            return null;
        }
        for (Attached at : attached) {
            if (isSilent(at)) {
                return "xdp on " + at.link.name() + ": nothing of what XDP writes in front of frames has come to tc: no"
                        + " frame has come in yet, or the driver has no room for it; then leave the interface out, or"
                        + " use tc";
            }
        }
        return attached.isEmpty() ? "xdp is not attached" : "xdp begins within a second: ask again";
    }

    private boolean isSilent(Attached at) throws LevelException {
        return !at.carriesMetadata() && !tc.hasMetadata(at.link);
    }

    /**
     * Has the program decide from now on, when frames have shown that all interfaces hand on metadata, by which traffic
     * control's program knows what this one did.
     */
    @Override
    public synchronized void proceed() throws LevelException {
        if (attached.isEmpty()) {
            return;
        }
        readAddresses();
        if (decides) {
            return;
        }
        for (Attached at : attached) {
            if (isSilent(at)) {
                return;
            }
        }
        tables().front(true);
        decides = true;
    }

    /** Has the program know the interfaces' link addresses, which may be others than before. */
    private void readAddresses() throws LevelException {
        Set<ByteBuffer> now = new HashSet<>();
        try {
            for (Links link : Links.again(links)) {
                if (link.address().capacity() == ETHERNET_BYTES) {
                    now.add(link.address());
                }
            }
        } catch (NetlinkException e) {
            throw new LevelException("network interfaces: " + e.getMessage(), e);
        }
        if (now.size() > MAX_LINKS) {
            throw new LevelException("interfaces of " + now.size() + " link addresses: xdp knows at most " + MAX_LINKS
                    + "; leave some out");
        }
        if (!now.equals(addresses)) {
            ByteBuffer words = ByteBuffer.allocate(MAX_LINKS * Long.BYTES);
            for (ByteBuffer address : now) {
                int next = words.position() + Long.BYTES;
                words.put(address.duplicate().limit(ETHERNET_BYTES))
                        .put((byte) 1)
                        .position(next);
            }
            own.put(BpfMap.number(0), words);
            addresses = now;
        }
    }

    @Override
    public void attach(ByteBuffer hook) throws LevelException {
        tables().hook(hook);
        if (!attached.isEmpty()) {
            return;
        }
        try {
            for (Links link : links) {
                int fd = link(link, LibBpf.XDP_NATIVE);
                boolean isNative = fd >= 0;
                if (!isNative) {
                    fd = link(link, LibBpf.XDP_GENERIC);
                }
                if (fd < 0) {
                    throw new LevelException("xdp on " + link.name() + ": "
                            + (fd == -EBUSY || fd == -LibC.EEXIST
                                    ? "another XDP program is there; take it away or leave the interface out"
                                    : "the kernel refused the program: " + BpfLibC.error(fd)));
                }
                attached.add(new Attached(link, fd, isNative));
            }
            tc.takeWords();
            for (Attached at : attached) {
                if (!at.carriesMetadata()) {
                    tc.awaitMetadata(at.link);
                }
            }
            tables().front(false);
            long endNs = System.nanoTime() + FIRST_FRAME_NS;
            proceed();
            while (!decides && System.nanoTime() - endNs < 0) {
                LockSupport.parkNanos(FIRST_FRAME_NS / 100);
                proceed();
            }
        } catch (LevelException e) {
            detach();
            throw e;
        }
        tc.pins().pin(PROGRAM, program);
    }

    private int link(Links link, int mode) {
        try (Memory options = new Memory(OPTIONS_SIZE)) {
            options.clear();
            options.setLong(0, OPTIONS_SIZE);
            options.setInt(8, mode);
            return LibBpf.bpf_link_create(program, link.index(), LibBpf.XDP_ATTACH, Pointer.nativeValue(options));
        }
    }

    private void detach() {
        decides = false;
        attached.forEach(at -> LibC.close(at.fd));
        if (!attached.isEmpty()) {
            Grace.await(); // Traffic control's program reads the words of frames that are on their way to it.
            clearFront();
        }
        attached.clear();
        tc.pins().unpin(PROGRAM);
    }

    private void clearFront() {
        try {
            tables().noFront();
        } catch (LevelException e) {
            LOG.warn("levels: tc goes on to look for what xdp writes in front of frames: {}", e.getMessage());
        }
    }

    /** Returns the program's descriptor. */
    int program() {
        return program;
    }

    @Override
    BpfTables tables() {
        return tc.tables();
    }

    @Override
    public void close() {
        detach();
        object.close();
    }
}
