package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelException;

/** Slots, and what is settled of them, in simulated time. */
class SlotsTest {
    private static final long STEP_NS = 100_000_000;

    private final Counting driver = new Counting();
    private final Losses losses = new Losses();
    private final Node intake = new Node();
    private long nowNs = 5;

    /** What the node says. */
    private static final class Node implements UsedSlot.Intake {
        long arrived;
        boolean isEmpty = true;

        @Override
        public long arrived(int slot) {
            return arrived;
        }

        @Override
        public boolean isEmpty() {
            return isEmpty;
        }
    }

    /** A level whose packets the test counts itself. */
    static final class Counting implements LevelDriver {
        long seen;
        long up;
        long settled;
        /** Runs before the state is read. */
        Runnable meanwhile = () -> {};

        @Override
        public Level level() {
            return Level.TC;
        }

        @Override
        public String detail() {
            return "counting";
        }

        @Override
        public void attach(ByteBuffer hook) {}

        @Override
        public void locals(ByteBuffer addresses) {}

        @Override
        public void set(ByteBuffer flow, ByteBuffer policy) {}

        @Override
        public void remove(ByteBuffer flow) {}

        @Override
        public void clear(int slot) {}

        @Override
        public ByteBuffer counters(int slot) {
            return ByteBuffer.allocate(Abi.CountersStruct.SIZE).order(ByteOrder.nativeOrder());
        }

        @Override
        public ByteBuffer state(int slot) {
            meanwhile.run();
            return ByteBuffer.allocate(Abi.StateStruct.SIZE)
                    .order(ByteOrder.nativeOrder())
                    .putLong(Abi.StateStruct.SEEN, seen)
                    .putLong(Abi.StateStruct.UP, up)
                    .putLong(Abi.StateStruct.SETTLED, settled);
        }

        @Override
        public void settled(int slot, long packets) {
            settled += packets;
        }

        @Override
        public long[] met() {
            return new long[Abi.MET_COUNT];
        }

        @Override
        public void close() {}
    }

    private UsedSlot.Finding observe(UsedSlot slot) throws LevelException {
        nowNs += STEP_NS;
        slot.read();
        return slot.observe(nowNs, losses, intake);
    }

    @Test
    void slotsAreTakenInTheOrderInWhichTheyWereGivenBack() throws Exception {
        Slots slots = new Slots();
        Set<Integer> taken = new HashSet<>();
        for (int i = 1; i < Abi.MAX_POLICIES; i++) {
            taken.add(slots.take(driver));
        }
        assertThat(taken).hasSize(Abi.MAX_POLICIES - 1).doesNotContain(0, Abi.MAX_POLICIES);
        assertThatThrownBy(() -> slots.take(driver))
                .isInstanceOf(LevelException.class)
                .hasMessageStartingWith("all 16383 slots are in use");
        slots.give(7);
        slots.give(3);
        assertThat(slots.owner(7)).isNull();
        assertThat(slots.take(driver)).isEqualTo(7);
        assertThat(slots.owner(7)).isSameAs(driver);
        assertThat(slots.take(driver)).isEqualTo(3);
        assertThat(slots.owner(0)).isNull();
        assertThat(slots.owner(-1)).isNull();
        assertThat(slots.owner(Abi.MAX_POLICIES)).isNull();
    }

    @Test
    void packetsThatSettleInTimeAreLeftAlone() throws Exception {
        UsedSlot slot = new UsedSlot(1, driver, true);
        for (int i = 0; i < 100; i++) {
            driver.up += 5;
            intake.arrived = driver.up;
            driver.settled += i == 0 ? 2 : 5; // three are always on their way, and nothing was lost
            assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.PENDING);
        }
        assertThat(driver.up - driver.settled).isEqualTo(3);
    }

    @Test
    void whatDoesNotMoveForAWindowIsSettled() throws Exception {
        UsedSlot slot = new UsedSlot(1, driver, true);
        driver.up = 7;
        int looks = 0;
        while (driver.settled == 0) {
            assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.PENDING);
            looks++;
        }
        assertThat(driver.settled).isEqualTo(7);
        assertThat(looks * STEP_NS).isGreaterThan(UsedSlot.WINDOW_NS);
        assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.QUIET);
    }

    /** A service may take its time, and packets wait in its queues or are held. */
    @Test
    void whatTheNodeHasReadIsNeverTakenForLost() throws Exception {
        UsedSlot slot = new UsedSlot(1, driver, true);
        driver.up = 9;
        intake.arrived = 7;
        for (int i = 0; i < 100; i++) {
            observe(slot);
        }
        assertThat(driver.settled).as("two never arrived").isEqualTo(2);
        losses.add(100);
        for (int i = 0; i < 100; i++) {
            observe(slot);
        }
        assertThat(driver.settled)
                .as("sockets that lose others' packets explain nothing")
                .isEqualTo(2);
    }

    /** The service's thread is in a packet, and what comes behind it stays in its port. */
    @Test
    void whatMayWaitInASocketIsNotTakenForLost() throws Exception {
        UsedSlot slot = new UsedSlot(1, driver, true);
        intake.isEmpty = false;
        driver.up = 7;
        intake.arrived = 1;
        for (int i = 0; i < 100; i++) {
            assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.PENDING);
        }
        assertThat(driver.settled).isZero();
        intake.isEmpty = true;
        for (int i = 0; i < 30; i++) {
            observe(slot);
        }
        assertThat(driver.settled).isEqualTo(6);
    }

    @Test
    void aHeldSlotIsQuietAndStaysClosedHoweverLong() throws Exception {
        UsedSlot slot = new UsedSlot(1, driver, true);
        slot.hold();
        driver.up = 5;
        intake.arrived = 5;
        driver.settled += 5;
        for (int i = 0; i < 100; i++) {
            assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.QUIET);
        }
        assertThat(driver.settled).as("what keeps the gate closed").isNegative();
        slot.release();
        slot.release();
        assertThat(driver.settled).isEqualTo(5);
        assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.QUIET);
    }

    @Test
    void whilePacketsMoveOnlyReportedLossesAreSettled() throws Exception {
        UsedSlot slot = new UsedSlot(1, driver, true);
        intake.isEmpty = false;
        driver.up = 10;
        losses.add(4);
        for (int i = 0; i < 50; i++) {
            driver.up++;
            driver.settled++;
            observe(slot);
        }
        assertThat(driver.up - driver.settled).isEqualTo(6);
        losses.add(100);
        for (int i = 0; i < 50; i++) {
            driver.up++;
            driver.settled++;
            observe(slot);
        }
        assertThat(driver.up - driver.settled).isZero();
        assertThat(losses.take(1_000)).isEqualTo(94);
    }

    @Test
    void whatWasTakenForLostAndCameLateIsTakenBack() throws Exception {
        UsedSlot slot = new UsedSlot(1, driver, true);
        driver.up = 10;
        driver.settled = 13;
        for (int i = 0; i < 20; i++) {
            observe(slot);
        }
        assertThat(driver.settled).isEqualTo(10);
    }

    @Test
    void aRetiredSlotIsFreeAfterAWhileWithNothingPending() throws Exception {
        UsedSlot slot = new UsedSlot(1, driver, false);
        driver.up = 2;
        driver.settled = 1;
        slot.retire(nowNs);
        for (int i = 0; i < 8; i++) {
            assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.PENDING);
        }
        driver.settled = 2;
        assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.QUIET);
        assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.FREE);
    }

    @Test
    void aSlotThatIsHeldOrLetGoWhileItIsReadHasNoPacketsPending() throws Exception {
        UsedSlot slot = new UsedSlot(1, driver, true);
        slot.hold();
        driver.meanwhile = slot::release;
        assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.QUIET);
        driver.meanwhile = slot::stop;
        assertThat(observe(slot)).isEqualTo(UsedSlot.Finding.QUIET);
    }
}
