package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.offload.UpcallMetadata;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

class PacketRingTest {
    private static final int BYTES = PacketRing.MIN_BYTES;
    private static final int RECORD_HEADER = 24;

    private final BufferPool pool = new BufferPool(4);
    private final List<Buffer> taken = new ArrayList<>();
    private final ByteBuffer source = ByteBuffer.allocateDirect(1 << 17);

    PacketRingTest() {
        for (int i = 0; i < source.capacity(); i++) {
            source.put(i, (byte) (i * 31 + (i >>> 8)));
        }
    }

    private PacketRing ring(int bytes) {
        Buffer memory = pool.take(bytes, bytes);
        taken.add(memory);
        return new PacketRing(memory);
    }

    @AfterEach
    void giveMemoryBack() {
        taken.forEach(pool::give);
        pool.close();
    }

    private record Entry(int offset, int length, long high, long low, int port) {}

    private boolean offer(PacketRing ring, Entry entry) {
        return ring.offer(source, entry.offset, entry.length, entry.high, entry.low, entry.port);
    }

    private void assertNext(PacketRing ring, Entry entry) {
        assertThat(ring.next()).isTrue();
        assertThat(ring.length()).isEqualTo(entry.length);
        assertThat(ring.port()).isEqualTo(entry.port);
        assertThat(ring.addressHigh()).isEqualTo(entry.high);
        assertThat(ring.addressLow()).isEqualTo(entry.low);
        assertThat(ring.offset() + entry.length)
                .isLessThanOrEqualTo(ring.memory().capacity());
        ByteBuffer bytes = ring.memory().nio().duplicate().clear();
        bytes.limit(ring.offset() + entry.length).position(ring.offset());
        ByteBuffer expected = source.duplicate().clear();
        expected.limit(entry.offset + entry.length).position(entry.offset);
        assertThat(bytes.equals(expected)).as("bytes of %s", entry).isTrue();
    }

    @Test
    void behavesAsAQueueWhateverComes() {
        long seed = Seeds.ofCommit(PacketRingTest.class);
        Random random = new Random(seed);
        PacketRing ring = ring(BYTES);
        ArrayDeque<Entry> model = new ArrayDeque<>();
        long refused = 0;
        try {
            for (int step = 0; step < Seeds.scaled(60_000); step++) {
                switch (random.nextInt(8)) {
                    case 0, 1, 2, 3 -> {
                        int length = random.nextInt(20) == 0 ? 60_000 + random.nextInt(5_536) : random.nextInt(3_000);
                        Entry entry = new Entry(
                                random.nextInt(source.capacity() - length),
                                length,
                                random.nextLong(),
                                random.nextLong(),
                                random.nextInt());
                        if (offer(ring, entry)) {
                            model.add(entry);
                        } else {
                            refused++;
                            ring.release();
                            long held = model.stream()
                                    .mapToLong(PacketRingTest::record)
                                    .sum();
                            if (offer(ring, entry)) {
                                model.add(entry);
                            } else {
                                // The gap is shorter than the record that did not fit before the end.
                                assertThat(held + record(entry) + RECORD_HEADER + 65_536)
                                        .as("a refusal says that the ring is full, but for the gap at its end")
                                        .isGreaterThan(BYTES);
                            }
                        }
                    }
                    case 4, 5, 6 -> {
                        if (model.isEmpty()) {
                            assertThat(ring.isEmpty()).isTrue();
                            assertThat(ring.next()).isFalse();
                        } else {
                            assertThat(ring.isEmpty()).isFalse();
                            assertNext(ring, model.remove());
                        }
                    }
                    default -> ring.release();
                }
            }
            while (!model.isEmpty()) {
                assertNext(ring, model.remove());
            }
            assertThat(ring.next()).isFalse();
            ring.release();
            assertThat(ring.isReleased()).isTrue();
            assertThat(refused).as("the ring was full at times").isPositive();
        } catch (AssertionError | RuntimeException e) {
            fail("-Dtamanoir.seed=" + seed, e);
        }
    }

    private static int record(Entry entry) {
        return RECORD_HEADER + (entry.length + 7 & ~7);
    }

    @Test
    void takesTheLargestPacketAtEveryPosition() {
        PacketRing ring = ring(BYTES);
        Entry step = new Entry(1, 0, 0, 0, 1);
        Entry largest = new Entry(3, 65_535, 1, 2, 3);
        // Records of many lengths move the position to every alignment.
        for (int position = 0; position < BYTES / 8; position++) {
            Entry filler = new Entry(5, 8 * (position % 5), 7, 8, 9);
            assertThat(offer(ring, position % 64 == 0 ? largest : filler)).isTrue();
            assertNext(ring, position % 64 == 0 ? largest : filler);
            assertThat(offer(ring, step)).isTrue();
            assertNext(ring, step);
            ring.release();
            assertThat(ring.isReleased()).isTrue();
        }
    }

    @Test
    void wrapsAtEveryDistanceFromTheEnd() {
        for (int distance = 8; distance <= 4_096; distance += 8) {
            PacketRing ring = ring(BYTES);
            int left = BYTES - distance;
            while (left > 0) {
                int record = Math.min(left, 60_000);
                // The last piece is at least a record's header long.
                if (left - record > 0 && left - record < RECORD_HEADER) {
                    record -= RECORD_HEADER;
                }
                Entry entry = new Entry(0, record - RECORD_HEADER, 1, 2, 3);
                assertThat(offer(ring, entry)).isTrue();
                assertNext(ring, entry);
                ring.release();
                left -= record(entry);
            }
            Entry first = new Entry(9, 1_000, 4, 5, 6);
            Entry second = new Entry(8, 1_001, 7, 8, 9);
            assertThat(offer(ring, first)).isTrue();
            assertThat(offer(ring, second)).isTrue();
            assertNext(ring, first);
            assertNext(ring, second);
            assertThat(ring.next()).isFalse();
            taken.forEach(pool::give);
            taken.clear();
        }
    }

    @Test
    void isFullWhenNoByteIsLeftAndTakesMoreOnlyWhenRoomIsGivenBack() {
        PacketRing ring = ring(BYTES);
        Entry entry = new Entry(0, 104, 1, 2, 3);
        int fit = BYTES / record(entry);
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < fit; i++) {
                assertThat(offer(ring, entry)).isTrue();
            }
            assertThat(offer(ring, entry)).isFalse();
            assertThat(offer(ring, new Entry(0, 0, 0, 0, 0))).isFalse();
            assertNext(ring, entry);
            assertThat(offer(ring, entry)).as("moved over, not given back").isFalse();
            ring.release();
            assertThat(offer(ring, entry)).isTrue();
            assertThat(offer(ring, entry)).isFalse();
            for (int i = 0; i < fit; i++) {
                assertNext(ring, entry);
            }
            ring.release();
        }
    }

    @Test
    void tellsWhenWhatWasInAtAMarkHasBeenMovedOver() {
        PacketRing ring = ring(BYTES);
        Entry entry = new Entry(0, 50_000, 1, 2, 3);
        for (int round = 0; round < 20; round++) {
            assertThat(ring.isPast(ring.mark())).isTrue();
            offer(ring, entry);
            offer(ring, entry);
            long mark = ring.mark();
            offer(ring, entry);
            assertNext(ring, entry);
            assertThat(ring.isPast(mark)).isFalse();
            assertNext(ring, entry);
            assertThat(ring.isPast(mark)).isTrue();
            assertNext(ring, entry);
            ring.release();
        }
    }

    @Test
    void takesNoMoreWhenClosedAndGivesWhatIsIn() {
        PacketRing ring = ring(BYTES);
        Entry entry = new Entry(0, 77, 1, 2, 3);
        assertThat(offer(ring, entry)).isTrue();
        assertThat(ring.isClosed()).isFalse();
        ring.close();
        assertThat(ring.isClosed()).isTrue();
        assertThat(offer(ring, entry)).isFalse();
        assertNext(ring, entry);
        assertThat(ring.next()).isFalse();
    }

    @Test
    @Timeout(value = 240, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void keepsThePacketsOfEachOfManyProducersWholeAndInOrder() throws Exception {
        int producers = 4;
        int packets = 10_000;
        PacketRing ring = ring(BYTES);
        AtomicBoolean running = new AtomicBoolean(true);
        List<Thread> threads = new ArrayList<>();
        for (int p = 0; p < producers; p++) {
            int producer = p;
            Thread thread = new Thread(() -> {
                ByteBuffer memory = ByteBuffer.allocateDirect(2_048);
                for (int i = 0; i < packets && running.get(); i++) {
                    int length = 8 + i * 7 % 1_500;
                    for (int at = 8; at < length; at++) {
                        memory.put(at, (byte) (i + at));
                    }
                    memory.putInt(0, producer).putInt(4, i);
                    while (!ring.offer(memory, 0, length, producer, i, 1) && running.get()) {
                        Thread.onSpinWait();
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        int[] next = new int[producers];
        try {
            ByteBuffer memory = ring.memory().nio();
            for (int taken = 0; taken < producers * packets; ) {
                if (!ring.next()) {
                    ring.release();
                    Thread.onSpinWait();
                    continue;
                }
                taken++;
                int producer = memory.getInt(ring.offset());
                int i = memory.getInt(ring.offset() + 4);
                if (i != next[producer]++ || ring.length() != 8 + i * 7 % 1_500 || ring.addressLow() != i) {
                    fail("packet " + i + " of producer " + producer + ", " + ring.length() + " bytes, where "
                            + (next[producer] - 1) + " was due");
                }
                for (int at = 8; at < ring.length(); at++) {
                    if (memory.get(ring.offset() + at) != (byte) (i + at)) {
                        fail("packet " + i + " of producer " + producer + " differs at byte " + at);
                    }
                }
                if (taken % 64 == 0) {
                    ring.release();
                }
            }
            ring.release();
            assertThat(ring.isReleased()).isTrue();
        } finally {
            running.set(false);
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    @Test
    void wantsAPowerOfTwoThatHoldsAnyPacket() {
        for (int bytes : new int[] {BufferPool.MEDIUM_BYTES, BYTES + 8, 3 * BYTES}) {
            assertThatThrownBy(() -> ring(bytes))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(String.valueOf(bytes))
                    .hasMessageContaining("262144");
        }
    }

    @Test
    void whatCameUpKeepsHowItDidAmongOthers() throws Exception {
        long seed = Seeds.ofCommit(PacketRingTest.class);
        Random random = new Random(seed);
        PacketRing ring = ring(BYTES);
        try (UdpSocket socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0));
                UdpSocket other = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0))) {
            Arrival.Sockets sockets = new Arrival.Sockets();
            Arrival from = new Arrival(socket);
            Arrival back = new Arrival(other);
            for (int i = 0; i < 20_000; i++) {
                boolean ascended = random.nextInt(3) != 0;
                long ascent = ascended
                        ? UpcallMetadata.inTransit(random.nextInt(1 << 16), random.nextInt(256), random.nextInt(256))
                        : 0;
                int length = random.nextInt(3000);
                from.set(new Arrival(socket, i, ~i, i & 0xFFFF, ascent, 3L * i, 5L * i));
                from.prove(i % 3 - 1);
                assertThat(ring.offer(source, i, length, from, sockets.portAndSocket(from)))
                        .isTrue();
                assertThat(ring.next()).isTrue();
                assertThat(ring.length()).isEqualTo(length);
                assertThat(ring.memory().nio().slice(ring.offset(), length)).isEqualTo(source.slice(i, length));
                back.set(ring, sockets);
                assertThat(back.ascent()).as("seed %d", seed).isEqualTo(ascent);
                assertThat(back.proof()).isEqualTo(i % 3 - 1);
                assertThat(back.socket()).isSameAs(socket);
                assertThat(back.port()).isEqualTo(i & 0xFFFF);
                assertThat(back.high()).isEqualTo(i);
                assertThat(back.low()).isEqualTo(~i);
                if (ascended) {
                    assertThat(back.toHigh()).isEqualTo(3L * i);
                    assertThat(back.toLow()).isEqualTo(5L * i);
                    assertThat(back.isInTransit()).isTrue();
                }
                ring.release();
            }
        }
    }
}
