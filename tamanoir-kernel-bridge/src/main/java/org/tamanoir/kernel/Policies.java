package org.tamanoir.kernel;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
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

/**
 * All policies of a node at work, and the slots that they have.
 *
 * <p>A policy stands in all tables. It comes to the tables of other levels first and leaves them last, so that no level
 * takes its packets for those of an unknown flow while another handles them, nor those that one has handled and that have
 * yet to come to the other: it leaves when its slot is free, which no packet on its way from XDP to the module outlasts. A
 * new share gets a new slot, because its counts begin anew; the slot that it had is given back when its packets are through.
 * The keys of a policy have one slot together: none handles packets itself while those of another are on their way.
 *
 * <p>Thread contract: any thread; one lock, this object's, under which drivers are called, never on the way of a packet.
 */
final class Policies {
    private static final Logger LOG = LoggerFactory.getLogger(Policies.class);
    private static final String STILL_LEAVING =
            "packets that xdp or tc has handled may be on their way to it: ask again in a second";
    private static final List<Level> ORDER = List.of(Level.XDP, Level.TC, Level.MODULE);

    private final AttachedLevels levels;
    private final Slots slots;
    private final Reconciler reconciler;
    private final Map<ByteBuffer, KernelOffload> byFlow = new LinkedHashMap<>();
    /** Flows whose packets XDP or tc may have handled that have yet to come to the module, with the slot they had last. */
    private final Map<ByteBuffer, UsedSlot> leaving = new HashMap<>();

    private Set<InetAddress> locals = Set.of();
    private boolean isClosed;

    Policies(AttachedLevels levels, Slots slots, Reconciler reconciler) {
        this.levels = levels;
        this.slots = slots;
        this.reconciler = reconciler;
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
            checkFree(key, null);
        }
        return atFirst(keys, flow, policy, allowed, isOrdered, level -> {
            return place(keys, serviceKeys.get(0), flow, policy, level, isOrdered);
        });
    }

    /** What is tried at one level after another. */
    private interface Attempt<R> {
        R at(Level level) throws LevelException;
    }

    /** Does it at the first level that can; refuses with the reasons of all. */
    private <R> R atFirst(
            List<ByteBuffer> keys, Flow flow, Policy policy, Set<Level> allowed, boolean isOrdered, Attempt<R> attempt)
            throws LevelException {
        List<String> reasons = new ArrayList<>();
        for (Level level : ORDER) {
            if (allowed.contains(level)) {
                String whyNot = levels.whyNot(level);
                if (whyNot == null) {
                    whyNot = LevelReasons.impossible(level, flow, policy, isOrdered);
                }
                if (whyNot == null && level == Level.MODULE && keys.stream().anyMatch(leaving::containsKey)) {
                    whyNot = STILL_LEAVING;
                }
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
    synchronized void move(KernelOffload offload, Policy policy, Set<Level> allowed, boolean isOrdered)
            throws LevelException {
        checkOpen();
        if (offload.isClosed()) {
            throw new LevelException("the policy was closed: ask for a new one");
        }
        checkPossible(offload.flow(), policy);
        atFirst(offload.keys(), offload.flow(), policy, allowed, isOrdered, level -> {
            move(offload, policy, level, isOrdered);
            return level;
        });
    }

    private void move(KernelOffload offload, Policy policy, Level level, boolean mayBeUp) throws LevelException {
        if (level == Level.MODULE && offload.level() == Level.XDP) {
            throw new LevelException(STILL_LEAVING); // The module does not see what XDP did with a packet.
        }
        boolean isOrdered = mayBeUp && waits(offload.flow(), policy);
        UsedSlot slot = take(levels.driver(level), offload.flow(), policy, isOrdered);
        holdIf(mayBeUp, slot);
        try {
            ByteBuffer struct = AbiEncoder.policy(slot.number, level, policy, isOrdered);
            if (haveOneTable(level, offload.level())) {
                setInAllTables(offload.keys(), level, struct);
            } else {
                crossTables(offload, level, AbiEncoder.policy(slot.number, level, Policy.up(), false), struct);
            }
        } catch (LevelException refused) {
            setBack(offload, offload.keys());
            slots.give(slot.number);
            throw refused;
        }
        UsedSlot before = offload.slot();
        if (offload.level() == Level.XDP) {
            offload.keys().forEach(key -> leaving.put(key, before));
        }
        offload.movedTo(level);
        offload.changed(policy, isOrdered, slot);
        reconciler.watch(slot);
        reconciler.retire(before, offload);
    }

    private static boolean haveOneTable(Level one, Level other) {
        return (one == Level.MODULE) == (other == Level.MODULE);
    }

    /**
     * Has each packet be handled once while the tables change one after the other: first all go up at the level that is,
     * then at the one that comes, which looks at those alone that have not gone up. A grace period behind each step lets
     * packets through that tc has seen under the table of before, and that have yet to come to the module.
     */
    private void crossTables(KernelOffload offload, Level level, ByteBuffer up, ByteBuffer policy)
            throws LevelException {
        Level before = offload.level() == Level.XDP ? Level.TC : offload.level();
        ByteBuffer upBefore = AbiEncoder.policy(offload.slot().number, before, Policy.up(), false);
        for (ByteBuffer key : offload.keys()) {
            levels.driver(before).set(key, upBefore);
        }
        Grace.await();
        for (ByteBuffer key : offload.keys()) {
            levels.driver(level).set(key, up);
        }
        Grace.await();
        setInAllTables(offload.keys(), level, policy);
    }

    private static List<ByteBuffer> keys(List<Long> serviceKeys, Flow flow) {
        return serviceKeys.stream().map(key -> AbiEncoder.flow(key, flow)).toList();
    }

    private void checkFree(ByteBuffer key, @Nullable KernelOffload own) throws LevelException {
        KernelOffload owner = byFlow.get(key);
        if (owner != null && owner != own) {
            throw new LevelException("the flow has a policy of service "
                    + ServiceKey.toString(owner.serviceKey()) + " on "
                    + owner.level().label()
                    + ": change that one, or close it first");
        }
    }

    private KernelOffload place(
            List<ByteBuffer> keys, long serviceKey, Flow flow, Policy policy, Level level, boolean mayBeUp)
            throws LevelException {
        boolean isOrdered = mayBeUp && waits(flow, policy);
        UsedSlot slot = take(levels.driver(level), flow, policy, isOrdered);
        holdIf(mayBeUp, slot);
        try {
            setInAllTables(keys, level, AbiEncoder.policy(slot.number, level, policy, isOrdered));
        } catch (LevelException refused) {
            keys.forEach(key -> removeFromAllTables(key, level));
            slots.give(slot.number);
            throw refused;
        }
        KernelOffload offload = new KernelOffload(this, keys, serviceKey, flow, level, policy, isOrdered, slot);
        keys.forEach(key -> byFlow.put(key, offload));
        reconciler.watch(slot);
        return offload;
    }

    /** Holds a slot where packets without it may be on their way up, in front of those that get it. */
    private static void holdIf(boolean mayBeUp, UsedSlot slot) {
        if (mayBeUp && slot.goesBySettled()) {
            slot.hold();
        }
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

    private void removeFromAllTables(ByteBuffer key, Level level) {
        removeQuietly(levels.driver(level), key);
        levels.othersThan(level).forEach(other -> removeQuietly(other, key));
    }

    private UsedSlot take(LevelDriver driver, Flow flow, Policy policy, boolean isOrdered) throws LevelException {
        boolean isFirst = policy.share().kind() == Share.Kind.FIRST;
        boolean goesBySettled = flow.protocol() == Flow.Protocol.UDP && (isFirst || isOrdered);
        int number = slots.take(driver);
        slots.await(number, goesBySettled);
        return new UsedSlot(
                number, driver, goesBySettled, isFirst ? policy.share().number() : 0);
    }

    /** Does what {@link Offload#change} says. */
    synchronized void change(KernelOffload offload, Policy policy) throws LevelException {
        checkOpen();
        if (offload.isClosed()) {
            throw new LevelException("the policy was closed: ask for a new one");
        }
        checkPossible(offload.flow(), policy);
        Level level = offload.level();
        if (policy.share().equals(offload.policy().share())) {
            check(level, offload.flow(), policy, offload.isOrdered());
            ByteBuffer struct = AbiEncoder.policy(offload.slot().number, level, policy, offload.isOrdered());
            try {
                for (ByteBuffer key : offload.keys()) {
                    levels.driver(level).set(key, struct);
                }
            } catch (LevelException refused) {
                setBack(offload, offload.keys());
                throw refused;
            }
            offload.changed(policy);
            return;
        }
        beginAnew(offload, offload.keys(), policy);
    }

    /** Does what {@link org.tamanoir.nodeos.NodeOs#follow} says. */
    synchronized void follow(KernelOffload offload, List<Long> serviceKeys) throws LevelException {
        checkOpen();
        if (offload.isClosed()) {
            return;
        }
        List<ByteBuffer> before = offload.keys();
        List<ByteBuffer> now = keys(serviceKeys, offload.flow());
        for (ByteBuffer key : now) {
            checkFree(key, offload);
        }
        if (Set.copyOf(before).equals(Set.copyOf(now))) {
            offload.changed(now, serviceKeys.get(0));
            return;
        }
        UsedSlot slot = offload.slot();
        beginAnew(offload, now, offload.policy());
        offload.changed(now, serviceKeys.get(0));
        now.forEach(key -> byFlow.put(key, offload));
        for (ByteBuffer key : before) {
            if (!now.contains(key)) {
                takeOut(key, offload.level(), slot);
            }
        }
    }

    /** Has an offload begin with another share, or other keys, under a slot of its own. */
    private void beginAnew(KernelOffload offload, List<ByteBuffer> keys, Policy policy) throws LevelException {
        Level level = offload.level();
        boolean isOrdered = waits(offload.flow(), policy);
        check(level, offload.flow(), policy, isOrdered);
        UsedSlot slot = take(levels.driver(level), offload.flow(), policy, isOrdered);
        holdIf(true, slot);
        try {
            setInAllTables(keys, level, AbiEncoder.policy(slot.number, level, policy, isOrdered));
        } catch (LevelException refused) {
            setBack(offload, keys);
            slots.give(slot.number);
            throw refused;
        }
        UsedSlot before = offload.slot();
        offload.changed(policy, isOrdered, slot);
        reconciler.watch(slot);
        reconciler.retire(before, offload);
    }

    /** Sets the policy that it had again, in the tables of other levels too, and takes away what was new. */
    private void setBack(KernelOffload offload, List<ByteBuffer> tried) {
        for (ByteBuffer key : tried) {
            if (!offload.keys().contains(key)) {
                removeFromAllTables(key, offload.level());
            }
        }
        try {
            setInAllTables(
                    offload.keys(),
                    offload.level(),
                    AbiEncoder.policy(offload.slot().number, offload.level(), offload.policy(), offload.isOrdered()));
        } catch (LevelException refused) {
            LOG.warn("levels: {}: {}", offload, refused.getMessage());
        }
    }

    private static void check(Level level, Flow flow, Policy policy, boolean isOrdered) throws LevelException {
        String whyNot = LevelReasons.impossible(level, flow, policy, isOrdered);
        if (whyNot != null) {
            throw new LevelException(level.label() + ": " + whyNot + ": close the policy and ask for another");
        }
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
            throw new LevelException("flow to " + destination.getHostAddress()
                    + ", this host: its packets go no further; send them to another address (fate To), or drop them");
        }
    }

    private void checkOpen() throws LevelException {
        if (isClosed) {
            throw new LevelException("the levels of this node are closed");
        }
    }

    /** Does what {@link Offload#close} says. */
    synchronized void remove(KernelOffload offload) {
        if (isClosed || offload.isClosed()) {
            return;
        }
        offload.closed();
        for (ByteBuffer key : offload.keys()) {
            takeOut(key, offload.level(), offload.slot());
        }
        reconciler.retire(offload.slot(), offload);
    }

    /** Takes a key out of the tables; of the module's, which others stand in front of, when packets under the slot are through. */
    private void takeOut(ByteBuffer key, Level level, UsedSlot slot) {
        byFlow.remove(key);
        if (level == Level.MODULE) {
            removeFromAllTables(key, level);
        } else {
            removeQuietly(levels.driver(level), key);
            leaving.put(key, slot);
        }
    }

    private static void removeQuietly(LevelDriver driver, ByteBuffer key) {
        try {
            driver.remove(key);
        } catch (LevelException refused) {
            LOG.warn("levels: {}", refused.getMessage());
        }
    }

    /** Frees a slot whose packets are through; its counts go to its offload. */
    synchronized void free(UsedSlot slot, KernelOffload offload) {
        if (isClosed) {
            return;
        }
        offload.keepCounts(slot);
        List<ByteBuffer> left = leaving.entrySet().stream()
                .filter(each -> each.getValue() == slot)
                .map(Map.Entry::getKey)
                .toList();
        for (ByteBuffer key : left) {
            leaving.remove(key);
            if (!byFlow.containsKey(key)) {
                levels.othersThan(Level.TC).forEach(module -> removeQuietly(module, key));
            }
        }
        try {
            slot.driver.clear(slot.number);
            slots.give(slot.number);
        } catch (LevelException refused) {
            LOG.warn("levels: slot {} is lost: {}", slot.number, refused.getMessage());
        }
    }

    synchronized List<Offload> offloads() {
        return byFlow.values().stream().distinct().collect(Collectors.toUnmodifiableList());
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
        byFlow.values().stream().distinct().forEach(offload -> {
            offload.closed();
            offload.keepAllCounts();
        });
        reconciler.keepAllCounts();
        byFlow.clear();
        levels.close();
    }
}
