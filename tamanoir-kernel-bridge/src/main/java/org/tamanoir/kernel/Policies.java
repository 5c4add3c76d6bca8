package org.tamanoir.kernel;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;
import org.tamanoir.routing.Addresses;

/**
 * All policies of a node at work, and the slots that they have.
 *
 * <p>A policy stands in all tables. It comes to the tables of other levels first and leaves them last, so that no level
 * takes its packets for those of an unknown flow while another handles them, nor packets that XDP or tc has handled and
 * that have yet to come to the module: it leaves that a second later. A new share gets a new slot, because its counts begin
 * anew; the slot that it had is given back when its packets are through. So is the slot of a policy that a table refused,
 * since packets may carry it by then. The keys of a policy have one slot together: none handles packets itself while those
 * of another are on their way. Tables change key by key; so where packets go up by the change, the slot of before is held
 * first, by which all of them begin to in one step.
 *
 * <p>Thread contract: any thread. Drivers are called under one lock, this object's, never on the way of a packet. Changes
 * of one policy come one after the other, under its {@link KernelOffload#turn}, which is taken first: a move waits for the
 * kernel with that alone.
 */
final class Policies {
    private static final Logger LOG = LoggerFactory.getLogger(Policies.class);
    private static final String STILL_LEAVING =
            "packets that xdp or tc has handled may be on their way to it: ask again in a second";
    private static final String FROM_XDP = "it does not see what xdp has done with packets that are on their way to it:"
            + " move to tc first, or close the policy and ask for another a second later";
    private static final List<Level> ORDER = List.of(Level.XDP, Level.TC, Level.MODULE);

    private final AttachedLevels levels;
    private final Slots slots;
    private final Reconciler reconciler;
    private final Runnable grace;
    private final boolean unknownUp;
    private final Map<ByteBuffer, KernelOffload> byFlow = new HashMap<>();
    /** Policies that have not been closed; one may have lost all keys. */
    private final Set<KernelOffload> open = new LinkedHashSet<>();
    /** Flows whose packets XDP or tc may have handled that have yet to come to the module, and since when. */
    private final Map<ByteBuffer, Long> leaving = new HashMap<>();

    private Set<InetAddress> locals = Set.of();
    private boolean isClosed;

    /**
     * @param grace waits until no level is in the midst of a packet that it began before
     * @param unknownUp whether packets in transit without a policy go up
     */
    Policies(AttachedLevels levels, Slots slots, Reconciler reconciler, Runnable grace, boolean unknownUp) {
        this.levels = levels;
        this.slots = slots;
        this.reconciler = reconciler;
        this.grace = grace;
        this.unknownUp = unknownUp;
    }

    /** Begins with addresses of this host that the levels know already. */
    synchronized void begin(Set<InetAddress> addresses) {
        locals = Set.copyOf(addresses);
    }

    /** Addresses of this host from now on. */
    synchronized void locals(Set<InetAddress> addresses) throws LevelException {
        if (isClosed || addresses.equals(locals)) {
            return;
        }
        ByteBuffer struct =
                AbiEncoder.addresses(addresses.stream().limit(Abi.MAX_LOCALS).toList());
        for (LevelDriver driver : levels.all()) {
            driver.locals(struct);
        }
        if (addresses.size() > Abi.MAX_LOCALS) {
            LOG.warn(
                    "levels: {} addresses on this host, levels know {}: packets to the others count as in transit",
                    addresses.size(),
                    Abi.MAX_LOCALS);
        }
        locals = Set.copyOf(addresses);
    }

    /** Does what {@link org.tamanoir.nodeos.NodeOs#offload} says. */
    synchronized Offload place(List<Long> serviceKeys, Flow flow, Policy policy, Set<Level> allowed, boolean isOrdered)
            throws LevelException {
        checkOpen();
        checkPossible(flow, policy);
        List<ByteBuffer> keys = keys(serviceKeys, flow);
        for (ByteBuffer key : keys) {
            checkFree(key);
        }
        return atFirst(allowed, level -> place(keys, serviceKeys.get(0), flow, policy, level, isOrdered));
    }

    /** What is tried at one level after another. */
    private interface Attempt<R> {
        R at(Level level) throws LevelException;
    }

    /** Does it at the first level that can; refuses with the reasons of all. */
    private <R> R atFirst(Set<Level> allowed, Attempt<R> attempt) throws LevelException {
        List<String> reasons = new ArrayList<>();
        for (Level level : ORDER) {
            if (allowed.contains(level)) {
                String whyNot = levels.whyNot(level);
                if (whyNot == null) {
                    try {
                        return attempt.at(level);
                    } catch (LevelException refused) {
                        whyNot = refused.getMessage();
                    }
                }
                reasons.add(level.label() + ": " + whyNot);
            }
        }
        throw new LevelException(
                reasons.isEmpty()
                        ? "the service may run in the JVM alone: allow \"kernel\" or \"nic\" in its manifest"
                        : "no level can: " + String.join("; ", reasons));
    }

    /** Does what {@link org.tamanoir.nodeos.NodeOs#move} says. */
    void move(KernelOffload offload, Policy policy, Set<Level> allowed, boolean isOrdered) throws LevelException {
        synchronized (offload.turn) {
            synchronized (this) {
                checkAtWork(offload);
                checkPossible(offload.flow(), policy);
            }
            atFirst(allowed, level -> {
                move(offload, policy, level, isOrdered);
                return level;
            });
        }
    }

    /** Has an offload do something else under a new slot; in its turn, and without the lock if tables are crossed. */
    private void move(KernelOffload offload, Policy policy, Level level, boolean isOrdered) throws LevelException {
        boolean crosses = (level == Level.MODULE) != (offload.level() == Level.MODULE);
        boolean mayBeUp = isOrdered || crosses; // In between all packets go up.
        UsedSlot slot = slotFor(offload, policy, level, mayBeUp);
        try {
            if (crosses) {
                sendUp(offload, level, slot.number);
            }
            moveTo(offload, policy, level, mayBeUp, slot);
        } catch (LevelException refused) {
            giveUp(offload, slot);
            throw refused;
        }
    }

    /** Takes a slot for what an offload is to do, and stops that of before if packets go up by the change. */
    private synchronized UsedSlot slotFor(KernelOffload offload, Policy policy, Level level, boolean mayBeUp)
            throws LevelException {
        checkOpen();
        if (level == Level.MODULE && offload.level() == Level.XDP) {
            throw new LevelException(FROM_XDP);
        }
        check(level, offload.keys(), offload.flow(), policy, mayBeUp);
        UsedSlot slot = take(level, offload.flow(), policy, mayBeUp);
        if (mayBeUp || !policy.share().equals(Share.NONE)) {
            stop(offload);
        }
        return slot;
    }

    /** Has packets of all keys of a policy go up from one moment on. */
    private static void stop(KernelOffload offload) {
        if (offload.flow().protocol() == Flow.Protocol.UDP) {
            offload.slot().stop();
        }
    }

    /**
     * Has each packet be handled once while the tables change one after the other: first all go up at the level that is,
     * then at the one that comes, which looks at those alone that have not gone up. A grace period behind each step lets
     * packets through that tc has seen under the table of before, and that have yet to come to the module.
     */
    private void sendUp(KernelOffload offload, Level level, int slot) throws LevelException {
        sendUp(offload.keys(), offload.level(), offload.slot().number);
        grace.run();
        sendUp(offload.keys(), level, slot);
        grace.run();
    }

    private synchronized void sendUp(List<ByteBuffer> keys, Level level, int slot) throws LevelException {
        checkOpen();
        ByteBuffer up = AbiEncoder.policy(slot, level, Policy.up(), false);
        for (ByteBuffer key : keys) {
            levels.driver(level).set(key, up);
        }
    }

    private synchronized void moveTo(KernelOffload offload, Policy policy, Level level, boolean mayBeUp, UsedSlot slot)
            throws LevelException {
        checkOpen();
        check(level, offload.keys(), offload.flow(), policy, mayBeUp); // Others may have come while it was not locked.
        boolean isOrdered = mayBeUp && waits(offload.flow(), policy);
        setInAllTables(offload.keys(), level, AbiEncoder.policy(slot.number, level, policy, isOrdered));
        if (offload.level() == Level.XDP) {
            offload.keys().forEach(key -> leaving.put(key, System.nanoTime()));
        }
        offload.movedTo(level);
        begin(offload, policy, isOrdered, slot);
    }

    /** Has an offload's policy be this one, with a new slot, that stands in the tables. */
    private void begin(KernelOffload offload, Policy policy, boolean isOrdered, UsedSlot slot) {
        UsedSlot before = offload.slot();
        offload.changed(policy, isOrdered, slot);
        reconciler.watch(slot);
        reconciler.retire(before, offload);
    }

    /** Has an offload do what it did. Packets may carry the new slot by now, which is given back when those are through. */
    private synchronized void giveUp(KernelOffload offload, UsedSlot slot) {
        if (isClosed) {
            return;
        }
        offload.tried(slot);
        if (setBack(offload)) {
            reconciler.retire(slot, offload);
        } else {
            slot.release();
            LOG.warn("levels: slot {} is lost, {} has it in a table", slot.number, offload);
        }
        offload.slot().goOn();
    }

    private static List<ByteBuffer> keys(List<Long> serviceKeys, Flow flow) {
        return serviceKeys.stream().map(key -> AbiEncoder.flow(key, flow)).toList();
    }

    private void checkFree(ByteBuffer key) throws LevelException {
        KernelOffload owner = byFlow.get(key);
        if (owner != null) {
            throw new LevelException("the flow has a policy of service "
                    + ServiceKey.toString(owner.serviceKey()) + " on "
                    + owner.level().label()
                    + ": change that one, or close it first");
        }
    }

    private KernelOffload place(
            List<ByteBuffer> keys, long serviceKey, Flow flow, Policy policy, Level level, boolean mayBeUp)
            throws LevelException {
        check(level, keys, flow, policy, mayBeUp);
        boolean isOrdered = mayBeUp && waits(flow, policy);
        UsedSlot slot = take(level, flow, policy, mayBeUp);
        KernelOffload offload = new KernelOffload(this, keys, serviceKey, flow, level, policy, isOrdered, slot);
        try {
            putIn(keys, level, AbiEncoder.policy(slot.number, level, policy, isOrdered));
        } catch (LevelException refused) {
            offload.closed();
            reconciler.retire(slot, offload);
            throw refused;
        }
        open.add(offload);
        keys.forEach(key -> byFlow.put(key, offload));
        reconciler.watch(slot);
        return offload;
    }

    /** Returns whether it makes a difference to this policy that packets may be on their way up. */
    private static boolean waits(Flow flow, Policy policy) {
        return flow.protocol() == Flow.Protocol.UDP && policy.share().equals(Share.NONE);
    }

    /** Sets those of other levels first: until the own level knows it, packets are those of an unknown flow. */
    private void setInAllTables(List<ByteBuffer> keys, Level level, ByteBuffer policy) throws LevelException {
        for (ByteBuffer key : keys) {
            for (LevelDriver other : levels.othersThan(level)) {
                other.set(key, policy);
            }
            levels.driver(level).set(key, policy);
        }
    }

    /** Sets a policy for keys that have none; where a table refuses one of them, none stays. */
    private void putIn(List<ByteBuffer> keys, Level level, ByteBuffer policy) throws LevelException {
        for (int i = 0; i < keys.size(); i++) {
            ByteBuffer key = keys.get(i);
            try {
                setInAllTables(List.of(key), level, policy);
            } catch (LevelException refused) {
                removeFromAllTables(key, level); // Its own level has handled nothing of it.
                keys.subList(0, i).forEach(before -> takeOut(before, level));
                throw refused;
            }
        }
    }

    private void removeFromAllTables(ByteBuffer key, Level level) {
        removeQuietly(levels.driver(level), key);
        if (!leaving.containsKey(key)) {
            levels.othersThan(level).forEach(other -> removeQuietly(other, key));
        }
    }

    /** Takes a slot; one that is held, if its policy goes by what settles and packets without it may be on their way up. */
    private UsedSlot take(Level level, Flow flow, Policy policy, boolean mayBeUp) throws LevelException {
        boolean goesBySettled = flow.protocol() == Flow.Protocol.UDP
                && (policy.share().kind() == Share.Kind.FIRST || mayBeUp && waits(flow, policy));
        LevelDriver driver = levels.driver(level);
        int number = slots.take(driver);
        slots.await(number, goesBySettled);
        UsedSlot slot = new UsedSlot(number, driver, goesBySettled);
        if (mayBeUp && goesBySettled) {
            slot.hold();
        }
        return slot;
    }

    /** Does what {@link Offload#change} says. */
    void change(KernelOffload offload, Policy policy) throws LevelException {
        synchronized (offload.turn) {
            changeInTurn(offload, policy);
        }
    }

    private synchronized void changeInTurn(KernelOffload offload, Policy policy) throws LevelException {
        checkAtWork(offload);
        checkPossible(offload.flow(), policy);
        Level level = offload.level();
        boolean isSameShare = policy.share().equals(offload.policy().share());
        boolean isOrdered = isSameShare ? offload.isOrdered() : waits(offload.flow(), policy);
        String whyNot = LevelReasons.impossible(level, offload.flow(), policy, isOrdered);
        if (whyNot != null) {
            throw new LevelException(level.label() + ": " + whyNot + ": close the policy and ask for another");
        }
        if (!isSameShare) {
            move(offload, policy, level, true);
            return;
        }
        try {
            ByteBuffer struct = AbiEncoder.policy(offload.slot().number, level, policy, isOrdered);
            for (ByteBuffer key : offload.keys()) {
                levels.driver(level).set(key, struct);
            }
        } catch (LevelException refused) {
            setBack(offload);
            throw refused;
        }
        offload.changed(policy);
    }

    /** Does what {@link org.tamanoir.nodeos.NodeOs#follow} says. */
    void follow(KernelOffload offload, List<Long> serviceKeys) throws LevelException {
        synchronized (offload.turn) {
            followInTurn(offload, serviceKeys);
        }
    }

    private synchronized void followInTurn(KernelOffload offload, List<Long> serviceKeys) throws LevelException {
        checkOpen();
        if (offload.isClosed()) {
            return;
        }
        List<ByteBuffer> now = keys(serviceKeys, offload.flow());
        List<ByteBuffer> kept = new ArrayList<>();
        for (ByteBuffer key : offload.keys()) {
            if (now.contains(key)) {
                kept.add(key);
            } else {
                takeOut(key, offload.level());
            }
        }
        if (serviceKeys.isEmpty()) {
            offload.changed(kept, offload.serviceKey());
            return;
        }
        offload.changed(kept, serviceKeys.get(0));
        List<ByteBuffer> added = now.stream().filter(key -> !kept.contains(key)).toList();
        if (!added.isEmpty()) {
            add(offload, added);
            offload.changed(now, serviceKeys.get(0));
        }
    }

    /** Puts an offload to work for more keys: all begin anew together. */
    private void add(KernelOffload offload, List<ByteBuffer> added) throws LevelException {
        Level level = offload.level();
        Policy policy = offload.policy();
        boolean isOrdered = waits(offload.flow(), policy);
        for (ByteBuffer key : added) {
            checkFree(key);
        }
        check(level, added, offload.flow(), policy, isOrdered);
        UsedSlot slot = take(level, offload.flow(), policy, true);
        try {
            ByteBuffer struct = AbiEncoder.policy(slot.number, level, policy, isOrdered);
            stop(offload);
            putIn(added, level, struct);
            try {
                setInAllTables(offload.keys(), level, struct);
            } catch (LevelException refused) {
                added.forEach(key -> takeOut(key, level));
                throw refused;
            }
        } catch (LevelException refused) {
            giveUp(offload, slot);
            throw refused;
        }
        added.forEach(key -> byFlow.put(key, offload));
        begin(offload, policy, isOrdered, slot);
    }

    /** Sets the policy that it had again, in the tables of other levels too; returns whether none has another slot. */
    private boolean setBack(KernelOffload offload) {
        Level level = offload.level();
        boolean isBack = true;
        try {
            ByteBuffer struct = AbiEncoder.policy(offload.slot().number, level, offload.policy(), offload.isOrdered());
            for (ByteBuffer key : offload.keys()) {
                LevelDriver own = levels.driver(level);
                isBack &= setQuietly(own, key, struct) || removeQuietly(own, key); // Then its packets go up.
                for (LevelDriver other : levels.othersThan(level)) {
                    isBack &= setQuietly(other, key, struct);
                }
            }
        } catch (LevelException refused) {
            LOG.warn("levels: {}: {}", offload, refused.getMessage());
            return false;
        }
        return isBack;
    }

    private static boolean setQuietly(LevelDriver driver, ByteBuffer key, ByteBuffer policy) {
        try {
            driver.set(key, policy);
            return true;
        } catch (LevelException refused) {
            LOG.warn("levels: {}", refused.getMessage());
            return false;
        }
    }

    private void check(Level level, List<ByteBuffer> keys, Flow flow, Policy policy, boolean mayBeUp)
            throws LevelException {
        String whyNot = LevelReasons.impossible(level, flow, policy, mayBeUp);
        if (whyNot == null) {
            whyNot = otherTable(level, keys);
        }
        if (whyNot != null) {
            throw new LevelException(whyNot);
        }
    }

    /**
     * Returns why packets of these flows might be handled twice, by nobody, or out of order, as they are those of another
     * policy, too, of a larger flow or a part of it: when one of the two comes or goes, packets on their way from one table
     * to the other meet both or none, and XDP does not wait for those that are on their way up.
     */
    private @Nullable String otherTable(Level level, List<ByteBuffer> keys) {
        for (ByteBuffer key : keys) {
            if (level == Level.MODULE && leaving.keySet().stream().anyMatch(other -> AbiDecoder.overlap(key, other))) {
                return STILL_LEAVING;
            }
            for (Map.Entry<ByteBuffer, KernelOffload> other : byFlow.entrySet()) {
                Level beside = other.getValue().level();
                if (beside != level && !keys.contains(other.getKey()) && AbiDecoder.overlap(key, other.getKey())) {
                    return beside.label() + " handles packets of this flow by another policy, which " + level.label()
                            + " might miss or meet again: close that one, or ask for both at one level";
                }
            }
        }
        return null;
    }

    private void checkPossible(Flow flow, Policy policy) throws LevelException {
        String whyNot = LevelReasons.impossible(flow, policy);
        if (whyNot != null) {
            throw new LevelException(whyNot);
        }
        InetAddress destination = flow.destination();
        if (destination != null
                && policy.fate() instanceof Fate.On
                && !policy.share().equals(Share.ALL)
                && (locals.contains(destination) || destination.isLoopbackAddress())) {
            throw new LevelException("flow to " + Addresses.host(destination)
                    + ", this host: its packets go no further; send them to another address (fate To), or drop them");
        }
    }

    private void checkOpen() throws LevelException {
        if (isClosed) {
            throw new LevelException("the levels of this node are closed");
        }
    }

    private void checkAtWork(KernelOffload offload) throws LevelException {
        checkOpen();
        if (offload.isClosed()) {
            throw new LevelException("the policy was closed: ask for a new one");
        }
    }

    /** Does what {@link Offload#close} says. */
    void remove(KernelOffload offload) {
        synchronized (offload.turn) {
            removeInTurn(offload);
        }
    }

    private synchronized void removeInTurn(KernelOffload offload) {
        if (isClosed || offload.isClosed()) {
            return;
        }
        offload.closed();
        open.remove(offload);
        if (goUpWithout(offload)) {
            stop(offload);
        }
        for (ByteBuffer key : offload.keys()) {
            takeOut(key, offload.level());
        }
        reconciler.retire(offload.slot(), offload);
    }

    /** Returns whether packets of a policy that ends go up: neither on, nor by another policy of the service that handles them. */
    private boolean goUpWithout(KernelOffload offload) {
        return unknownUp
                && open.stream()
                        .filter(other -> other.serviceKey() == offload.serviceKey()
                                && other.flow().overlaps(offload.flow()))
                        .allMatch(other -> other.slot().isHeld());
    }

    /** Takes a key out of the tables; out of the module's, which others stand in front of, a second later. */
    private void takeOut(ByteBuffer key, Level level) {
        byFlow.remove(key);
        if (level != Level.MODULE) {
            leaving.put(key, System.nanoTime());
        }
        removeFromAllTables(key, level);
    }

    private static boolean removeQuietly(LevelDriver driver, ByteBuffer key) {
        try {
            driver.remove(key);
            return true;
        } catch (LevelException refused) {
            LOG.warn("levels: {}", refused.getMessage());
            return false;
        }
    }

    /** Frees a slot whose packets are through; its counts go to its offload. */
    synchronized void free(UsedSlot slot, KernelOffload offload) {
        if (isClosed) {
            return;
        }
        offload.keepCounts(slot);
        try {
            slot.driver.clear(slot.number);
            slots.give(slot.number);
        } catch (LevelException refused) {
            LOG.warn("levels: slot {} is lost: {}", slot.number, refused.getMessage());
        }
    }

    /** Takes keys out of the module's table whose packets have had a second to come to it. */
    synchronized void endLeaving(long nowNs) {
        if (isClosed) {
            return;
        }
        leaving.entrySet().removeIf(each -> {
            boolean isOver = nowNs - each.getValue() >= UsedSlot.WINDOW_NS;
            if (isOver && !byFlow.containsKey(each.getKey())) {
                levels.othersThan(Level.TC).forEach(module -> removeQuietly(module, each.getKey()));
            }
            return isOver;
        });
    }

    synchronized List<Offload> offloads() {
        return List.copyOf(open);
    }

    /** Has the levels look at other packets, by a {@code struct tmn_hook}. */
    synchronized void look(ByteBuffer hook) {
        for (LevelDriver driver : levels.all()) {
            try {
                driver.attach(hook);
            } catch (LevelException refused) {
                LOG.warn("levels: {}", refused.getMessage());
            }
        }
    }

    /**
     * Ends all policies and detaches the levels.
     *
     * @param noPorts a {@code struct tmn_hook} by which levels look at nothing any more
     */
    synchronized void close(ByteBuffer noPorts) {
        if (isClosed) {
            return;
        }
        isClosed = true;
        look(noPorts);
        open.forEach(offload -> {
            offload.closed();
            offload.keepAllCounts();
        });
        reconciler.keepAllCounts();
        open.clear();
        byFlow.clear();
        levels.close();
    }
}
