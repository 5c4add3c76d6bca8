package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.node.cli.Systemd;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import org.tamanoir.support.Waiting;

/** Signals that come faster than the file is read. */
@Timeout(120)
class ReloaderTest {
    private static final int SIGNALS = 50;

    private final Node node = new Node(new NodeConfigBuilder(new Problems()).build());
    private final AtomicInteger reads = new AtomicInteger();
    private final CountDownLatch isReading = new CountDownLatch(1);
    private final CountDownLatch mayBeRead = new CountDownLatch(1);
    private final Reloader reloader = new Reloader(node, this::read, Systemd.ofProcess());

    private @Nullable NodeConfig read(Problems problems) {
        reads.incrementAndGet();
        isReading.countDown();
        try {
            mayBeRead.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        problems.add("f", "is never right");
        return null;
    }

    @AfterEach
    void stop() {
        mayBeRead.countDown();
        node.stop(Duration.ZERO);
    }

    private Thread signal() {
        Thread thread = new Thread(reloader::reloadForSignal, "signal of a test");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @Test
    void ofManySignalsOneWaitsAndReadsWhatIsWrittenByThen() throws Exception {
        Thread first = signal();
        isReading.await();
        List<Thread> others = new ArrayList<>();
        for (int i = 0; i < SIGNALS; i++) {
            others.add(signal());
        }
        eventually().until(() -> others.stream().filter(Thread::isAlive).count() == 1);
        mayBeRead.countDown();
        first.join(Waiting.PATIENCE.toMillis());
        for (Thread other : others) {
            other.join(Waiting.PATIENCE.toMillis());
        }
        assertThat(reads).hasValue(2);
        reloader.reloadForSignal();
        assertThat(reads).as("the next one is not left out").hasValue(3);
    }
}
