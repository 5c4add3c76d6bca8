package org.tamanoir.cluster.element;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One stream through n units in virtual time, a tick a nanosecond: the sender of the paper's bed, units that take
 * turns of uneven length for a packet and stand still now and then, the ring of tokens, and an aggregator that reads its
 * inputs in turn. The senders are those of the node, and so is the merge of exact order.
 *
 * <p>Thread contract: any; runs share nothing.
 */
public final class ElementModel {
    private static final int PAYLOAD_BYTES = 1_472;
    /** A unit's time for a packet, evenly distributed: 620 Mb/s on average, as one of the paper's reached about 600. */
    private static final long SEND_LEAST_NS = 6_000;

    private static final long SEND_MOST_NS = 32_000;
    /** From unit to unit over the paper's Myrinet: 14 µs for a ring of two. */
    private static final long HOP_NS = 6_700;

    private static final long HOLD_MAX_NS = 200_000;
    private static final long IDLE_MAX_NS = 200_000_000;
    private static final int QUEUE_PACKETS = 500;
    /** The aggregator's room of each input, and time for a packet: 1,308 Mb/s, a third more than has to be. */
    private static final int INPUT_PACKETS = 64;

    private static final long AGGREGATOR_NS = 9_000;
    /** A unit stands still every 20 ms on average, for 50 µs to 2 ms; the logarithm is evenly distributed. */
    private static final double PAUSE_EVERY_NS = 20e6;

    private static final double PAUSE_LEAST_NS = 50e3;
    private static final double PAUSE_MOST_NS = 2e6;
    private static final long AFTER_NS = 1_000_000_000;
    /** Packets of a path that wait for their turn, and for how long. */
    private static final int EXACT_PACKETS = 1_024;

    private static final long EXACT_NS = 100_000_000;

    /** How units and aggregator keep order. */
    public enum Mode {
        /** Each unit sends as it comes. */
        NONE,
        /** With the Fast Circulating Token. */
        FCT,
        /** Without tokens, and joined in the order of distribution. */
        EXACT
    }

    /**
     * What came of a run.
     *
     * @param packets sent
     * @param arrived of them
     * @param jitterUs interarrival jitter, on average over all arrivals
     */
    public record Run(Mode mode, int units, int megabits, int packets, int arrived, Reordering order, double jitterUs) {
        /** Returns the packets that did not arrive, in percent. */
        public double lossPercent() {
            return 100.0 * (packets - arrived) / packets;
        }
    }

    private final int units;
    private final long intervalNs;
    private final long[] order;
    private final long[] arrivalsNs;
    private int arrived;

    private ElementModel(int units, int megabits, int packets) {
        this.units = units;
        intervalNs = PAYLOAD_BYTES * 8 * 1_000L / megabits;
        order = new long[packets];
        arrivalsNs = new long[packets];
    }

    /**
     * Sends packets at a regular pace, one a round to each unit.
     *
     * @param units 1 and more
     * @param megabits of payload a second
     * @param seed of pauses and times; runs with the same one have the same, whatever their mode
     */
    public static Run run(Mode mode, int units, int megabits, int packets, long seed) {
        ElementModel model = new ElementModel(units, megabits, packets);
        SimulatedRing ring = model.play(mode, new SplittableRandom(seed), packets);
        if (mode == Mode.EXACT) {
            model.merge(ring);
        } else {
            for (int i = 0; i < ring.order.size(); i++) {
                model.arrive(ring.order.get(i), ring.ticks.get(i));
            }
        }
        return new Run(mode, units, megabits, packets, model.arrived, Reordering.of(model.numbers()), model.jitterUs());
    }

    private SimulatedRing play(Mode mode, SplittableRandom random, int packets) {
        long endNs = packets * intervalNs;
        long[] sendNs = random.longs(packets, SEND_LEAST_NS, SEND_MOST_NS + 1).toArray();
        SimulatedRing ring = new SimulatedRing(
                units,
                unit -> new FctSettings((int) unit, false, 0, 0, HOLD_MAX_NS, IDLE_MAX_NS, 1),
                sequence -> sendNs[sequence],
                HOP_NS,
                INPUT_PACKETS,
                AGGREGATOR_NS,
                pauses(random, endNs));
        ring.queueLimit = QUEUE_PACKETS;
        for (int i = 0; i < packets; i++) {
            ring.arrive(i * intervalNs, i % units, 1 + i / units, i);
        }
        ring.begin(mode == Mode.FCT);
        ring.run(endNs + AFTER_NS);
        return ring;
    }

    private List<SimulatedRing.Pause> pauses(SplittableRandom random, long endNs) {
        List<SimulatedRing.Pause> pauses = new ArrayList<>();
        for (int unit = 0; unit < units; unit++) {
            double fromNs = 0;
            while ((fromNs -= PAUSE_EVERY_NS * Math.log(1 - random.nextDouble())) < endNs) {
                double lengthNs = PAUSE_LEAST_NS * Math.pow(PAUSE_MOST_NS / PAUSE_LEAST_NS, random.nextDouble());
                pauses.add(new SimulatedRing.Pause(unit, (long) fromNs, (long) (fromNs + lengthNs)));
            }
        }
        return pauses;
    }

    private void merge(SimulatedRing ring) {
        long[] nowNs = new long[1];
        ExactMerge merge = new ExactMerge(units, EXACT_PACKETS, EXACT_NS, new ExactMerge.Output() {
            @Override
            public void emit(int packet) {
                arrive(packet, nowNs[0]);
            }

            @Override
            public void drop(int packet, ExactMerge.Ending ending) {
                // It does not arrive.
            }
        });
        for (int i = 0; i < ring.order.size(); i++) {
            int sequence = ring.order.get(i).intValue();
            long comesNs = ring.ticks.get(i);
            while (merge.dueNs() <= comesNs) {
                nowNs[0] = merge.dueNs();
                merge.expire(nowNs[0]);
            }
            nowNs[0] = comesNs;
            merge.offer(sequence % units, 1 + sequence / units, 0, sequence, comesNs);
        }
        merge.drain();
    }

    private void arrive(long sequence, long atNs) {
        order[arrived] = sequence;
        arrivalsNs[arrived++] = atNs;
    }

    private long[] numbers() {
        return Arrays.copyOf(order, arrived);
    }

    private double jitterUs() {
        Jitter jitter = new Jitter();
        double sum = 0;
        for (int i = 0; i < arrived; i++) {
            jitter.arrived(arrivalsNs[i] - order[i] * intervalNs);
            sum += jitter.value();
        }
        return arrived == 0 ? 0 : sum / arrived / 1_000;
    }
}
