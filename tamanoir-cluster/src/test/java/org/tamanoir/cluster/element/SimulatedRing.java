package org.tamanoir.cluster.element;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.IntToLongFunction;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import org.tamanoir.accounting.DropReason;

/**
 * Senders in a ring, and behind them an aggregator that reads its inputs in turn, the first at once, in virtual time. Ties at a tick: by
 * {@link Kind}, then the smaller unit, then the older event.
 */
final class SimulatedRing {
    /** What happens, in the order in which it does at one tick. */
    private enum Kind {
        TOKEN,
        SENT,
        PACKET,
        TIMER,
        AGGREGATOR
    }

    private record Event(long tick, Kind kind, int unit, long number, Runnable action) {}

    /** Nothing of a unit is handled from a tick to another. */
    record Pause(int unit, long from, long to) {}

    /** A token on its way from a unit: how many times it arrives. */
    interface Faults {
        int arrivals(long serial, int from);
    }

    private final Unit[] units;
    private final IntToLongFunction sendTicks;
    private final long hop;
    private final int inputLimit;
    private final long aggregatorTicks;
    private final List<Pause> pauses;
    private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingLong(Event::tick)
            .thenComparing(Event::kind)
            .thenComparingInt(Event::unit)
            .thenComparingLong(Event::number));
    Faults faults = (serial, from) -> 1;
    /** After which a master whose token is not back issues it again; 0 = it does not. */
    long reissue;
    /** Packets that wait at a unit at most; what comes then is lost. */
    int queueLimit = Integer.MAX_VALUE;

    private long now;
    private long number;
    private boolean reading;
    private int lastRead;

    final List<Long> order = new ArrayList<>();
    /** When each of {@link #order} left the aggregator's input. */
    final List<Long> ticks = new ArrayList<>();

    /**
     * @param sendTicks by sequence number
     * @param inputLimit packets of a unit that the aggregator holds
     */
    SimulatedRing(
            int units,
            LongFunction<FctSettings> settings,
            IntToLongFunction sendTicks,
            long hop,
            int inputLimit,
            long aggregatorTicks,
            List<Pause> pauses) {
        this.sendTicks = sendTicks;
        this.hop = hop;
        this.inputLimit = inputLimit;
        this.aggregatorTicks = aggregatorTicks;
        this.pauses = pauses;
        this.units = new Unit[units];
        this.lastRead = units - 1;
        for (int i = 0; i < units; i++) {
            this.units[i] = new Unit(i, settings.apply(i));
        }
    }

    /** Begins with the first unit as the master, or without tokens at all. */
    void begin(boolean withTokens) {
        for (Unit unit : units) {
            if (withTokens) {
                unit.sender.view(0, unit.index == 0, units.length, 0);
            } else {
                unit.sender.alone();
            }
        }
    }

    /** Has a packet come at the queue of a unit. */
    void arrive(long tick, int unit, long round, int sequence) {
        add(tick, Kind.PACKET, unit, () -> {
            if (units[unit].queue.size() >= queueLimit) {
                return;
            }
            units[unit].queue.add(new TestRing.Waiting(round, sequence));
            units[unit].sender.packet(round, false);
        });
    }

    /** Lets time pass until this tick, or until nothing happens any more. */
    void run(long until) {
        Event event;
        while ((event = events.poll()) != null && event.tick() <= until) {
            now = event.tick();
            long later = event.kind() == Kind.AGGREGATOR || event.kind() == Kind.SENT ? now : after(event.unit());
            if (later > now) {
                events.add(new Event(later, event.kind(), event.unit(), event.number(), event.action()));
            } else {
                event.action().run();
            }
        }
    }

    long late() {
        return sum(FctSender::latePackets);
    }

    long stale() {
        return sum(FctSender::staleTokens);
    }

    int waiting() {
        int waiting = 0;
        for (Unit unit : units) {
            waiting += unit.queue.size();
        }
        return waiting;
    }

    private long sum(ToLongFunction<FctSender> what) {
        long sum = 0;
        for (Unit unit : units) {
            sum += what.applyAsLong(unit.sender);
        }
        return sum;
    }

    private long after(int unit) {
        long later = now;
        for (Pause pause : pauses) {
            if (pause.unit() == unit && now >= pause.from() && now < pause.to()) {
                later = Math.max(later, pause.to());
            }
        }
        return later;
    }

    private void add(long tick, Kind kind, int unit, Runnable action) {
        events.add(new Event(tick, kind, unit, number++, action));
    }

    private void read() {
        for (int i = 1; i <= units.length; i++) {
            Unit unit = units[(lastRead + i) % units.length];
            if (!unit.input.isEmpty()) {
                lastRead = unit.index;
                order.add((long) unit.input.removeFirst().sequence());
                ticks.add(now);
                unit.room();
                add(now + aggregatorTicks, Kind.AGGREGATOR, 0, this::read);
                return;
            }
        }
        reading = false;
    }

    private final class Unit implements Heads, RingPort {
        final int index;
        final FctSender sender;
        final Deque<TestRing.Waiting> queue = new ArrayDeque<>();
        final Deque<TestRing.Waiting> input = new ArrayDeque<>();
        /** Sent, and without room at the aggregator. */
        private final Deque<TestRing.Waiting> blocked = new ArrayDeque<>();

        /** When the last send is over. */
        private long sendsUntil;

        private long timers;
        private long returns;

        Unit(int index, FctSettings settings) {
            this.index = index;
            this.sender = new FctSender(settings, this, this);
        }

        @Override
        public long headRound() {
            return queue.isEmpty() ? 0 : queue.getFirst().round();
        }

        @Override
        public void send() {
            TestRing.Waiting packet = queue.removeFirst();
            sendsUntil = Math.max(sendsUntil, now) + sendTicks.applyAsLong(packet.sequence());
            add(sendsUntil, Kind.SENT, index, () -> {
                if (input.size() < inputLimit) {
                    enter(packet);
                } else {
                    blocked.add(packet);
                }
            });
        }

        private void enter(TestRing.Waiting packet) {
            input.add(packet);
            if (!reading) {
                reading = true;
                read();
            }
            sender.sent(1);
        }

        void room() {
            if (!blocked.isEmpty()) {
                TestRing.Waiting packet = blocked.removeFirst();
                add(now, Kind.SENT, index, () -> enter(packet));
            }
        }

        @Override
        public void drop(DropReason reason) {
            queue.removeFirst();
        }

        @Override
        public void pass(Token token) {
            int to = (index + 1) % units.length;
            int arrivals = faults.arrivals(token.serial(), index);
            for (int i = 0; i < arrivals; i++) {
                add(now + hop, Kind.TOKEN, to, () -> {
                    units[to].returns++;
                    units[to].sender.token(token);
                });
            }
            long before = returns;
            if (index == 0 && reissue > 0) {
                add(now + reissue, Kind.TIMER, 0, () -> {
                    if (returns == before) {
                        long serial = token.serial() + 1; // as Keeper's TokenWatch does; the sender goes on from there
                        pass(new Token(serial, token.round(), 0, 0, token.holdBudget(), token.origin()));
                    }
                });
            }
        }

        @Override
        public void timer(long delayTicks) {
            long its = ++timers;
            add(now + delayTicks, Kind.TIMER, index, () -> {
                if (its == timers) {
                    sender.timer();
                }
            });
        }

        @Override
        public void wake(long headRound) {
            add(now + hop, Kind.TOKEN, 0, () -> units[0].sender.wake(headRound));
        }

        @Override
        public void drained() {}
    }
}
