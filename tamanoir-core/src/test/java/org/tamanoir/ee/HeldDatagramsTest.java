package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.platform.Platform;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * The order of datagrams that a service holds. What another thread resumes while the service's looks is played by what is
 * resumed in the midst of that: nothing depends on the speed of threads.
 */
class HeldDatagramsTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    private final BufferPool pool = BufferPool.of(8 << 20);
    private final AtomicLong resumptions = new AtomicLong();
    private final List<Suspended> suspended = new ArrayList<>();
    /** Numbers of datagrams, in the order in which they were resumed, went on, and ended. */
    private final List<Integer> resumed = new ArrayList<>();

    private final List<Integer> wentOn = new ArrayList<>();
    private final List<Integer> ended = new ArrayList<>();
    private Runnable meanwhile = () -> {};
    private final Platform platform = fake(Platform.class, this::nanoTime);
    private long nowNs;
    private int alarms;
    private UdpSocket socket;
    private HeldDatagrams holding;

    @BeforeEach
    void begin() throws Exception {
        socket = UdpSockets.bind(TransportKind.NIO, new InetSocketAddress("127.0.0.1", 0));
        IoLoop loop = fake(IoLoop.class, this::alarm);
        holding = new HeldDatagrams(pool, platform, loop, new HeldDatagrams.Owner() {
            @Override
            public void resumed(ClassQueues.Waiting packet, Suspended held, @Nullable Verdict verdict) {
                (verdict == null ? ended : wentOn).add(suspended.indexOf(held));
                assertThat(packet.memory().getInt(packet.offset + packet.length - Integer.BYTES))
                        .isEqualTo(suspended.indexOf(held));
                meanwhile.run();
            }

            @Override
            public void drop(ClassQueues.Waiting packet, DropReason reason) {
                ended.add(packet.memory().getInt(packet.offset + packet.length - Integer.BYTES));
            }
        });
    }

    @AfterEach
    void nothingIsLeft() {
        holding.drop(DropReason.SHUTDOWN, true);
        holding.release();
        assertThat(holding.count()).isZero();
        socket.close();
        pool.close();
        assertThat(pool.usedBytes()).isZero();
    }

    private long nanoTime() {
        return nowNs;
    }

    private Object alarm() {
        alarms++;
        return new CompletableFuture<>();
    }

    /** Returns what answers each question alike. */
    private static <T> T fake(Class<T> type, Supplier<Object> answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> answer.get()));
    }

    private void hold() {
        suspend(LONG);
        assertThat(keep()).isNull();
    }

    private void suspend(Duration atMost) {
        suspended.add(new Suspended(atMost, 0, platform, resumptions, () -> {}));
    }

    /** Keeps the last one; returns why not. */
    private @Nullable DropReason keep() {
        int number = suspended.size() - 1;
        Packet packet =
                new PacketBuilder().build(ByteBuffer.allocate(Integer.BYTES).putInt(0, number));
        return holding.keep(packet, new Arrival(socket), suspended.get(number));
    }

    private void resume(int number) {
        if (suspended.get(number).resume(Verdict.FORWARD)) {
            resumed.add(number);
        }
    }

    private boolean serve() {
        boolean any = holding.serve(resumptions.get());
        holding.release();
        return any;
    }

    @Test
    void oneThatIsResumedWhileOthersGoOnDoesNotOvertake() {
        for (int i = 0; i < 3; i++) {
            hold();
        }
        resume(1);
        meanwhile = () -> {
            meanwhile = () -> {};
            resume(0); // It has been looked at.
            resume(2); // It has not.
        };
        assertThat(serve()).as("there are others").isTrue();
        assertThat(serve()).isTrue();
        assertThat(wentOn).containsExactly(1, 0, 2);
        assertThat(serve()).isFalse();
    }

    @Test
    void whatIsResumedAsTheInstanceEndsGoesOnInItsOrder() {
        for (int i = 0; i < 5; i++) {
            hold();
        }
        resume(3);
        resume(1);
        resume(4);
        holding.drop(DropReason.SHUTDOWN, true);
        assertThat(wentOn).containsExactly(3, 1, 4);
        assertThat(ended).containsExactly(0, 2);
        resume(0);
        assertThat(resumed).as("too late").containsExactly(3, 1, 4);
    }

    @Test
    void datagramThatIsResumedBeforeItIsKeptHasNoAlarmAndStandsBehindOthersAlone() {
        hold();
        assertThat(alarms).isEqualTo(1);
        assertThat(holding.isAnyResumed()).isFalse();
        resume(0);
        assertThat(holding.isAnyResumed()).isTrue();
        suspend(LONG);
        resume(1);
        assertThat(keep()).isNull();
        assertThat(alarms).as("nobody waits for the second").isEqualTo(1);
        serve();
        assertThat(wentOn).containsExactly(0, 1);
        assertThat(holding.isAnyResumed()).isFalse();
    }

    @Test
    void resumeSaysFalseWhereNoMemoryWasLeftForACopy() {
        List<Buffer> taken = takeAll();
        suspend(LONG);
        assertThat(keep()).isEqualTo(DropReason.NO_MEMORY);
        assertThat(suspended.get(0).resume(Verdict.FORWARD)).isFalse();
        taken.forEach(pool::give);
        hold();
        resume(1);
        serve();
        assertThat(wentOn).containsExactly(1);
    }

    private List<Buffer> takeAll() {
        List<Buffer> taken = new ArrayList<>();
        for (int bytes : List.of(BufferPool.LARGE_BYTES, BufferPool.MEDIUM_BYTES, BufferPool.SMALL_BYTES)) {
            try {
                while (true) {
                    taken.add(pool.take(bytes, bytes));
                }
            } catch (NoMemoryException e) {
                // That is what is wanted.
            }
        }
        return taken;
    }

    @Test
    void whatIsResumedAtAnyTimeGoesOnInThatOrderAndOnce() {
        long seed = Seeds.ofCommit(HeldDatagramsTest.class);
        for (int round = 0; round < Seeds.scaled(100); round++) {
            SplittableRandom random = new SplittableRandom(seed + round);
            play(random);
            assertThat(wentOn).as("seed %d", seed + round).isEqualTo(resumed);
            assertThat(wentOn.size() + ended.size()).as("seed %d", seed + round).isEqualTo(suspended.size());
            assertThat(ended).as("seed %d", seed + round).doesNotContainAnyElementsOf(resumed);
            suspended.clear();
            resumed.clear();
            wentOn.clear();
            ended.clear();
        }
    }

    private void play(SplittableRandom random) {
        meanwhile = () -> {
            while (random.nextInt(3) == 0) {
                resume(random.nextInt(suspended.size()));
            }
        };
        for (int step = 0; step < 300; step++) {
            nowNs += random.nextInt(1000);
            int lot = random.nextInt(8);
            if (lot < 3) {
                Duration atMost = Duration.ofNanos(1 + random.nextInt(random.nextBoolean() ? 2_000 : 200_000));
                suspend(atMost);
                if (lot == 0) {
                    resume(suspended.size() - 1); // Before its service has returned.
                }
                int number = suspended.size() - 1;
                if (suspended.get(number).verdict() != null && !holding.isAnyResumed()) {
                    wentOn.add(number);
                } else if (keep() != null) {
                    ended.add(suspended.size() - 1);
                }
            } else if (lot < 6) {
                if (!suspended.isEmpty()) {
                    resume(random.nextInt(suspended.size()));
                }
            } else {
                serve();
            }
        }
        meanwhile = () -> {};
        holding.drop(DropReason.SHUTDOWN, true);
        holding.release();
    }
}
