package org.tamanoir.cluster.element.ring;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.cluster.element.FctSender;
import org.tamanoir.cluster.element.FctSettings;
import org.tamanoir.cluster.element.Heads;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.RingPort;
import org.tamanoir.cluster.element.Token;

/**
 * Units and a distributor in virtual time: keepers, senders and the watch as in a node, and a network that loses, doubles
 * and reorders what a seed says. Parties die, stand still and come back when they are told to.
 */
final class RingWorld {
    static final long US = 1_000;
    static final long MS = 1_000_000;

    private static final long SEND_NS = 50 * US;

    final RingPlan plan;
    final TreeMap<Integer, Unit> units = new TreeMap<>();
    final Random random;
    Distributor distributor;
    long nowNs;
    long hopNs = 500 * US;
    /** Up to which a message takes longer than a hop; what comes later may so come earlier. */
    long jitterNs;

    double lossShare;
    double doubleShare;
    /** Whether a message (from, message) is lost besides. */
    BiPredicate<Integer, Object> lose = (from, message) -> false;
    /** Whether nothing gets (from, to). */
    BiPredicate<Integer, Integer> cut = (from, to) -> false;
    /** Hears of every message that is sent: from, to, and the message. */
    Sniffer sniffer = (from, to, message) -> {};
    /** Hears of every token that is passed: the unit, then the token. */
    BiConsumer<Integer, Token> passes = (unit, token) -> {};

    final List<long[]> sent = new ArrayList<>();
    final Set<Long> sentPackets = new HashSet<>();
    long lostWithUnits;
    int tokensUnderWay;

    private final int firstEpoch;
    private final long seed;
    private long starts;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long order;
    private long packets;

    private record Event(long atNs, long order, Runnable what) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    private record Packet(long number, long round) {}

    RingWorld(long seed, int units, boolean distributor) {
        this(seed, units, distributor, Epoch.NONE);
    }

    /** @param epoch with which it begins, by a clock that goes on to the next each 100 ms; NONE = by no clock */
    RingWorld(long seed, int units, boolean distributor, int epoch) {
        firstEpoch = epoch;
        this.seed = seed;
        random = new Random(seed);
        List<Integer> all = new ArrayList<>();
        for (int unit = 0; unit < units; unit++) {
            all.add(unit);
        }
        plan = RingPlan.of(all, distributor);
        this.distributor = new Distributor();
        for (int unit : all) {
            this.units.put(unit, new Unit(unit));
        }
    }

    private RunStart runStart() {
        int epoch = firstEpoch == Epoch.NONE ? Epoch.NONE : firstEpoch + (int) (nowNs / (100 * MS)) & 0xFFFF;
        return new RunStart(epoch, seed << 50 | starts++ << 40);
    }

    void at(long atNs, Runnable what) {
        events.add(new Event(atNs, order++, what));
    }

    void after(long delayNs, Runnable what) {
        at(nowNs + delayNs, what);
    }

    /** Plays on until this time. */
    void until(long endNs) {
        while (!events.isEmpty() && events.peek().atNs() <= endNs) {
            Event event = events.poll();
            nowNs = event.atNs();
            event.what().run();
        }
        nowNs = endNs;
    }

    void forMs(long ms) {
        until(nowNs + ms * MS);
    }

    interface Sniffer {
        void hear(int from, int to, Object message);
    }

    /** Delivers a message at once, as one that forges the sender's address does. */
    void deliver(int from, int to, Object message) {
        if (to == RingPlan.DISTRIBUTOR) {
            distributor.act(() -> distributor.watch.message(from, (Message) message, distributor.round));
        } else {
            Unit unit = unit(to);
            unit.act(() -> unit.hear(from, message));
        }
    }

    private void post(int from, int to, Object message) {
        sniffer.hear(from, to, message);
        if (cut.test(from, to) || lose.test(from, message) || random.nextDouble() < lossShare) {
            return;
        }
        int copies = random.nextDouble() < doubleShare ? 2 : 1;
        for (int i = 0; i < copies; i++) {
            long delayNs = hopNs + (jitterNs == 0 ? 0 : random.nextLong(jitterNs));
            boolean token = message instanceof Token;
            tokensUnderWay += token ? 1 : 0;
            after(delayNs, () -> {
                tokensUnderWay -= token ? 1 : 0;
                deliver(from, to, message);
            });
        }
    }

    Unit unit(int number) {
        Unit unit = units.get(number);
        if (unit == null) {
            throw new IllegalArgumentException("no unit " + number);
        }
        return unit;
    }

    private Wire wire(int from) {
        return new Wire() {
            @Override
            public void send(int to, Token token) {
                passes.accept(from, token);
                post(from, to, token);
            }

            @Override
            public void send(int to, Message message) {
                post(from, to, message);
            }
        };
    }

    /** What stands still: its work waits, in the order in which it came. */
    abstract class Process {
        /** What comes while it stands still; its socket and its queue, which end with it. */
        final Deque<Runnable> waiting = new ArrayDeque<>();

        boolean dead;
        boolean paused;
        private long scheduledNs = Long.MAX_VALUE;

        void act(Runnable work) {
            if (dead) {
                return;
            }
            if (paused) {
                waiting.add(work);
                return;
            }
            work.run();
            long nextNs = Math.max(deadlineNs(), nowNs);
            if (nextNs < scheduledNs) {
                scheduledNs = nextNs;
                at(nextNs, () -> {
                    if (scheduledNs == nextNs) {
                        scheduledNs = Long.MAX_VALUE;
                        act(this::expire);
                    }
                });
            }
        }

        void pause(long forNs) {
            paused = true;
            after(forNs, () -> {
                paused = false;
                List<Runnable> missed = new ArrayList<>(waiting);
                waiting.clear();
                missed.forEach(this::act);
                act(() -> {});
            });
        }

        abstract long deadlineNs();

        abstract void expire();
    }

    /** Sends a packet to each unit that is in, round by round. */
    final class Distributor extends Process {
        Watch watch = new Watch(plan, runStart(), wire(RingPlan.DISTRIBUTOR));
        long round;
        boolean sending;
        final Set<Integer> done = new TreeSet<>();

        void start() {
            act(() -> {});
        }

        /** Begins anew, with what it hears of rounds within a while. */
        void restart() {
            watch = new Watch(plan, runStart(), wire(RingPlan.DISTRIBUTOR));
            round = 0;
            act(() -> {});
            after(100 * MS, () -> round = Math.max(round, largestRound() + 1000));
        }

        private long largestRound() {
            return plan.units().stream()
                    .map(watch::report)
                    .filter(Objects::nonNull)
                    .mapToLong(report -> report.state().round())
                    .max()
                    .orElse(0);
        }

        void send(long everyNs) {
            sending = true;
            goOn(everyNs);
        }

        private void goOn(long everyNs) {
            act(() -> {
                if (sending) {
                    sendRound();
                    after(everyNs, () -> goOn(everyNs));
                }
            });
        }

        void sendRound() {
            round++;
            for (int number : plan.units()) {
                Message.Report report = watch.report(number);
                RingView view = watch.view();
                if (report == null || view != null && !view.has(number)) {
                    done.remove(number);
                } else if (!watch.silent(number) && !done.contains(number)) {
                    boolean last = report.is(Message.Report.LEAVES);
                    if (last) {
                        done.add(number);
                    }
                    give(number, round, last);
                }
            }
        }

        @Override
        long deadlineNs() {
            return plan.distributor() ? watch.deadlineNs() : Long.MAX_VALUE;
        }

        @Override
        void expire() {
            watch.expire(nowNs, round);
        }
    }

    /** Gives a unit's sender a packet. */
    void give(int number, long round, boolean last) {
        Unit unit = unit(number);
        Packet packet = new Packet(packets++, round);
        if (unit.dead) {
            lostWithUnits++;
        }
        unit.act(() -> {
            unit.queue.add(packet);
            unit.sender.packet(round, last);
        });
    }

    /** A unit with its keeper and its sender. */
    final class Unit extends Process implements RingMember, Heads {
        final int number;
        Keeper keeper;
        FctSender sender;
        final Deque<Packet> queue = new ArrayDeque<>();
        final List<Token> tokens = new ArrayList<>();
        /** Whether it swallows tokens. */
        boolean stuck;

        int alone;
        private final Queue<Consumer<RingMember>> calls = new ArrayDeque<>();

        Unit(int number) {
            this.number = number;
            begin();
        }

        private void begin() {
            calls.clear();
            tokens.clear();
            keeper = new Keeper(plan, number, runStart(), wire(number), calls::add);
            sender = new FctSender(
                    new FctSettings(number, false, 0, 0, 2 * MS, plan.idleMaxNs(), 1 + number % 2), this, port());
        }

        void start() {
            act(() -> keeper.start(nowNs));
        }

        void kill() {
            dead = true;
            lostWithUnits += queue.size();
            queue.clear();
            waiting.clear();
        }

        void restart() {
            if (dead) {
                dead = false;
                paused = false;
                begin();
                start();
            }
        }

        void hear(int from, Object message) {
            keeper.state(state());
            if (message instanceof Token token) {
                keeper.token(nowNs, from, token);
            } else {
                keeper.message(nowNs, from, (Message) message);
            }
            callSender();
        }

        @Override
        void expire() {
            keeper.state(state());
            keeper.expire(nowNs);
            callSender();
        }

        void callSender() {
            for (Consumer<RingMember> call = calls.poll(); call != null; call = calls.poll()) {
                call.accept(this);
            }
        }

        @Override
        long deadlineNs() {
            return keeper.deadlineNs();
        }

        @Nullable
        RingView view() {
            return keeper.status().view();
        }

        // What the ring calls.

        @Override
        public void token(Token token) {
            tokens.add(token);
            if (!stuck) {
                sender.token(token);
            }
        }

        @Override
        public void timer() {
            sender.timer();
        }

        @Override
        public void wake(long headRound) {
            sender.wake(headRound);
        }

        @Override
        public void view(int epoch, boolean master, int count, long round) {
            sender.view(epoch, master, count, round);
        }

        @Override
        public void alone() {
            alone++;
            sender.alone();
        }

        @Override
        public State state() {
            return new State(sender.lastSerial(), sender.round(), queue.size(), sender.newest(), sender.isDrained());
        }

        // What the sender calls.

        private RingPort port() {
            Keeper current = keeper;
            return new RingPort() {
                @Override
                public void pass(Token token) {
                    current.pass(nowNs, token);
                }

                @Override
                public void timer(long delayNs) {
                    current.timer(nowNs, delayNs);
                }

                @Override
                public void wake(long headRound) {
                    current.wake(headRound);
                }

                @Override
                public void drained() {
                    current.drained(nowNs);
                }
            };
        }

        @Override
        public long headRound() {
            Packet head = queue.peek();
            return head == null ? 0 : head.round();
        }

        @Override
        public void send() {
            Packet packet = queue.remove();
            if (!sentPackets.add(packet.number())) {
                throw new AssertionError("packet " + packet.number() + " is sent twice");
            }
            sent.add(new long[] {nowNs, number, packet.round()});
            FctSender current = sender;
            after(
                    SEND_NS,
                    () -> act(() -> {
                        if (current == sender) {
                            sender.sent(1);
                        }
                    }));
        }

        @Override
        public void drop(DropReason reason) {
            queue.remove();
        }
    }

    /** Starts all. */
    RingWorld started() {
        if (plan.distributor()) {
            distributor.start();
        }
        units.values().forEach(Unit::start);
        return this;
    }

    /** Returns the view that all of these units have, null if they have not the same. */
    @Nullable
    RingView common(Iterable<Integer> numbers) {
        RingView view = null;
        for (int number : numbers) {
            RingView its = unit(number).view();
            if (its == null || view != null && !view.equals(its)) {
                return null;
            }
            view = its;
        }
        return view;
    }
}
