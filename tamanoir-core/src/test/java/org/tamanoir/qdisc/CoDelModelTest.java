package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.support.Seeds;

/**
 * {@code codel} and {@code fq-codel} beside the pseudo-code of RFC 8289 (section 5) and the text of RFC 8290 (section 4),
 * written down once more here, which share no code with them: packets that come, leave and are taken out at random end the
 * same way in the same order.
 */
@Tag("once")
class CoDelModelTest {
    private static final int OPERATIONS = 4_000;
    /** Streams, none of which shares a queue with another. */
    private static final int STREAMS = 7;

    static long[] seeds() {
        return Seeds.ofCommit(CoDelModelTest.class, 60);
    }

    /** A packet of the model. */
    private static final class Sent {
        final String name;
        final int stream;
        final int size;
        final boolean mayDrop;
        final long atNs;
        boolean isMarked;

        Sent(String name, int stream, int size, boolean mayDrop, long atNs) {
            this.name = name;
            this.stream = stream;
            this.size = size;
            this.mayDrop = mayDrop;
            this.atNs = atNs;
        }
    }

    private static long bytes(Iterable<Sent> queue, boolean alsoKept) {
        long sum = 0;
        for (Sent each : queue) {
            sum += alsoKept || each.mayDrop ? each.size : 0;
        }
        return sum;
    }

    /** RFC 8289, 5.5 to 5.7, with its names; a packet that must not be dropped is marked in its place, as by ECN. */
    private static final class Model8289 {
        final Deque<Sent> queue = new ArrayDeque<>();
        private final long target;
        private final long interval;
        private final List<String> ends;
        private long firstAboveTime;
        /** 0 is a time here. */
        private boolean isFirstAboveTimeSet;

        private long dropNext;
        private long count;
        private long lastcount;
        private boolean dropping;
        private int maxpacket;
        private boolean okToDrop;

        Model8289(long target, long interval, List<String> ends) {
            this.target = target;
            this.interval = interval;
            this.ends = ends;
        }

        void enqueue(Sent packet) {
            maxpacket = queue.isEmpty() ? packet.size : Math.max(maxpacket, packet.size);
            queue.addLast(packet);
        }

        private @Nullable Sent dodequeue(long now) {
            okToDrop = false;
            Sent p = queue.pollFirst();
            if (p == null || now - p.atNs < target || bytes(queue, true) <= maxpacket) {
                isFirstAboveTimeSet = false;
            } else if (!isFirstAboveTimeSet) {
                isFirstAboveTimeSet = true;
                firstAboveTime = now + interval;
            } else if (now >= firstAboveTime) {
                okToDrop = true;
            }
            return p;
        }

        private long controlLaw(long t) {
            BigInteger square = BigInteger.valueOf(interval).pow(2);
            return t + square.divide(BigInteger.valueOf(count)).sqrt().longValueExact();
        }

        /** Drops a packet, or marks one that stays. Returns whether it stays. */
        private boolean drop(Sent p) {
            if (!p.mayDrop) {
                p.isMarked = true;
                return true;
            }
            ends.add(p.name + ":QUEUE_DELAY");
            return false;
        }

        @Nullable
        Sent dequeue(long now) {
            Sent p = dodequeue(now);
            if (dropping) {
                if (!okToDrop) {
                    dropping = false;
                }
                while (dropping && now >= dropNext) {
                    count++;
                    if (drop(p)) {
                        dropNext = controlLaw(dropNext);
                        return p;
                    }
                    p = dodequeue(now);
                    if (!okToDrop) {
                        dropping = false;
                    } else {
                        dropNext = controlLaw(dropNext);
                    }
                }
            } else if (okToDrop) {
                if (!drop(p)) {
                    p = dodequeue(now);
                }
                dropping = true;
                long delta = count - lastcount;
                count = 1;
                if (delta > 1 && now - dropNext < 16 * interval) {
                    count = delta;
                }
                dropNext = controlLaw(now);
                lastcount = count;
            }
            return p;
        }
    }

    /** RFC 8290, 4.1 and 4.2. */
    private static final class Model8290 {
        private final Map<Integer, Model8289> queues = new LinkedHashMap<>();
        private final Map<Integer, Integer> credits = new LinkedHashMap<>();
        private final Deque<Integer> newQueues = new ArrayDeque<>();
        private final Deque<Integer> oldQueues = new ArrayDeque<>();
        private final int limit;
        private final int quantum;
        private final int batch;
        private final List<String> ends;

        Model8290(int limit, int quantum, int batch, long target, long interval, List<String> ends) {
            this.limit = limit;
            this.quantum = quantum;
            this.batch = batch;
            this.ends = ends;
            for (int stream = 0; stream < STREAMS; stream++) {
                queues.put(stream, new Model8289(target, interval, ends));
            }
        }

        private long sum(ToLongFunction<Deque<Sent>> of) {
            return queues.values().stream()
                    .mapToLong(each -> of.applyAsLong(each.queue))
                    .sum();
        }

        /** @param tie which of several queues that hold the same loses packets; the RFC leaves it open */
        void enqueue(Sent packet, Deque<Integer> tie) {
            queues.get(packet.stream).enqueue(packet);
            if (!newQueues.contains(packet.stream) && !oldQueues.contains(packet.stream)) {
                newQueues.addLast(packet.stream);
                credits.put(packet.stream, quantum);
            }
            while (sum(Deque::size) > limit && sum(queue -> bytes(queue, false)) > 0) {
                long most = queues.values().stream()
                        .mapToLong(each -> bytes(each.queue, false))
                        .max()
                        .orElseThrow();
                int stream = queues.keySet().stream()
                        .filter(each -> bytes(queues.get(each).queue, false) == most)
                        .filter(each -> tie.isEmpty() || each.equals(tie.peek()))
                        .findFirst()
                        .orElseThrow(
                                () -> new AssertionError("dropped from stream " + tie.peek() + ", not the fattest"));
                int dropped = dropHalf(queues.get(stream).queue, Math.max(1, most / 2));
                for (int i = 0; i < dropped; i++) {
                    tie.poll();
                }
            }
        }

        private int dropHalf(Deque<Sent> queue, long half) {
            long gone = 0;
            int dropped = 0;
            for (Iterator<Sent> each = queue.iterator(); each.hasNext() && gone < half && dropped < batch; ) {
                Sent packet = each.next();
                if (packet.mayDrop) {
                    each.remove();
                    gone += packet.size;
                    dropped++;
                    ends.add(packet.name + ":QUEUE_FULL");
                } else {
                    packet.isMarked = true;
                }
            }
            return dropped;
        }

        @Nullable
        Sent dequeue(long now) {
            while (true) {
                Deque<Integer> list = newQueues.isEmpty() ? oldQueues : newQueues;
                if (list.isEmpty()) {
                    return null;
                }
                int stream = list.peekFirst();
                if (credits.get(stream) <= 0) {
                    credits.merge(stream, quantum, Integer::sum);
                    list.pollFirst();
                    oldQueues.addLast(stream);
                    continue;
                }
                Sent packet = queues.get(stream).dequeue(now);
                if (packet != null) {
                    credits.merge(stream, -packet.size, Integer::sum);
                    return packet;
                }
                list.pollFirst();
                if (list == newQueues) {
                    oldQueues.addLast(stream);
                }
            }
        }
    }

    /** Both disciplines, with what each has said of packets' ends. */
    private static final class Pair {
        final Random random;
        final QueueingDiscipline real;
        final Model8289 single;
        final @Nullable Model8290 fair;
        final TestItem.Dropped dropped = new TestItem.Dropped();
        final List<String> expected = new ArrayList<>();
        final List<Integer> keys = new ArrayList<>();
        final Map<String, TestItem> there = new LinkedHashMap<>();
        final Map<String, Sent> sent = new LinkedHashMap<>();

        Pair(Random random, boolean isFair) {
            this.random = random;
            int targetUs = 100 + random.nextInt(5_000);
            int intervalUs = targetUs * (1 + random.nextInt(20));
            Map<String, String> options = new LinkedHashMap<>();
            options.put("target", targetUs + "us");
            options.put("interval", intervalUs + "us");
            single = new Model8289(targetUs * 1_000L, intervalUs * 1_000L, expected);
            if (!isFair) {
                fair = null;
                real = new CoDel(TestItem.config(options, 1), dropped);
                return;
            }
            int limit = 5 + random.nextInt(200);
            int quantum = 64 + random.nextInt(3_000);
            int batch = 1 + random.nextInt(64);
            options.put("limit", String.valueOf(limit));
            options.put("quantum", String.valueOf(quantum));
            options.put("drop-batch", String.valueOf(batch));
            fair = new Model8290(limit, quantum, batch, targetUs * 1_000L, intervalUs * 1_000L, expected);
            real = new FqCoDel(TestItem.config(options, 1), dropped);
            FqCoDel probe = new FqCoDel(TestItem.config(Map.of(), 1), new TestItem.Dropped());
            for (int key = 0; keys.size() < STREAMS; key++) {
                if (!probe.isNew(key)) {
                    probe.enqueue(TestItem.of("", key, 1), 0);
                    keys.add(key);
                }
            }
        }

        void arrive(String name, long nowNs) {
            int stream = fair == null ? 0 : random.nextInt(1 + random.nextInt(STREAMS));
            int size = 1 + random.nextInt(random.nextInt(20) == 0 ? 20_000 : 1_500);
            int key = fair == null ? 0 : keys.get(stream);
            boolean mayDrop = random.nextInt(8) > 0;
            TestItem item = mayDrop ? TestItem.of(name, key, size) : TestItem.keep(name, key, size);
            there.put(name, item);
            Sent packet = new Sent(name, stream, size, mayDrop, nowNs);
            sent.put(name, packet);
            int before = dropped.list.size();
            real.enqueue(item, nowNs);
            if (fair == null) {
                single.enqueue(packet);
                return;
            }
            Deque<Integer> tie = new ArrayDeque<>();
            for (String each : dropped.list.subList(before, dropped.list.size())) {
                tie.add(sent.get(each.substring(0, each.indexOf(':'))).stream);
            }
            fair.enqueue(packet, tie);
        }

        void leave(long nowNs) {
            Item item = real.dequeue(nowNs);
            Sent packet = fair == null ? single.dequeue(nowNs) : fair.dequeue(nowNs);
            assertThat(item == null ? null : item.toString()).isEqualTo(packet == null ? null : packet.name);
            if (item != null && packet != null) {
                assertThat(item.isMarked()).as("%s is marked", item).isEqualTo(packet.isMarked);
                there.remove(packet.name);
            }
        }

        /** Takes a packet out that waits, as an owner does whose stream has ended. */
        void takeOut(long nowNs) {
            List<String> names = List.copyOf(there.keySet());
            if (!names.isEmpty()) {
                String name = names.get(random.nextInt(names.size()));
                real.remove(there.remove(name), nowNs);
                Sent packet = sent.get(name);
                (fair == null ? single : fair.queues.get(packet.stream)).queue.remove(packet);
            }
        }

        void check() {
            assertThat(dropped.list).isEqualTo(expected);
            dropped.list.forEach(each -> there.remove(each.substring(0, each.indexOf(':'))));
            dropped.list.clear();
            expected.clear();
        }
    }

    private static void play(long seed, boolean isFair) {
        Random random = new Random(seed);
        Pair pair = new Pair(random, isFair);
        long nowNs = random.nextInt(1_000);
        int arrivalsOf100 = 50;
        int stepNs = 1;
        for (int i = 0; i < OPERATIONS; i++) {
            if (i % 250 == 0) { // Long queues, and empty ones, at any rate.
                arrivalsOf100 = 20 + random.nextInt(65);
                stepNs = 1 << 8 + random.nextInt(14);
            }
            nowNs += random.nextInt(stepNs);
            int lot = random.nextInt(100);
            if (lot == 99) {
                pair.takeOut(nowNs);
            } else if (lot < arrivalsOf100) {
                pair.arrive("p" + i, nowNs);
            } else {
                pair.leave(nowNs);
            }
            pair.check();
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void codelDoesAsThePseudoCodeOfRfc8289(long seed) {
        play(seed, false);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void fqCodelDoesAsRfc8290Says(long seed) {
        play(seed, true);
    }
}
