package org.tamanoir.qdisc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Packets that arrive at a link: what the disciplines order, and the fluid model serves, in simulated time. */
final class Trace {
    static final long NS = 1_000_000_000;
    /** Bytes. */
    static final int SHAPED_BURST = 3000;

    /** One packet; {@code number} counts within its flow from 1. */
    static final class Packet extends Item {
        final long arrivalNs;
        final int number;
        long departsNs;
        long finishNs;

        Packet(int flow, int number, int size, long arrivalNs) {
            describe(flow, size, flow, true);
            this.number = number;
            this.arrivalNs = arrivalNs;
        }

        @Override
        public String toString() {
            return flow() + "." + number + " (" + size() + ") " + departsNs + "-" + finishNs;
        }
    }

    final long rate;
    final long[] weights;
    /** By arrival. */
    final List<Packet> packets = new ArrayList<>();

    private final int[] numbers;

    /** @param rate bytes a second; times are exact if it divides 1e9 */
    Trace(long rate, long... weights) {
        this.rate = rate;
        this.weights = weights.clone();
        this.numbers = new int[weights.length];
    }

    Trace add(long arrivalNs, int flow, int size) {
        packets.add(new Packet(flow, ++numbers[flow], size, arrivalNs));
        return this;
    }

    DisciplineConfig config() {
        List<FlowConfig> flows = new ArrayList<>();
        for (long weight : weights) {
            flows.add(new FlowConfig(weight, Integer.MAX_VALUE, Long.MAX_VALUE));
        }
        return new DisciplineConfig(flows, rate, java.util.Map.of());
    }

    long transmissionNs(int bytes) {
        return bytes * (NS / rate);
    }

    int largest() {
        return packets.stream().mapToInt(Packet::size).max().orElse(0);
    }

    int largest(int flow) {
        return packets.stream()
                .filter(packet -> packet.flow() == flow)
                .mapToInt(Packet::size)
                .max()
                .orElse(0);
    }

    long totalWeight() {
        long total = 0;
        for (long weight : weights) {
            total += weight;
        }
        return total;
    }

    /** Serves all without a pause while there is something; arrivals count before a departure at the same time. */
    List<Packet> serve(QueueingDiscipline discipline) {
        List<Packet> served = new ArrayList<>();
        long nowNs = 0;
        int arrived = 0;
        while (served.size() < packets.size()) {
            while (arrived < packets.size() && packets.get(arrived).arrivalNs <= nowNs) {
                Packet packet = packets.get(arrived++);
                discipline.enqueue(packet, packet.arrivalNs);
            }
            @Nullable Item item = discipline.dequeue(nowNs);
            if (item == null) {
                if (arrived == packets.size()) {
                    throw new AssertionError("nothing to serve while " + discipline.packets() + " packets wait");
                }
                if (discipline.packets() != 0) {
                    throw new AssertionError("the server is idle while " + discipline.packets() + " packets wait");
                }
                nowNs = packets.get(arrived).arrivalNs;
                continue;
            }
            Packet packet = (Packet) item;
            packet.departsNs = nowNs;
            nowNs += transmissionNs(packet.size());
            packet.finishNs = nowNs;
            served.add(packet);
        }
        return served;
    }

    /** 2 to 5 flows with idle times between bursts, so many packets at most. */
    static Trace random(Random random, int maxPackets) {
        Trace trace = empty(random);
        int count = maxPackets / 3 + random.nextInt(maxPackets * 2 / 3 + 1);
        int maxSize = 1 + random.nextInt(1500);
        int pause = 1 + random.nextInt(2 * maxSize);
        long nowNs = 0;
        for (int i = 0; i < count; i++) {
            if (random.nextInt(3) == 0) {
                nowNs += random.nextInt(pause) * (NS / trace.rate);
            }
            trace.add(nowNs, random.nextInt(trace.weights.length), 1 + random.nextInt(maxSize));
        }
        return trace;
    }

    /** 2 to 5 flows, so many packets of each at most, all there from the start. */
    static Trace saturated(Random random, int maxPackets) {
        Trace trace = empty(random);
        for (int flow = 0; flow < trace.weights.length; flow++) {
            int maxSize = 1 + random.nextInt(1500);
            int count = maxPackets / 2 + random.nextInt(maxPackets / 2 + 1);
            for (int i = 0; i < count; i++) {
                trace.add(0, flow, 1 + random.nextInt(maxSize));
            }
        }
        return trace;
    }

    /** Flow 0 keeps to a bucket of {@link #SHAPED_BURST} bytes at its guaranteed rate; the others send what they like. */
    static Trace shaped(Random random) {
        Trace trace = empty(random);
        long nsPerByte = NS / trace.rate;
        long periodNs = nsPerByte * trace.totalWeight();
        long endNs = 0;
        long fullAtNs = 0;
        for (int i = 0; i < 25; i++) {
            int size = 1 + random.nextInt(SHAPED_BURST);
            // The bucket is full again at fullAtNs; it holds size when that is at most (burst - size) / rate away.
            long costNs = ceilDiv(size * periodNs, trace.weights[0]);
            long roomNs = SHAPED_BURST * periodNs / trace.weights[0];
            long atNs = Math.max(endNs, fullAtNs + costNs - roomNs);
            if (random.nextInt(4) == 0) {
                atNs += random.nextInt(2000) * nsPerByte;
            }
            fullAtNs = Math.max(fullAtNs, atNs) + costNs;
            endNs = atNs;
            trace.add(atNs, 0, size);
        }
        for (int i = 0; i < 60; i++) {
            long atNs = random.nextInt(4) == 0 ? random.nextLong(endNs + 1) : random.nextInt(10) * (endNs / 10);
            trace.add(atNs, 1 + random.nextInt(trace.weights.length - 1), 1 + random.nextInt(1500));
        }
        return trace.sorted();
    }

    private static long ceilDiv(long a, long b) {
        return (a + b - 1) / b;
    }

    private static Trace empty(Random random) {
        long[] rates = {1, 1_000, 1_000_000, 125_000_000, NS};
        long[] weights = new long[2 + random.nextInt(4)];
        int max = random.nextInt(4) == 0 ? 1_000_000 : 10;
        for (int i = 0; i < weights.length; i++) {
            weights[i] = 1 + random.nextInt(max);
        }
        return new Trace(rates[random.nextInt(rates.length)], weights);
    }

    /** Packets of a flow stay in the order in which they were added. */
    private Trace sorted() {
        packets.sort(Comparator.comparingLong(packet -> packet.arrivalNs));
        return this;
    }
}
