package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;
import org.tamanoir.support.Waiting;

/** Policies and their slots on levels that handle no packet and refuse what the test says; packets are simulated, and time. */
class PoliciesTest {
    private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int STEPS_OF_A_WINDOW = 11;
    private static final int ENOUGH_STEPS = 50;
    private static final Set<Level> TC = Set.of(Level.TC);
    private static final Set<Level> XDP = Set.of(Level.XDP);
    private static final Set<Level> MODULE = Set.of(Level.MODULE);
    private static final Policy FORWARD = Policy.forward();

    private final Map<ByteBuffer, ByteBuffer> ofBpf = new HashMap<>();
    private final Map<ByteBuffer, ByteBuffer> ofModule = new HashMap<>();
    private final Map<Integer, long[]> states = new HashMap<>();
    private final Map<Integer, Long> arrived = new HashMap<>();
    /** Answers to the next sets, one each: true for those that are refused. Sets behind them are granted. */
    private final Queue<Boolean> refusals = new ArrayDeque<>();

    private final Slots slots = new Slots();
    private final Reconciler reconciler = new Reconciler(new UsedSlot.Intake() {
        @Override
        public long arrived(int slot) {
            return arrived.getOrDefault(slot, 0L);
        }

        @Override
        public boolean isEmpty() {
            return true;
        }
    });
    private final AttachedLevels levels = new AttachedLevels(Map.of());
    private Runnable inGrace = () -> {};
    private final Policies policies = new Policies(levels, slots, reconciler, () -> inGrace.run(), true);
    /** Called when a table or a state has changed. */
    private Runnable onChange = () -> {};

    private long nowNs = System.nanoTime();

    /** A level whose table the test looks into. */
    private final class Fake implements LevelDriver {
        private final Level level;
        private final Map<ByteBuffer, ByteBuffer> table;
        /** Whether it refuses what sets its own policies. */
        private boolean refusesOwn;

        Fake(Level level, Map<ByteBuffer, ByteBuffer> table) {
            this.level = level;
            this.table = table;
        }

        @Override
        public Level level() {
            return level;
        }

        @Override
        public String detail() {
            return "fake";
        }

        @Override
        public void attach(ByteBuffer hook) {}

        @Override
        public void locals(ByteBuffer addresses) {}

        @Override
        public void set(ByteBuffer flow, ByteBuffer policy) throws LevelException {
            boolean isOwn = policy.get(Abi.PolicyStruct.LEVEL) == AbiEncoder.level(level);
            if (Boolean.TRUE.equals(refusals.poll()) || isOwn && refusesOwn) {
                throw new LevelException("full");
            }
            table.put(flow, policy);
            onChange.run();
        }

        @Override
        public void remove(ByteBuffer flow) {
            table.remove(flow);
            onChange.run();
        }

        @Override
        public void clear(int slot) {
            states.remove(slot);
        }

        @Override
        public ByteBuffer counters(int slot) {
            return ByteBuffer.allocate(Abi.CountersStruct.SIZE)
                    .order(ByteOrder.nativeOrder())
                    .putLong(Abi.CountersStruct.PACKETS, state(slot, 0))
                    .putLong(Abi.CountersStruct.UP, state(slot, 0));
        }

        @Override
        public ByteBuffer state(int slot) {
            return ByteBuffer.allocate(Abi.StateStruct.SIZE)
                    .order(ByteOrder.nativeOrder())
                    .putLong(Abi.StateStruct.UP, PoliciesTest.this.state(slot, 0))
                    .putLong(Abi.StateStruct.SETTLED, PoliciesTest.this.state(slot, 1));
        }

        private long state(int slot, int which) {
            return PoliciesTest.this.state(slot, which);
        }

        @Override
        public void settled(int slot, long packets) {
            states.computeIfAbsent(slot, each -> new long[2])[1] += packets;
            onChange.run();
        }

        @Override
        public long[] met() {
            return new long[Abi.MET_COUNT];
        }

        @Override
        public void close() {}
    }

    private final Fake xdp = new Fake(Level.XDP, ofBpf);
    private final Fake tc = new Fake(Level.TC, ofBpf);
    private final Fake module = new Fake(Level.MODULE, ofModule);

    @BeforeEach
    void attach() {
        levels.add(xdp);
        levels.add(tc);
        levels.add(module);
    }

    private long state(int slot, int which) {
        return states.getOrDefault(slot, new long[2])[which];
    }

    private long pending(int slot) {
        return state(slot, 0) - state(slot, 1);
    }

    /** So many go up under this slot. */
    private void up(int slot, long packets) {
        states.computeIfAbsent(slot, each -> new long[2])[0] += packets;
    }

    private void pass(int steps) {
        nowNs = Math.max(nowNs, System.nanoTime());
        for (int i = 0; i < steps; i++) {
            nowNs += STEP_NS;
            reconciler.pass(nowNs, policies::free);
            policies.endLeaving(nowNs);
        }
    }

    private KernelOffload place(Set<Level> allowed, boolean isOrdered, Long... keys) throws LevelException {
        return (KernelOffload) policies.place(List.of(keys), Flow.ANY, FORWARD, allowed, isOrdered);
    }

    private static ByteBuffer key(long key) {
        return AbiEncoder.flow(key, Flow.ANY);
    }

    private int slotInTable(Map<ByteBuffer, ByteBuffer> table, long key) {
        return table.get(key(key)).getInt(Abi.PolicyStruct.SLOT);
    }

    private void refusedAt(int set, ThrowingCallable code) {
        refusals.clear();
        for (int i = 0; i < set; i++) {
            refusals.add(false);
        }
        refusals.add(true);
        assertThatThrownBy(code).isInstanceOf(LevelException.class).hasMessageContaining("full");
        refusals.clear();
    }

    private List<Integer> slotsInTables() {
        return Stream.concat(ofBpf.values().stream(), ofModule.values().stream())
                .map(policy -> policy.getInt(Abi.PolicyStruct.SLOT))
                .distinct()
                .toList();
    }

    /** Slots that are neither free nor in the hands of one of these. */
    private List<Integer> lostSlots(KernelOffload... atWork) {
        List<Integer> used = Stream.of(atWork).map(each -> each.slot().number).toList();
        List<Integer> lost = new ArrayList<>();
        for (int slot = 1; slot < Abi.MAX_POLICIES; slot++) {
            if (slots.owner(slot) != null && !used.contains(slot)) {
                lost.add(slot);
            }
        }
        return lost;
    }

    // ---- refusals --------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource(
            value = Level.class,
            names = {"TC", "MODULE"})
    void theSlotOfARefusedPolicyIsGivenBackClearAndNotHeld(Level level) throws Exception {
        for (int set = 0; set < 4; set++) {
            List<Integer> taken = new ArrayList<>();
            int at = set;
            refusedAt(at, () -> place(Set.of(level), true, 1L, 2L));
            for (int slot = 1; slot < Abi.MAX_POLICIES; slot++) {
                if (slots.owner(slot) != null) {
                    taken.add(slot);
                    assertThat(pending(slot))
                            .as("slot %s, refused at %s", slot, at)
                            .isZero();
                    up(slot, 3);
                }
            }
            assertThat(taken).as("not given back while packets may carry it").hasSize(1);
            pass(ENOUGH_STEPS);
            assertThat(states).as("refused at %s", at).isEmpty();
            assertThat(lostSlots()).isEmpty();
            assertThat(ofBpf).isEmpty();
            assertThat(ofModule).isEmpty();
        }
        place(Set.of(level), true, 1L, 2L);
    }

    @Test
    void aRefusedChangeLeavesThePolicyInAllTablesAndNoSlotBehind() throws Exception {
        KernelOffload offload = place(TC, false, 1L, 2L);
        int slot = offload.slot().number;
        for (int set = 0; set < 4; set++) {
            refusedAt(set, () -> offload.change(FORWARD.share(Share.first(5))));
            up(slotRetired(slot), 2);
            assertThat(offload.slot().number).isEqualTo(slot);
            assertThat(slotsInTables()).containsExactly(slot);
            pass(ENOUGH_STEPS);
            assertThat(lostSlots(offload)).isEmpty();
        }
        assertThat(offload.counters().up()).as("under refused slots").isEqualTo(8);
        assertThat(offload.policy()).isEqualTo(FORWARD);
    }

    private int slotRetired(int current) {
        return slots.owner(current) == null
                ? 0
                : lostSlots().stream()
                        .filter(each -> each != current)
                        .findFirst()
                        .orElseThrow();
    }

    @Test
    void aMoveThatTheModuleRefusesLeavesThePolicyAtWorkBelow() throws Exception {
        KernelOffload offload = place(TC, false, 1L, 2L);
        int slot = offload.slot().number;
        module.refusesOwn = true;
        assertThatThrownBy(() -> policies.move(offload, FORWARD, MODULE, true))
                .hasMessage("no level can: module: full");
        assertThat(offload.level()).isEqualTo(Level.TC);
        assertThat(slotsInTables()).containsExactly(slot);
        assertThat(ofBpf.get(key(1)).get(Abi.PolicyStruct.SHARE)).isEqualTo((byte) Abi.SHARE_NONE);
        assertThat(ofBpf.get(key(2)).get(Abi.PolicyStruct.SHARE)).isEqualTo((byte) Abi.SHARE_NONE);
        pass(ENOUGH_STEPS);
        assertThat(lostSlots(offload)).isEmpty();
    }

    /** As when it was unloaded: however often somebody tries, slots come back. */
    @Test
    void aTableThatHasGoneKeepsNoSlot() throws Exception {
        KernelOffload offload = place(MODULE, false, 1L);
        module.refusesOwn = true;
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> offload.change(FORWARD.share(Share.first(5))))
                    .hasMessage("full");
            assertThatThrownBy(() -> place(MODULE, false, 2L)).hasMessageContaining("full");
        }
        pass(ENOUGH_STEPS);
        assertThat(lostSlots(offload)).isEmpty();
    }

    /** The module does not answer at all for a while: what is the level's own is set back none the less. */
    @Test
    void oneTableThatCannotBeSetBackKeepsNoOtherFromIt() throws Exception {
        KernelOffload offload = place(TC, false, 1L, 2L);
        int slot = offload.slot().number;
        int moves = 2; // of tc's table, to send all up
        for (int i = 0; i < moves; i++) {
            refusals.add(false);
        }
        refusals.addAll(List.of(true, false, true, false, true)); // the module's, at its set and when set back
        assertThatThrownBy(() -> policies.move(offload, FORWARD, MODULE, true)).hasMessageContaining("full");
        assertThat(List.of(slotInTable(ofBpf, 1), slotInTable(ofBpf, 2))).containsOnly(slot);
        assertThat(ofBpf.get(key(1)).get(Abi.PolicyStruct.SHARE)).isEqualTo((byte) Abi.SHARE_NONE);
        assertThat(ofBpf.get(key(2)).get(Abi.PolicyStruct.SHARE)).isEqualTo((byte) Abi.SHARE_NONE);
        int lost = lostSlots(offload).get(0);
        pass(ENOUGH_STEPS);
        assertThat(lostSlots(offload)).as("a table may have it").containsExactly(lost);
        assertThat(pending(lost)).isZero();
    }

    @Test
    void aRefusalTakesNoLeavingKeyOutOfTheModule() throws Exception {
        place(TC, false, 1L).close();
        refusedAt(1, () -> place(TC, false, 1L));
        assertThat(ofModule).as("XDP's packets may be on their way to it").containsKey(key(1));
        pass(STEPS_OF_A_WINDOW);
        assertThat(ofModule).isEmpty();
    }

    /** The first key's packets may have been handled when the second was refused. */
    @Test
    void keysThatHaveBeenAtWorkLeaveTheModuleLast() throws Exception {
        refusedAt(3, () -> place(TC, false, 1L, 2L));
        assertThat(ofBpf).isEmpty();
        assertThat(ofModule).containsOnlyKeys(key(1));
        pass(STEPS_OF_A_WINDOW);
        assertThat(ofModule).isEmpty();
    }

    // ---- what settles ----------------------------------------------------------------------------------------------

    @Test
    void aPacketThatIsLostLaterDoesNotKeepAPolicyFromWorkForEver() throws Exception {
        for (KernelOffload offload : List.of(place(TC, true, 1L), (KernelOffload)
                policies.place(List.of(2L), Flow.ANY, FORWARD.share(Share.first(1)), TC, false))) {
            offload.slot().release();
            int slot = offload.slot().number;
            up(slot, 1);
            offload.slot().driver.settled(slot, 1);
            pass(ENOUGH_STEPS); // It handles packets itself.
            up(slot, 1); // One goes up that it cannot handle, and no socket gets it.
            assertThat(pending(slot)).isOne();
            pass(ENOUGH_STEPS);
            assertThat(pending(slot)).as("%s", offload).isZero();
        }
    }

    // ---- keys that come and go -------------------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource(
            value = Level.class,
            names = {"TC", "XDP"})
    void aPolicyLeavesItsFormerKeysWhetherItGetsNewOnesOrNot(Level level) throws Exception {
        KernelOffload first = place(Set.of(level), false, 1L, 2L);
        KernelOffload other = place(TC, false, 9L);
        assertThatThrownBy(() -> policies.follow(first, List.of(2L, 9L))).hasMessageContaining("the flow has a policy");
        assertThat(first.keys()).containsExactly(key(2));
        assertThat(ofBpf).containsOnlyKeys(key(2), key(9));
        KernelOffload second = place(TC, false, 1L);
        assertThatThrownBy(() -> policies.follow(second, List.of(9L))).hasMessageContaining("the flow has a policy");
        assertThat(policies.offloads()).containsExactlyInAnyOrder(first, other, second);
        assertThat(ofBpf).containsOnlyKeys(key(2), key(9));
        other.close();
        policies.follow(second, List.of(9L));
        assertThat(slotInTable(ofBpf, 9)).isEqualTo(second.slot().number);
    }

    @Test
    void xdpTakesNoNewKey() throws Exception {
        KernelOffload offload = place(XDP, false, 1L, 2L);
        assertThatThrownBy(() -> policies.follow(offload, List.of(2L, 3L)))
                .hasMessage("begins only while no packet comes, as it cannot wait for those on their way up");
        assertThat(offload.keys()).containsExactly(key(2));
        policies.follow(offload, List.of(2L));
        assertThat(ofBpf).containsOnlyKeys(key(2));
    }

    @Test
    void theModuleGetsNoKeyThatIsLeavingTc() throws Exception {
        KernelOffload offload = place(MODULE, false, 1L);
        place(TC, false, 2L).close();
        assertThatThrownBy(() -> policies.follow(offload, List.of(1L, 2L))).hasMessageContaining("may be on their way");
        assertThat(offload.keys()).containsExactly(key(1));
        pass(STEPS_OF_A_WINDOW);
        policies.follow(offload, List.of(1L, 2L));
        assertThat(List.of(slotInTable(ofModule, 1), slotInTable(ofModule, 2))).containsOnly(offload.slot().number);
    }

    static Stream<Arguments> twoLevels() {
        return Stream.of(Level.XDP, Level.TC, Level.MODULE)
                .flatMap(one -> Stream.of(Level.XDP, Level.TC, Level.MODULE).map(other -> Arguments.of(one, other)));
    }

    /** When one of the two comes or goes, packets between the tables, or on their way up, would meet both or none. */
    @ParameterizedTest
    @MethodSource("twoLevels")
    void aPartOfAFlowIsWhereTheWholeIs(Level one, Level other) throws Exception {
        Flow part = new Flow(Flow.Protocol.UDP, null, null, 7L);
        for (List<Flow> flows : List.of(List.of(Flow.ANY, part), List.of(part, Flow.ANY))) {
            Offload first = policies.place(List.of(1L, 2L), flows.get(0), FORWARD, Set.of(one), false);
            if (one == other) {
                policies.place(List.of(2L), flows.get(1), FORWARD, Set.of(other), false)
                        .close();
            } else {
                assertThatThrownBy(() -> policies.place(List.of(2L), flows.get(1), FORWARD, Set.of(other), false))
                        .hasMessage(
                                "no level can: " + other.label() + ": " + one.label() + " handles packets of this flow"
                                        + " by another policy, which " + other.label()
                                        + " might miss or meet again: close that one, or ask for both at one level");
            }
            policies.place(List.of(3L), flows.get(1), FORWARD, Set.of(other), false)
                    .close();
            first.close();
            pass(STEPS_OF_A_WINDOW);
        }
    }

    /** The other is of a part of its flow, or of one that it is a part of. */
    @Test
    void aPolicyMovesToNoOtherLevelThanAnotherOfItsPackets() throws Exception {
        Flow part = new Flow(Flow.Protocol.UDP, null, null, 7L);
        KernelOffload whole = place(TC, false, 1L);
        KernelOffload other = (KernelOffload) policies.place(List.of(1L), part, FORWARD, TC, false);
        for (KernelOffload moving : List.of(whole, other)) {
            for (Set<Level> to : List.of(MODULE, XDP)) {
                Map<ByteBuffer, ByteBuffer> before = Map.copyOf(ofBpf);
                assertThatThrownBy(() -> policies.move(moving, FORWARD, to, false))
                        .hasMessageContaining("tc handles packets of this flow by another policy");
                assertThat(moving.level()).isEqualTo(Level.TC);
                assertThat(ofBpf).isEqualTo(before);
            }
        }
        other.close();
        assertThatThrownBy(() -> policies.move(whole, FORWARD, MODULE, false))
                .as("what tc has handled may have to pass the module yet")
                .hasMessageContaining("ask again in a second");
        pass(STEPS_OF_A_WINDOW);
        policies.move(whole, FORWARD, MODULE, false);
        assertThat(whole.level()).isEqualTo(Level.MODULE);
    }

    /** While it waits for the kernel others are served. */
    @ParameterizedTest
    @EnumSource(
            value = Level.class,
            names = {"TC", "MODULE"})
    void aPolicyMovesToNoOtherLevelThanOneThatComesMeanwhile(Level from) throws Exception {
        Level to = from == Level.TC ? Level.MODULE : Level.TC;
        Flow part = new Flow(Flow.Protocol.UDP, null, null, 7L);
        KernelOffload whole = place(Set.of(from), false, 1L);
        List<Offload> meanwhile = new ArrayList<>();
        inGrace = () -> {
            if (meanwhile.isEmpty()) {
                try {
                    meanwhile.add(policies.place(List.of(1L), part, FORWARD, Set.of(from), false));
                } catch (LevelException e) {
                    throw new AssertionError(e);
                }
            }
        };
        assertThatThrownBy(() -> policies.move(whole, FORWARD, Set.of(to), false))
                .hasMessageContaining(from.label() + " handles packets of this flow by another policy");
        assertThat(whole.level()).isEqualTo(from);
        for (Map<ByteBuffer, ByteBuffer> table : List.of(ofBpf, ofModule)) {
            assertThat(table.get(key(1)).get(Abi.PolicyStruct.LEVEL)).isEqualTo((byte) AbiEncoder.level(from));
            assertThat(slotInTable(table, 1)).isEqualTo(whole.slot().number);
        }
    }

    /** The module knows a part that tc has handled for a second more, and leaves its packets alone. */
    @Test
    void theModuleGetsNoFlowOfWhichAPartIsLeaving() throws Exception {
        policies.place(List.of(1L), new Flow(Flow.Protocol.UDP, null, null, 7L), FORWARD, TC, false)
                .close();
        assertThatThrownBy(() -> place(MODULE, false, 1L)).hasMessageContaining("ask again in a second");
        pass(STEPS_OF_A_WINDOW);
        place(MODULE, false, 1L);
    }

    @Test
    void aKeyLeavesTheModuleAfterASecondHoweverLongAServiceHasItsPackets() throws Exception {
        KernelOffload offload = place(TC, true, 1L);
        up(offload.slot().number, 5);
        arrived.put(offload.slot().number, 5L);
        offload.close();
        assertThat(ofModule).containsKey(key(1));
        assertThatThrownBy(() -> place(MODULE, false, 1L)).hasMessageContaining("ask again in a second");
        pass(STEPS_OF_A_WINDOW);
        assertThat(ofModule).isEmpty();
        place(MODULE, false, 1L);
        pass(ENOUGH_STEPS);
        assertThat(ofModule).containsKey(key(1));
    }

    // ---- moves -----------------------------------------------------------------------------------------------------

    @Test
    void aMoveFromXdpToTheModuleSaysWhatHelps() throws Exception {
        KernelOffload offload = place(XDP, false, 1L);
        assertThatThrownBy(() -> policies.move(offload, FORWARD, MODULE, false))
                .hasMessageContaining("move to tc first, or close the policy");
        policies.move(offload, FORWARD, TC, false);
        pass(STEPS_OF_A_WINDOW);
        policies.move(offload, FORWARD, MODULE, false);
        assertThat(offload.level()).isEqualTo(Level.MODULE);
    }

    @Test
    void othersGoOnWhileAMoveWaitsForTheKernel() throws Exception {
        KernelOffload moving = place(TC, false, 1L);
        KernelOffload other = place(TC, false, 2L);
        List<Offload> seen = new ArrayList<>();
        inGrace = () -> Waiting.async(() -> {
                    other.change(FORWARD.share(Share.first(3)));
                    place(TC, false, 3L).close();
                    seen.addAll(policies.offloads());
                })
                .orTimeout(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .join();
        policies.move(moving, FORWARD, MODULE, true);
        assertThat(moving.level()).isEqualTo(Level.MODULE);
        assertThat(seen).contains(moving, other);
        assertThat(other.policy().share()).isEqualTo(Share.first(3));
    }

    /** Its node ends meanwhile. */
    @Test
    void aMoveEndsWithTheLevels() throws Exception {
        KernelOffload moving = place(TC, false, 1L);
        inGrace = () -> policies.close(AbiEncoder.hook(0, 0, Set.of(), Set.of(), false));
        assertThatThrownBy(() -> policies.move(moving, FORWARD, MODULE, true))
                .hasMessageContaining("the levels of this node are closed");
        assertThat(moving.isClosed()).isTrue();
    }

    /** Packets that have gone up between the two are not overtaken, though none was before. */
    @ParameterizedTest
    @EnumSource(
            value = Level.class,
            names = {"TC", "MODULE"})
    void aMoveAcrossTablesWaitsForPacketsThatWentUpInBetween(Level to) throws Exception {
        KernelOffload offload = place(Set.of(to == Level.TC ? Level.MODULE : Level.TC), false, 1L);
        policies.move(offload, FORWARD, Set.of(to), false);
        int slot = offload.slot().number;
        assertThat(offload.level()).isEqualTo(to);
        assertThat(offload.isOrdered()).isTrue();
        assertThat(pending(slot)).as("held").isEqualTo(UsedSlot.HOLD);
        offload.slot().release();
        assertThat(pending(slot)).isZero();
    }

    // ---- keys of one policy ----------------------------------------------------------------------------------------

    /** What is done with a policy, by which its packets go up for a while or for good. */
    private interface Change {
        void of(KernelOffload offload) throws LevelException;
    }

    static Stream<Arguments> changes() {
        return Stream.of(Level.XDP, Level.TC, Level.MODULE)
                .flatMap(from -> Stream.of(
                        Arguments.of(from, FORWARD, false),
                        Arguments.of(from, FORWARD, true),
                        Arguments.of(from, FORWARD.share(Share.first(1)), false)))
                .filter(each -> each.get()[0] != Level.XDP || each.get()[1] == FORWARD && each.get()[2].equals(false));
    }

    /**
     * A packet of each key comes after every single change of a table: once one has gone up, no level handles a later one,
     * of whatever key, which would pass it.
     */
    @ParameterizedTest
    @MethodSource("changes")
    void packetsOfAllKeysBeginToGoUpAtOnce(Level from, Policy policy, boolean isOrdered) throws Exception {
        Map<String, Change> changes = Map.of(
                "to tc", offload -> policies.move(offload, FORWARD, TC, true),
                "to the module", offload -> policies.move(offload, FORWARD, MODULE, true),
                "to send all up", offload -> policies.move(offload, Policy.up(), TC, false),
                "other share", offload -> offload.change(FORWARD.share(Share.first(9))),
                "a key more", offload -> policies.follow(offload, List.of(1L, 2L, 3L, 4L)),
                "a key less and one more", offload -> policies.follow(offload, List.of(1L, 3L, 4L)),
                "end", KernelOffload::close);
        for (Map.Entry<String, Change> change : changes.entrySet()) {
            KernelOffload offload =
                    (KernelOffload) policies.place(List.of(1L, 2L, 3L), Flow.ANY, policy, Set.of(from), isOrdered);
            begin(offload);
            List<String> ways = new ArrayList<>();
            List<Long> keys = change.getKey().contains("less") ? List.of(1L, 3L) : List.of(1L, 2L, 3L);
            onChange = () -> keys.forEach(key -> ways.add(way(key)));
            onChange.run();
            assertThat(ways).as("before").containsOnly("handled");
            try {
                change.getValue().of(offload);
            } catch (LevelException refused) {
                assertThat(from).as(refused.getMessage()).isEqualTo(Level.XDP);
                assertThat(ways).as("%s: refused", change.getKey()).containsOnly("handled");
            }
            onChange = () -> {};
            int first = ways.contains("up") ? ways.indexOf("up") : ways.size();
            assertThat(ways.subList(first, ways.size()))
                    .as("%s: %s", change.getKey(), ways)
                    .doesNotContain("handled");
            assertThat(ways).as(change.getKey()).doesNotContain("passed by");
            offload.close();
            pass(ENOUGH_STEPS);
        }
    }

    /** Packets of all keys that go up by a policy that ends are handled by none that is at work for them all. */
    @Test
    void packetsThatAnotherPolicyHandlesDoNotGoUpInBetween() throws Exception {
        place(TC, false, 1L, 2L);
        Offload stream =
                policies.place(List.of(1L, 2L), new Flow(Flow.Protocol.UDP, null, null, 7L), FORWARD, TC, false);
        int slot = ((KernelOffload) stream).slot().number;
        onChange = () -> assertThat(state(slot, 1)).isNotNegative();
        stream.close();
    }

    @Test
    void aRefusedMoveHoldsThePolicyNoLonger() throws Exception {
        KernelOffload offload = place(TC, false, 1L, 2L);
        refusedAt(1, () -> policies.move(offload, FORWARD, TC, true));
        assertThat(pending(offload.slot().number)).isZero();
        assertThat(List.of(way(1), way(2))).containsOnly("handled");
    }

    /** Has it handle packets itself: those from before are out. */
    private void begin(KernelOffload offload) {
        int slot = offload.slot().number;
        up(slot, 3);
        offload.slot().driver.settled(slot, 3);
        offload.slot().release();
    }

    /** Sends a packet that asks for this key past the levels, as their programs would decide; returns where it goes. */
    private String way(long key) {
        ByteBuffer before = ofBpf.get(key(key));
        int first = before == null ? 0 : before.get(Abi.PolicyStruct.LEVEL);
        if (first == Abi.LEVEL_TC || first == Abi.LEVEL_XDP) {
            return way(before);
        }
        ByteBuffer behind = ofModule.get(key(key));
        if (before == null || behind == null) {
            return "up"; // Of an unknown flow.
        }
        return behind.get(Abi.PolicyStruct.LEVEL) == Abi.LEVEL_MODULE ? way(behind) : "passed by";
    }

    private String way(ByteBuffer policy) {
        int slot = policy.getInt(Abi.PolicyStruct.SLOT);
        int share = policy.get(Abi.PolicyStruct.SHARE);
        boolean isOrdered = policy.get(Abi.PolicyStruct.ORDERED) != 0;
        boolean isGated = share == Abi.SHARE_FIRST || isOrdered;
        boolean isBehind = state(slot, 0) != state(slot, 1) || isOrdered && state(slot, 0) == 0;
        if (share == Abi.SHARE_ALL || state(slot, 1) < 0 || isGated && isBehind) {
            up(slot, 1);
            return "up";
        }
        return "handled";
    }
}
