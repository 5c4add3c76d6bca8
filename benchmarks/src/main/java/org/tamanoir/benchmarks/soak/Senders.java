package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.Threads;

/**
 * The TCP traffic of a phase: streams that last, short ones one after another, and connections that are cut.
 *
 * <p>Thread contract: one thread starts and ends; each sender is a thread of its own.
 */
final class Senders {
    /** What a lasting stream sends at most, in the mean: so that it is the node's scheduling that is tried. */
    private static final double BYTES_PER_MS = 800;

    private static final int SHORT_SENDERS = 3;
    private static final int CUTTERS = 4;
    private static final int MAX_SHORT_BATCHES = 6;
    private static final int MAX_CUT_MS = 60;
    /** Beside those that last; above this none is opened to be cut: on slow processors those before have not ended. */
    private static final int MAX_MORE_STREAMS = 80;

    private static final int MAX_BETWEEN_MS = 120;
    /** Until what was sent has arrived once the node has ended the stream. */
    private static final long ARRIVAL_MS = 60_000;
    /** Addresses of senders: 127.0.2.x whole, 127.0.3.x to be cut. */
    static final int WHOLE_NET = 2;

    private static final int CUT_NET = 3;
    private static final int CUT_HOSTS = 20;

    private final Bed bed;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger names = new AtomicInteger();
    private int lasting;

    Senders(Bed bed) {
        this.bed = bed;
    }

    /** Starts all of them. */
    void start(int streams, Random random) {
        lasting = streams;
        for (int i = 0; i < streams; i++) {
            int number = i;
            long own = random.nextLong();
            threads.add(Threads.start("stream " + i, () -> last(number, new Random(own))));
        }
        for (int i = 0; i < SHORT_SENDERS; i++) {
            int number = i;
            long own = random.nextLong();
            threads.add(Threads.start("short " + i, () -> oneAfterAnother(number, new Random(own))));
        }
        for (int i = 0; i < CUTTERS; i++) {
            long own = random.nextLong();
            threads.add(Threads.start("cut " + i, () -> cut(new Random(own))));
        }
    }

    /** Waits until all have finished; what stands still is for the watch to find. */
    boolean join(long timeoutMs) throws InterruptedException {
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000;
        for (Thread each : threads) {
            each.join(Math.max(1, (deadlineNs - System.nanoTime()) / 1_000_000));
            if (each.isAlive()) {
                return false;
            }
        }
        return true;
    }

    private void last(int number, Random random) {
        Mix mix = Mix.of(bed, number % Mix.KINDS, random, "stream " + number);
        whole(mix, number % Mix.KINDS, number + 1, random, Integer.MAX_VALUE);
    }

    private void oneAfterAnother(int number, Random random) {
        while (!bed.isEnding()) {
            int kind = random.nextInt(Mix.KINDS);
            Mix mix = Mix.of(bed, kind, random, "short stream " + names.incrementAndGet());
            whole(mix, kind, 100 + number, random, 1 + random.nextInt(MAX_SHORT_BATCHES));
            Threads.pause(random.nextInt(MAX_BETWEEN_MS) / 1e3);
        }
    }

    /** Sends a stream to its end and verifies that all of it arrived; whether it did. */
    boolean whole(Mix mix, int kind, int host, Random random, int batches) {
        boolean isTls = kind == Mix.KINDS - 1 && bed.tls != null;
        @Nullable Connection connection = null;
        try (Connection open = new Connection(bed, mix, Bed.loopback(WHOLE_NET, host), isTls, false)) {
            connection = open;
            bed.whole.add(open);
            ByteBuffer batch = ByteBuffer.allocate(Mix.BATCH_BYTES);
            for (int i = 0; i < batches && !bed.isEnding(); i++) {
                mix.fill(batch, bytes(random));
                long sentNs = System.nanoTime();
                int bytes = batch.position();
                open.send(batch, random, random.nextInt(4) == 0);
                if (batches == Integer.MAX_VALUE) {
                    pace(bytes, sentNs, random);
                }
            }
            mix.finish(batch);
            open.send(batch, random, false);
            open.finish();
            return arrived(open);
        } catch (IOException e) {
            String from = connection == null ? "" : " from " + connection.local();
            bed.faults.add(mix.name + from + ", " + mix.flows + ": the node broke it: " + e.getMessage());
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            if (connection != null) {
                bed.whole.remove(connection);
            }
            bed.flows.ended(mix.flows);
        }
    }

    private boolean arrived(Connection open) {
        // The kernel may hold megabytes for a far end with a small window, which takes them in a minute: as long as
        // some
        // arrives, none is missing.
        String missing = open.onItsWay();
        while (missing != null && open.standsNs(System.nanoTime()) < ARRIVAL_MS * 1_000_000 && !bed.faults.any()) {
            Threads.pause(0.005);
            missing = open.onItsWay();
        }
        if (missing != null || !open.isAtEnd()) {
            bed.faults.add(missing != null ? missing : open.mix().name + ": ended, but not in order");
            return false;
        }
        bed.ledger.ended(open.local(), open.mix().counts());
        return true;
    }

    private static int bytes(Random random) {
        int kind = random.nextInt(10);
        return kind < 4 ? random.nextInt(4096) : kind < 9 ? random.nextInt(1 << 16) : random.nextInt(Mix.BATCH_BYTES);
    }

    private static void pace(int bytes, long sentNs, Random random) {
        long dueMs = Math.round(bytes / BYTES_PER_MS * 2 * random.nextDouble());
        long takenMs = (System.nanoTime() - sentNs) / 1_000_000;
        if (dueMs > takenMs) {
            Threads.pause((dueMs - takenMs) / 1e3);
        }
    }

    // Connections that are cut.

    private void cut(Random random) {
        while (!bed.isEnding()) {
            if (bed.nodeStreams() > lasting + MAX_MORE_STREAMS) {
                Threads.pause(MAX_BETWEEN_MS / 1e3);
                continue;
            }
            Mix mix = Mix.toBeCut(bed, random, "cut stream " + names.incrementAndGet());
            try {
                InetAddress local = Bed.loopback(CUT_NET, 1 + random.nextInt(CUT_HOSTS));
                cutOne(mix, new Connection(bed, mix, local, false, random.nextBoolean()), random);
            } catch (IOException e) {
                bed.ledger.refused();
            }
            bed.flows.ended(mix.flows);
            Threads.pause(random.nextInt(MAX_BETWEEN_MS) / 1e3);
        }
    }

    private void cutOne(Mix mix, Connection connection, Random random) throws IOException {
        int afterMs = random.nextInt(MAX_CUT_MS);
        boolean inMidPacket = random.nextInt(3) == 0;
        long own = random.nextLong();
        Thread writer = Threads.start("to be cut", () -> write(mix, connection, new Random(own), inMidPacket));
        Threads.pause(afterMs / 1e3);
        if (inMidPacket && random.nextBoolean()) {
            connection.close();
        } else {
            connection.cut();
        }
        bed.ledger.cut();
        try {
            writer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void write(Mix mix, Connection connection, Random random, boolean inMidPacket) {
        ByteBuffer batch = ByteBuffer.allocate(Mix.BATCH_BYTES);
        try {
            mix.touchAll(batch);
            if (inMidPacket) {
                batch.position(batch.position() - 1 - random.nextInt(20));
                connection.send(batch, random, false);
                return;
            }
            for (int i = 0; i < 100; i++) {
                connection.send(batch, random, false);
                mix.fill(batch, random.nextInt(Mix.BATCH_BYTES));
            }
        } catch (IOException e) {
            // It was cut, as it should be.
        }
    }
}
