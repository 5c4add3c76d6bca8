package org.tamanoir.kernel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.LevelException;

/**
 * Watches slots whose policy goes by what has settled, and slots that no policy has any more until their packets are
 * through.
 *
 * <p>Thread contract: {@link #watch}, {@link #retire} and {@link #keepAllCounts} under the lock of {@link Policies};
 * {@link #pass} the {@code levels} thread; {@link #lost} any thread.
 */
final class Reconciler {
    private static final Logger LOG = LoggerFactory.getLogger(Reconciler.class);
    /** The most time that a pass spends; the next goes on where it ended. */
    private static final long BUDGET_NS = 3_000_000;

    private final Losses losses = new Losses();
    private final UsedSlot.Intake intake;
    private final LongSupplier nanoTime;
    private final Queue<UsedSlot> newcomers = new ConcurrentLinkedQueue<>();
    private final Map<UsedSlot, KernelOffload> retired = new HashMap<>(); // guarded by itself
    private final ArrayDeque<UsedSlot> watched = new ArrayDeque<>();
    private final Set<UsedSlot> known = new HashSet<>(); // as watched
    private boolean anyPending;
    private int leftOfRound;

    Reconciler(UsedSlot.Intake intake) {
        this(intake, System::nanoTime);
    }

    Reconciler(UsedSlot.Intake intake, LongSupplier nanoTime) {
        this.intake = intake;
        this.nanoTime = nanoTime;
    }

    /** The node's sockets, which are looked at once for all slots of a pass: that takes longer than a slot. */
    private static final class AskedOnce implements UsedSlot.Intake {
        private final UsedSlot.Intake intake;
        private boolean isAsked;
        private boolean isEmpty;

        AskedOnce(UsedSlot.Intake intake) {
            this.intake = intake;
        }

        @Override
        public long arrived(int slot) {
            return intake.arrived(slot);
        }

        @Override
        public boolean isEmpty() {
            if (!isAsked) {
                isEmpty = intake.isEmpty();
                isAsked = true;
            }
            return isEmpty;
        }
    }

    /** Packets were lost that may have had a slot. */
    void lost(long packets) {
        losses.add(packets);
    }

    /** Watches a slot that a policy begins with. */
    void watch(UsedSlot slot) {
        if (slot.goesBySettled()) {
            newcomers.add(slot);
        }
    }

    /** Retires a slot that no policy has any more. */
    void retire(UsedSlot slot, KernelOffload offload) {
        synchronized (retired) {
            retired.put(slot, offload);
        }
        slot.retire(nanoTime.getAsLong());
        newcomers.add(slot);
    }

    /** Returns whether there is anything to look at. */
    boolean isBusy() {
        return !watched.isEmpty() || !newcomers.isEmpty();
    }

    /**
     * Looks at slots, each once at most.
     *
     * @param free takes those that are through and their offloads
     */
    void pass(long nowNs, BiConsumer<UsedSlot, KernelOffload> free) {
        for (UsedSlot slot = newcomers.poll(); slot != null; slot = newcomers.poll()) {
            if (known.add(slot)) {
                watched.add(slot);
            }
        }
        if (leftOfRound == 0) {
            leftOfRound = watched.size();
            anyPending = false;
        }
        List<UsedSlot> read = new ArrayList<>();
        long startNs = nanoTime.getAsLong();
        while (leftOfRound > 0 && nanoTime.getAsLong() - startNs < BUDGET_NS) {
            leftOfRound--;
            read(watched.remove(), read);
        }
        UsedSlot.Intake now = new AskedOnce(intake);
        read.forEach(slot -> look(slot, nowNs, now, free));
        if (leftOfRound == 0 && !anyPending) {
            losses.forget();
        }
    }

    private void read(UsedSlot slot, List<UsedSlot> read) {
        try {
            slot.read();
            read.add(slot);
        } catch (LevelException unreadable) {
            LOG.warn("levels: state of slot {}: {}", slot.number, unreadable.getMessage());
            watched.add(slot);
        }
    }

    private void look(UsedSlot slot, long nowNs, UsedSlot.Intake now, BiConsumer<UsedSlot, KernelOffload> free) {
        UsedSlot.Finding finding = slot.observe(nowNs, losses, now);
        anyPending |= finding == UsedSlot.Finding.PENDING;
        if (finding != UsedSlot.Finding.FREE) {
            watched.add(slot);
            return;
        }
        known.remove(slot);
        KernelOffload offload;
        synchronized (retired) {
            offload = retired.remove(slot);
        }
        if (offload != null) {
            free.accept(slot, offload);
        }
    }

    /** Slots are about to go: what was counted under those that no policy has stays with their offloads. */
    void keepAllCounts() {
        synchronized (retired) {
            retired.values().forEach(KernelOffload::keepAllCounts);
            retired.clear();
        }
    }
}
