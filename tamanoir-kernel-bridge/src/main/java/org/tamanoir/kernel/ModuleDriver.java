package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;

/**
 * The netfilter module, over its generic netlink family. What it installs ends with its socket.
 *
 * <p>Sums of settled packets are kept here; the module hears of them without an answer, and only under slots whose
 * policy goes by them: share FIRST, policies that are ordered, and slots that are held or were.
 *
 * <p>Thread contract: as {@link LevelDriver} says.
 */
final class ModuleDriver implements LevelDriver {
    private static final Logger LOG = LoggerFactory.getLogger(ModuleDriver.class);
    private static final int STRIPES = 16;

    private final GenericNetlink netlink;
    private final String version;
    private final long[] settled = new long[Abi.MAX_POLICIES]; // each under the lock of its stripe
    private final Object[] stripes = new Object[STRIPES];
    private final AtomicIntegerArray matters = new AtomicIntegerArray(Abi.MAX_POLICIES);
    private final AtomicBoolean hasLogged = new AtomicBoolean();
    private boolean isClosed;

    private ModuleDriver(GenericNetlink netlink, String version) {
        this.netlink = netlink;
        this.version = version;
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Object();
        }
    }

    /**
     * Finds the module of this network namespace.
     *
     * @throws LevelException if it is not loaded, speaks another version, or this process may not use it
     */
    static ModuleDriver open() throws LevelException {
        GenericNetlink netlink;
        try {
            netlink = GenericNetlink.open(Abi.GENL_NAME);
        } catch (NetlinkException refused) {
            throw new LevelException(
                    refused.errno() == LibC.ENOENT
                            ? "module tamanoir is not loaded: modprobe tamanoir, or insmod tamanoir.ko"
                            : String.valueOf(refused.getMessage()),
                    refused);
        }
        try {
            return new ModuleDriver(netlink, hello(netlink));
        } catch (NetlinkException refused) {
            netlink.close();
            throw exception("module tamanoir", refused);
        } catch (LevelException refused) {
            netlink.close();
            throw refused;
        }
    }

    private static String hello(GenericNetlink netlink) throws NetlinkException, LevelException {
        List<ByteBuffer> answers = netlink.call(netlink.request(Abi.C_HELLO).attribute(Abi.A_ABI, Abi.ABI_VERSION));
        ByteBuffer abi = first(answers, Abi.A_ABI, Integer.BYTES);
        checkVersion(abi == null ? 0 : abi.getInt(0));
        ByteBuffer version = first(answers, Abi.A_VERSION, 1);
        return version == null ? "without version" : NetlinkAttributes.text(version);
    }

    static void checkVersion(int abi) throws LevelException {
        if (abi != Abi.ABI_VERSION) {
            throw new LevelException("module tamanoir has ABI version " + abi + ", this node speaks " + Abi.ABI_VERSION
                    + ": install the module of this version");
        }
    }

    private static @Nullable ByteBuffer first(List<ByteBuffer> answers, int attribute, int leastBytes) {
        for (ByteBuffer answer : answers) {
            ByteBuffer value = NetlinkAttributes.find(answer, GenericNetlink.HEADER_BYTES, attribute);
            if (value != null && value.capacity() >= leastBytes) {
                return value;
            }
        }
        return null;
    }

    @Override
    public Level level() {
        return Level.MODULE;
    }

    @Override
    public String detail() {
        return "module " + version + ", netfilter";
    }

    @Override
    public void attach(ByteBuffer hook) throws LevelException {
        call("attach", request(Abi.C_ATTACH).attribute(Abi.A_HOOK, hook));
    }

    @Override
    public void locals(ByteBuffer addresses) {
        // The kernel's own routes say what is local.
    }

    @Override
    public void set(ByteBuffer flow, ByteBuffer policy) throws LevelException {
        int slot = policy.getInt(Abi.PolicyStruct.SLOT);
        boolean isOwn = policy.get(Abi.PolicyStruct.LEVEL) == Abi.LEVEL_MODULE;
        boolean goesBySettled =
                policy.get(Abi.PolicyStruct.SHARE) == Abi.SHARE_FIRST || policy.get(Abi.PolicyStruct.ORDERED) != 0;
        if (isOwn) {
            matters.set(slot, goesBySettled ? 1 : 0);
        }
        try {
            exchange(request(Abi.C_SET).attribute(Abi.A_FLOW, flow).attribute(Abi.A_POLICY, policy));
        } catch (NetlinkException refused) {
            if (isOwn || !isGone(refused)) { // a module that was unloaded is in no other level's way
                throw exception("module tamanoir: set", refused);
            }
        }
        if (isOwn) {
            settled(slot, 0);
        }
    }

    @Override
    public void remove(ByteBuffer flow) throws LevelException {
        try {
            exchange(request(Abi.C_REMOVE).attribute(Abi.A_FLOW, flow));
        } catch (NetlinkException refused) {
            if (!isGone(refused)) {
                throw exception("module tamanoir: remove", refused);
            }
        }
    }

    @Override
    public void clear(int slot) {
        // The module begins a slot anew when a policy comes to it.
        matters.set(slot, 0);
        synchronized (stripe(slot)) {
            settled[slot] = 0;
        }
    }

    @Override
    public ByteBuffer counters(int slot) throws LevelException {
        return ofSlot(slot, Abi.A_COUNTERS, Abi.CountersStruct.SIZE);
    }

    @Override
    public ByteBuffer state(int slot) throws LevelException {
        long sum;
        synchronized (stripe(slot)) {
            sum = settled[slot]; // read first: it is never more than what went up
        }
        return ofSlot(slot, Abi.A_STATE, Abi.StateStruct.SIZE).putLong(Abi.StateStruct.SETTLED, sum);
    }

    private ByteBuffer ofSlot(int slot, int attribute, int bytes) throws LevelException {
        ByteBuffer empty = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
        try {
            ByteBuffer value = first(exchange(request(Abi.C_COUNTERS).attribute(Abi.A_SLOT, slot)), attribute, bytes);
            return value == null ? empty : empty.put(0, value, 0, bytes);
        } catch (NetlinkException refused) {
            if (isGone(refused)) {
                return empty;
            }
            throw exception("module tamanoir: counters", refused);
        }
    }

    /** Returns whether the module was unloaded, and perhaps loaded again: then it knows nothing of this node. */
    private static boolean isGone(NetlinkException refused) {
        return refused.errno() == LibC.ENOENT || refused.errno() == LibC.ENOTCONN;
    }

    @Override
    public void settled(int slot, long packets) {
        synchronized (stripe(slot)) {
            long before = settled[slot];
            long sum = before + packets;
            settled[slot] = sum;
            if (matters.get(slot) != 0 || before < 0 || sum < 0) {
                tellSettled(slot, sum);
            }
        }
    }

    private void tellSettled(int slot, long sum) {
        try {
            netlink.tell(netlink.message(Abi.C_SETTLED)
                    .attribute(Abi.A_ABI, Abi.ABI_VERSION)
                    .attribute(Abi.A_SLOT, slot)
                    .attribute(Abi.A_SETTLED, sum));
        } catch (NetlinkException refused) {
            // The next message carries the sum of all.
            if (hasLogged.compareAndSet(false, true)) {
                LOG.warn("levels: module tamanoir: settled: {}", refused.getMessage());
            }
        }
    }

    private Object stripe(int slot) {
        return stripes[slot % STRIPES];
    }

    @Override
    public long[] met() throws LevelException {
        long[] met = new long[Abi.MET_COUNT];
        ByteBuffer value = first(call("met", request(Abi.C_MET)), Abi.A_MET, met.length * Long.BYTES);
        for (int i = 0; value != null && i < met.length; i++) {
            met[i] = value.getLong(i * Long.BYTES);
        }
        return met;
    }

    private NetlinkRequest request(int command) {
        return netlink.request(command).attribute(Abi.A_ABI, Abi.ABI_VERSION);
    }

    private List<ByteBuffer> call(String what, NetlinkRequest request) throws LevelException {
        try {
            return exchange(request);
        } catch (NetlinkException refused) {
            throw exception("module tamanoir: " + what, refused);
        }
    }

    private synchronized List<ByteBuffer> exchange(NetlinkRequest request) throws NetlinkException {
        if (isClosed) {
            throw new NetlinkException(LibC.ENOENT, "closed");
        }
        return netlink.call(request);
    }

    private static LevelException exception(String what, NetlinkException refused) {
        String remedy =
                refused.errno() == LibC.EPERM ? ": needs CAP_NET_ADMIN, run the node as root or give it that" : "";
        return new LevelException(what + ": " + refused.getMessage() + remedy, refused);
    }

    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        try {
            exchange(request(Abi.C_DETACH));
        } catch (NetlinkException refused) {
            LOG.debug("levels: module tamanoir: detach: {}", refused.getMessage());
        }
        isClosed = true;
        for (int slot = 0; slot < Abi.MAX_POLICIES; slot++) {
            matters.set(slot, 0);
        }
        // A thread that is in the middle of telling what settled must not find its descriptor in other hands.
        closeWhenNoneTells(0);
    }

    private void closeWhenNoneTells(int stripe) {
        if (stripe == STRIPES) {
            netlink.close();
            return;
        }
        synchronized (stripes[stripe]) {
            closeWhenNoneTells(stripe + 1);
        }
    }
}
