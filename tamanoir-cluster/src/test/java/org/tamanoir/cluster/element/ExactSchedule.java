package org.tamanoir.cluster.element;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;

/**
 * What a seed brings about: a stream that distributors spray over one to five units and an aggregator puts in order, in
 * virtual time, while packets are lost, doubled, reordered and damaged, and any party stands still, for longer than any
 * window too, dies, or starts anew; then a calm in which nothing may be lost, though damaged packets come in between.
 * {@link ExactJudge} says what is wrong.
 */
final class ExactSchedule {
    /** An item on its way: a packet or a marker. */
    static final class Item {
        /** Which start of a distributor placed it, and as which of its items. */
        final int start;

        final int index;
        /** The path that it is about, and as which of that path's items; of an announcement, of which of its stays. */
        final int path;

        int place;
        /** Of an announcement: the items of its path before. */
        int before;

        final long round;
        final int flags;
        final boolean isPacket;
        /** Whether the path was not there before. */
        final boolean beginsStay;
        /** The judge's: how often it came and has not ended, and the last run in which it was done with. */
        int open;

        int doneIn;

        Item(int start, int index, int path, int place, long round, int flags, boolean isPacket, boolean beginsStay) {
            this.start = start;
            this.index = index;
            this.path = path;
            this.place = place;
            this.round = round;
            this.flags = flags;
            this.isPacket = isPacket;
            this.beginsStay = beginsStay;
        }

        /** Makes a packet of no distributor: its round is far above all of theirs, and from those of others like it. */
        static Item stray(int path, int number) {
            return new Item(STRAY, number, path, 0, (1L << 62) + ((long) number << 32), 0, true, false);
        }

        boolean isStray() {
            return start == STRAY;
        }

        boolean isAnnouncement() {
            return (flags & Anep.ROUND_PATH_BEGINS) != 0;
        }

        @Override
        public String toString() {
            return "item " + index + " of start " + start + ", path " + path + ", round " + round;
        }
    }

    private static final int STRAY = -1;
    private static final int STEPS = 120;
    private static final long STEP_NS = 1_000;
    private static final long DEADLINE_NS = 10 * STEP_NS;
    private static final long LONG_ROUNDS = ExactMerge.WINDOW + 5_000;
    /** Several for each path, while the deadlines of all pass. */
    private static final int CALM_PACKETS = 200;
    /** A clock's step between two starts: longer than it takes to start a process. */
    private static final long START_MS = 250;

    private final long seed;
    private final Random random;
    private final int paths;
    private final int depth;
    private final boolean hasRing;
    private final double loss;
    private final double doubled;
    private final double swapped;
    /** Of packets that come, how many have a damaged one come before them. */
    private final double damaged;

    private final Unit[] units;
    private final int[] speeds;
    private final List<Distributor> distributors = new ArrayList<>();
    private final ExactJudge judge;
    private Distributor distributor;
    private Aggregator aggregator;
    private long clockMs = 1_800_000_000_000L;
    /** Whether the clock of the last start is behind. */
    private boolean isSetBack;
    /** The highest round that it heard of from units. */
    private long heard;

    private long nowNs;
    private boolean isCalm;
    private int strays;

    ExactSchedule(long seed) {
        this.seed = seed;
        random = new Random(seed);
        paths = 1 + random.nextInt(5);
        depth = new int[] {2, 3, 8, 64, 1_024}[random.nextInt(5)];
        hasRing = random.nextBoolean();
        loss = new double[] {0, 0, 0.02, 0.3}[random.nextInt(4)];
        doubled = new double[] {0, 0, 0.02, 0.2}[random.nextInt(4)];
        swapped = new double[] {0, 0, 0, 0.1}[random.nextInt(4)];
        damaged = new double[] {0, 0, 0.02, 0.1}[random.nextInt(4)];
        judge = new ExactJudge(paths);
        units = new Unit[paths];
        speeds = random.ints(paths, 1, 8).toArray();
        for (int path = 0; path < paths; path++) {
            units[path] = new Unit();
        }
        aggregator = new Aggregator();
        distributor = new Distributor();
    }

    /** Returns what is wrong; null if nothing is. */
    @Nullable
    String play() {
        try {
            int incidents = random.nextInt(6);
            int[] when = random.ints(incidents, 0, STEPS).toArray();
            for (int step = 0; step < STEPS; step++) {
                for (int at : when) {
                    if (at == step) {
                        incident();
                    }
                }
                step(random.nextInt(3 * paths));
            }
            calm();
        } catch (RuntimeException | AssertionError e) {
            judge.fault(e.toString());
        }
        return judge.verdict() == null ? null : "-Dtamanoir.sim.seed=" + seed + ": " + judge.verdict();
    }

    private void step(int datagrams) {
        for (int i = 0; i < datagrams; i++) {
            distributor.send();
        }
        for (int path = 0; path < paths; path++) {
            units[path].forward(isCalm ? Integer.MAX_VALUE : random.nextInt(2 * speeds[path]));
        }
        aggregator.read();
        nowNs += STEP_NS;
    }

    /** Has all be well, lets what is late come and be given up, and then wants each packet. */
    private void calm() {
        isCalm = true;
        for (Distributor each : distributors) {
            each.goOn();
        }
        for (Unit unit : units) {
            unit.isDead = false;
            unit.isPaused = false;
        }
        aggregator.goOn();
        for (int path = 0; path < paths; path++) {
            distributor.join(path);
        }
        for (int i = 0; i < CALM_PACKETS; i++) {
            step(1);
        }
        judge.wantAll();
        for (int i = 0; i < CALM_PACKETS; i++) {
            step(1);
        }
        aggregator.end();
    }

    private void incident() {
        int path = random.nextInt(paths);
        Unit unit = units[path];
        switch (random.nextInt(12)) {
            case 0 -> unit.isPaused = true;
            case 1 -> unit.isPaused = false;
            case 2 -> {
                unit.queue.clear();
                unit.isDead = true;
            }
            case 3 -> {
                unit.isDead = false;
                unit.isPaused = false;
            }
            case 4 -> distributor.isPaused = true;
            case 5 -> distributor.goOn();
            case 6 -> distributor = new Distributor();
            case 7 -> {
                aggregator.end();
                aggregator = new Aggregator();
            }
            case 8 -> aggregator.isPaused = !aggregator.isPaused;
            case 9 -> distributor.lose(path);
            case 10 -> distributor.join(path);
            default -> {
                if (random.nextInt(60) == 0) {
                    pass(unit);
                } else if (!distributors.isEmpty()) {
                    distributors.get(random.nextInt(distributors.size())).goOn();
                }
            }
        }
    }

    /** Has more rounds pass than any window has, while a party stands still that comes back then. */
    private void pass(Unit unit) {
        boolean wasPaused = unit.isPaused;
        boolean isAggregator = random.nextInt(4) == 0;
        unit.isPaused = true;
        aggregator.isPaused |= isAggregator;
        for (long i = 0; i < LONG_ROUNDS; i += 100) {
            step(100 * paths);
            for (int path = 0; path < paths; path++) {
                units[path].forward(Integer.MAX_VALUE);
            }
            if (random.nextInt(1_000) == 0) {
                distributor = new Distributor();
            }
        }
        unit.isPaused = wasPaused;
        if (isAggregator) {
            aggregator.goOn();
        }
    }

    /** A start of the distributor, with what waits in its socket. */
    private final class Distributor {
        private final int start = distributors.size();
        private final Rounds rounds;
        private final int[] places = new int[paths];
        private final boolean[] comes = new boolean[paths];
        private int items;
        private int waiting;
        boolean isPaused;

        Distributor() {
            clockMs += START_MS;
            boolean wasSetBack = isSetBack;
            isSetBack = hasRing && start > 0 && distributor.items > 0 && random.nextInt(3) == 0;
            long itsClockMs = isSetBack ? clockMs - 3_600_000 : clockMs;
            long first = Beginning.at(itsClockMs);
            boolean runsOver = random.nextInt(8) == 0; // the numbers of this start, soon
            rounds = new Rounds(Distribution.EXACT, 1, paths, runsOver ? first + (1 << 27) - 60 : first, this::mark);
            for (int path = 0; path < paths; path++) {
                rounds.weight(path, 1 + random.nextInt(3));
            }
            if (!isSetBack || !wasSetBack || random.nextBoolean()) {
                heard = judge.newestRound();
            } // Else units have nothing yet of what the one before has sent.
            if (hasRing && heard > first) {
                if (Beginning.above(heard, itsClockMs) <= judge.newestRound()) {
                    heard = judge.newestRound(); // Else the later start may be the lower one: nobody can tell then.
                }
                rounds.beginAnew(Beginning.above(heard, itsClockMs));
            }
            if (start > 0 && random.nextBoolean()) {
                distributor.waiting = 0; // It was killed; else it stands still and may go on.
                distributor.isPaused = true;
            }
            if (start > 0 && distributor.items == 0) {
                distributor.waiting = 0; // Nobody has heard of it, and so this start may be below it.
            }
            distributors.add(this);
        }

        void send() {
            if (isPaused) {
                waiting = Math.min(waiting + 1, 100);
                return;
            }
            int path = rounds.next(0);
            if (path >= 0) {
                place(path, path, rounds.round(), rounds.flags(), true);
            }
        }

        private void mark(int way, int path, long round, int flags) {
            place(way, path, round, flags, false);
        }

        private void place(int way, int path, long round, int flags, boolean isPacket) {
            boolean isAnnouncement = (flags & Anep.ROUND_PATH_BEGINS) != 0;
            int number = isAnnouncement ? -1 : places[path]++;
            boolean begins = !isAnnouncement && comes[path];
            comes[path] &= isAnnouncement;
            Item item = new Item(start, items++, path, number, round, flags, isPacket, begins);
            judge.placed(item);
            units[way].take(item);
        }

        void goOn() {
            isPaused = false;
            for (; waiting > 0; waiting--) {
                send();
            }
        }

        void lose(int path) {
            rounds.weight(path, random.nextBoolean() ? Rounds.LEAVING : Rounds.ABSENT);
            rounds.endRound();
            comes[path] = true;
        }

        void join(int path) {
            rounds.weight(path, 1 + random.nextInt(3));
        }
    }

    /** A unit: first in, first out, but for what a network does to packets on their way to it. */
    private final class Unit {
        final Deque<Item> queue = new ArrayDeque<>();
        boolean isPaused;
        boolean isDead;

        void take(Item item) {
            if (isDead || !isCalm && random.nextDouble() < loss) {
                return;
            }
            Item last = queue.peekLast();
            if (!isCalm && last != null && random.nextDouble() < swapped) {
                queue.removeLast();
                queue.add(item);
                queue.add(last);
            } else {
                queue.add(item);
            }
            if (!isCalm && random.nextDouble() < doubled) {
                queue.add(item);
            }
        }

        void forward(int items) {
            if (isPaused) {
                return;
            }
            for (int i = 0; i < items && !queue.isEmpty(); i++) {
                aggregator.socket.add(queue.remove());
            }
        }
    }

    /** A run of the aggregator, with what waits in its socket, from which it takes no unit's packets in another order. */
    private final class Aggregator implements ExactMerge.Output {
        final Deque<Item> socket = new ArrayDeque<>();
        private final List<Item> offered = new ArrayList<>();
        private final ExactMerge merge = new ExactMerge(paths, depth, DEADLINE_NS, this);
        boolean isPaused;

        Aggregator() {
            judge.begins();
        }

        void read() {
            if (isPaused) {
                return;
            }
            for (Item item = socket.poll(); item != null; item = socket.poll()) {
                if (random.nextDouble() < damaged) {
                    take(Item.stray(item.path, strays++));
                }
                take(item);
            }
            merge.expire(nowNs);
        }

        private void take(Item item) {
            judge.offered(item);
            offered.add(item);
            merge.offer(item.path, item.round, item.flags, offered.size() - 1, nowNs);
        }

        void goOn() {
            isPaused = false;
            read();
        }

        void end() {
            goOn();
            judge.drains();
            merge.drain();
            judge.ends(merge.held(), merge.gaps());
        }

        @Override
        public void emit(int packet) {
            judge.emitted(offered.get(packet));
        }

        @Override
        public void drop(int packet, ExactMerge.Ending ending) {
            judge.dropped(offered.get(packet), ending == ExactMerge.Ending.MARKER);
        }
    }
}
