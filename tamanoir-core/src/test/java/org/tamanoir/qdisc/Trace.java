package org.tamanoir.qdisc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Packets that arrive at a link: what the disciplines order, and the fluid model serves, in simulated time. */
final class Trace {
    static final long NS = 1_000_000_000;

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

    /** @param rate octets a second; times are exact if it divides 1e9 */
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

    long transmissionNs(int octets) {
        return octets * (NS / rate);
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

    /** 2 to 5 flows with idle times between bursts. */
    static Trace random(Random random) {
        Trace trace = empty(random);
        int count = 20 + random.nextInt(41);
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

    /** 2 to 5 flows, all packets there from the start. */
    static Trace saturated(Random random) {
        Trace trace = empty(random);
        for (int flow = 0; flow < trace.weights.length; flow++) {
            int maxSize = 1 + random.nextInt(1500);
            int count = 10 + random.nextInt(20);
            for (int i = 0; i < count; i++) {
                trace.add(0, flow, 1 + random.nextInt(maxSize));
            }
        }
        return trace;
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

    /** Sorts by arrival; for traces that were put together flow by flow. */
    Trace sorted() {
        packets.sort(Comparator.comparingLong(packet -> packet.arrivalNs));
        return this;
    }
}
