package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/** {@code dispatch: packet} with so many packets at once, again and again: processor time of reception and workers. */
final class PacketRounds {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long BLOCK_NS = 10_000_000;
    private static final long LOOK_NS = 20_000;

    private final EmulatedNode node;
    private final Ring ring;
    private final Model model;
    private final List<Burner.Load> workers;
    private final Arrival arrival = new Arrival();

    private PacketRounds(EmulatedNode node, Model model, List<Burner.Load> workers) {
        this.node = node;
        this.model = model;
        this.workers = workers;
        ring = new Ring(EmulatedNode.writer(0), node.port(0).memory());
        node.port(0).feed(ring);
    }

    /** Returns processor time without load, in ns a packet, of the blocks of the second half. */
    static List<Double> blocks(Settings settings, long costNs, int runnable, int bytes) throws IOException {
        List<Burner.Load> workers = new CopyOnWriteArrayList<>();
        try (EmulatedNode node = new EmulatedNode(
                settings.table().table(),
                EmulatedPort.UNSEEN,
                List.of(() -> {
                    Burner.Load load = new Burner.Load(costNs);
                    workers.add(load);
                    return new Burner(load);
                }),
                EmulatedNode.BY_PACKET)) {
            PacketRounds rounds = new PacketRounds(node, settings.uniform(Model.Law.CONSTANT, bytes, 1e6, 1), workers);
            List<Double> blocks = new ArrayList<>();
            long beganNs = System.nanoTime();
            long lastsNs = settings.ns() / 2;
            long nowNs;
            while ((nowNs = System.nanoTime()) - beganNs < lastsNs || blocks.isEmpty()) {
                double ns = rounds.block(runnable);
                if (nowNs - beganNs >= lastsNs / 2) {
                    blocks.add(ns);
                }
            }
            return blocks;
        }
    }

    private double block(int runnable) throws IOException {
        long beganNs = System.nanoTime();
        long before = cpuNs();
        long packets = 0;
        do {
            long all = node.port(0).departed() + runnable;
            for (int i = 0; i < runnable; i++) {
                model.next(arrival);
                if (!ring.put(arrival, 0)) {
                    throw new IOException("a port has no room for " + runnable + " packets");
                }
            }
            node.port(0).ring();
            long patienceNs = System.nanoTime();
            while (node.port(0).departed() < all) {
                if (System.nanoTime() - patienceNs > EmulatedNode.PATIENCE_NS) {
                    throw new IOException("of %d packets %d have not left in 40 s"
                            .formatted(runnable, all - node.port(0).departed()));
                }
                LockSupport.parkNanos(LOOK_NS);
            }
            packets += runnable;
        } while (System.nanoTime() - beganNs < BLOCK_NS);
        return (cpuNs() - before) / (double) packets - loadNs(packets);
    }

    private long cpuNs() {
        long sum = THREADS.getThreadCpuTime(node.port(0).reader());
        for (Burner.Load worker : workers) {
            sum += worker.threadId == 0 ? 0 : THREADS.getThreadCpuTime(worker.threadId);
        }
        return sum;
    }

    /** Returns what a load takes by itself, of so many. */
    private double loadNs(long packets) {
        Burner.Load load = workers.get(0);
        long beganNs = THREADS.getCurrentThreadCpuTime();
        for (long i = 0; i < packets && load.costNs > 0; i++) {
            load.burn();
        }
        return load.costNs == 0 ? 0 : (THREADS.getCurrentThreadCpuTime() - beganNs) / (double) packets;
    }
}
