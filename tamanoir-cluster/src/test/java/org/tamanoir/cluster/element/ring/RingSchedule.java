package org.tamanoir.cluster.element.ring;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.Token;

/**
 * What a seed brings about: a ring of two to five units under packets, whose control messages are lost, doubled and
 * reordered while parties die, come back, stand still and leave; then a calm in which all must be well again.
 */
final class RingSchedule {
    private static final long CHAOS_MS = 1_500;
    /**
     * A master's death that comes with the calm is noticed after 2 idleMax and a few T1, which is some 350 ms where turns
     * were slow; a silent unit after a second.
     */
    private static final long CALM_MS = 4_000;

    private static final long TAIL_MS = 400;
    private static final long MS = RingWorld.MS;
    /** Longer than a stuck unit is left out, an epoch lasts, or a question is remembered. */
    private static final long LONG_NS = 40_000 * MS;

    private final long seed;
    private final RingWorld world;
    private final List<String> faults = new ArrayList<>();
    private final List<int[]> passes = new ArrayList<>();
    private boolean tail;
    private long chaosNs = CHAOS_MS * MS;

    RingSchedule(long seed) {
        this.seed = seed;
        Random random = new Random(seed);
        // Half of the rings begin by a clock, so that a party that comes back does so with a newer epoch than theirs.
        world = new RingWorld(seed, 2 + random.nextInt(4), random.nextInt(8) > 0, seed % 2 == 0 ? Epoch.NONE : 40_000);
        world.hopNs = MS / 4 + random.nextLong(MS);
        world.jitterNs = random.nextInt(3) == 0 ? 0 : random.nextLong(4 * MS) + 1;
        world.lossShare = new double[] {0, 0.01, 0.05, 0.2, 0.4}[random.nextInt(5)];
        world.doubleShare = new double[] {0, 0.02, 0.2}[random.nextInt(3)];
        world.passes = (unit, token) -> {
            if (tail) {
                passes.add(new int[] {unit, (int) token.serial()});
            }
        };
    }

    /** Returns what is wrong; null if nothing is. */
    @Nullable
    String play() {
        if (world.plan.distributor()) {
            world.distributor.start();
        }
        for (RingWorld.Unit unit : world.units.values()) {
            world.after(world.random.nextInt(3) == 0 ? world.random.nextLong(500 * MS) : 0, unit::start);
        }
        world.after(100 * MS, () -> world.distributor.send(25 * MS + world.random.nextLong(15 * MS)));
        int incidents = world.random.nextInt(5);
        for (int i = 0; i < incidents; i++) {
            world.at(world.random.nextLong(CHAOS_MS * MS), this::incident);
        }
        try {
            while (world.nowNs < chaosNs) {
                world.until(chaosNs);
            }
            world.lossShare = 0;
            world.doubleShare = 0;
            world.jitterNs = 0;
            world.forMs(CALM_MS - TAIL_MS);
            world.distributor.sending = true;
            tail = true;
            world.forMs(TAIL_MS - 100);
            world.distributor.sending = false;
            world.forMs(100 + 300);
            drain();
            check();
        } catch (RuntimeException | AssertionError e) {
            faults.add(e.toString());
        }
        return faults.isEmpty() ? null : "-Dtamanoir.sim.seed=" + seed + ": " + String.join("; ", faults);
    }

    /** Lets units send what came while one of them stood still, as long as it gets less. */
    private void drain() {
        long before = Long.MAX_VALUE;
        for (long held = held(); held > 0 && held < before; held = held()) {
            before = held;
            world.forMs(1_000);
        }
    }

    private long held() {
        return world.units.values().stream()
                .filter(each -> !each.dead)
                .mapToLong(each -> each.queue.size())
                .sum();
    }

    private void incident() {
        RingWorld.Unit unit = world.unit(world.random.nextInt(world.units.size()));
        switch (world.random.nextInt(6)) {
            case 0 -> unit.kill();
            case 1 -> {
                unit.kill();
                world.after(world.random.nextLong(300 * MS), unit::restart);
            }
            case 2 -> unit.pause(pauseNs(1_000 * MS));
            case 3 -> unit.act(() -> unit.keeper.announceLeaving(world.nowNs));
            case 4 -> {
                if (world.random.nextBoolean()) {
                    world.distributor.pause(pauseNs(500 * MS));
                } else {
                    world.distributor.restart();
                }
            }
            default -> {
                if (world.random.nextInt(4) == 0) {
                    world.distributor.dead = true;
                }
            }
        }
    }

    /** Returns how long a party stands still; now and then for longer than anything is remembered or left out. */
    private long pauseNs(long usualNs) {
        long forNs = world.random.nextLong(world.random.nextInt(20) == 0 ? LONG_NS : usualNs);
        chaosNs = Math.max(chaosNs, world.nowNs + forNs);
        return forNs;
    }

    private void check() {
        List<Integer> live = new ArrayList<>();
        int voters = world.plan.distributor() && !world.distributor.dead ? 1 : 0;
        for (RingWorld.Unit unit : world.units.values()) {
            if (unit.dead) {
                continue;
            }
            for (int i = 1; i < unit.tokens.size(); i++) {
                Token before = unit.tokens.get(i - 1);
                Token token = unit.tokens.get(i);
                if (before.origin() == token.origin() && Long.compareUnsigned(before.serial(), token.serial()) >= 0) {
                    faults.add("unit " + unit.number + " got " + token + " after " + before);
                }
            }
            voters++;
            RingStatus status = unit.keeper.status();
            if (!status.ended()) {
                live.add(unit.number);
            }
            if (!unit.queue.isEmpty()) {
                faults.add("unit " + unit.number + " still holds " + unit.queue.size() + " packets: " + status);
            }
        }
        RingView view = world.common(live);
        boolean allAlone =
                live.stream().allMatch(unit -> world.unit(unit).keeper.status().alone());
        boolean majority = voters * 2 > world.plan.voters().size();
        if (view == null
                ? majority && !live.isEmpty() || !allAlone
                : !view.units().equals(live)) {
            StringBuilder text = new StringBuilder("those that live, " + live + ", have not one ring:");
            live.forEach(unit -> text.append(' ')
                    .append(unit)
                    .append(' ')
                    .append(world.unit(unit).keeper.status()));
            faults.add(text.toString());
        }
        if (view != null) {
            checkOneToken(view);
        }
    }

    /** One token: each pass follows that of the unit before. */
    private void checkOneToken(RingView view) {
        for (int i = 1; i < passes.size(); i++) {
            if (view.after(passes.get(i - 1)[0]) != passes.get(i)[0]) {
                faults.add(
                        "pass " + i + " by unit " + passes.get(i)[0] + " follows that of unit " + passes.get(i - 1)[0]);
                return;
            }
        }
        if (world.tokensUnderWay > 1) {
            faults.add(world.tokensUnderWay + " tokens are under way");
        }
    }
}
