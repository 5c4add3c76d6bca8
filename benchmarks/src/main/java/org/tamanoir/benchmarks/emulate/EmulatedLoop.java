package org.tamanoir.benchmarks.emulate;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.TcpConnection;
import org.tamanoir.transport.TcpListener;
import org.tamanoir.transport.UdpReadiness;
import org.tamanoir.transport.UdpSocket;

/** A loop whose only sockets are {@link EmulatedPort}s; it makes no system call but to wait. There is no TCP. */
final class EmulatedLoop implements IoLoop {
    private static final ScheduledExecutorService TIMER = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "emulated timers");
        thread.setDaemon(true);
        return thread;
    });
    private static final long NO_LIMIT_NS = TimeUnit.SECONDS.toNanos(1);

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final List<Watch> watches = new ArrayList<>();
    private volatile @Nullable Thread owner;
    /** Whether the owner waits, or is about to: who has something for it unparks it. */
    private volatile boolean isWaiting;

    private volatile boolean isWoken;
    private volatile boolean isClosed;

    /** A port that the loop reads. */
    private final class Watch implements UdpReadiness {
        final EmulatedPort port;
        final Runnable readable;

        Watch(EmulatedPort port, Runnable readable) {
            this.port = port;
            this.readable = readable;
        }

        @Override
        public void cancel() {
            watches.remove(this);
        }

        @Override
        public void forsake() {
            // There is no descriptor.
        }
    }

    @Override
    public void own() {
        owner = Thread.currentThread();
    }

    @Override
    public void run(long ns) {
        if (!serve()) {
            isWaiting = true;
            if (!isReady()) {
                LockSupport.parkNanos(this, ns == 0 ? NO_LIMIT_NS : ns);
            }
            isWaiting = false;
            serve();
        }
        isWoken = false;
    }

    @Override
    public void poll() {
        serve();
    }

    private boolean isReady() {
        boolean ready = isWoken || !tasks.isEmpty();
        for (int i = 0; i < watches.size() && !ready; i++) {
            ready = watches.get(i).port.isReady();
        }
        return ready;
    }

    private boolean serve() {
        boolean served = isWoken;
        for (int i = watches.size() - 1; i >= 0; i--) {
            Watch watch = watches.get(i);
            if (watch.port.isReady()) {
                served = true;
                watch.readable.run();
            }
        }
        Runnable task;
        while ((task = tasks.poll()) != null) {
            served = true;
            task.run();
        }
        return served;
    }

    /** Returns whether its thread waits, so that what comes has to {@link #ring}. Any thread. */
    boolean isWaiting() {
        return isWaiting;
    }

    /** Lets its thread look at its ports, where it waits. Any thread. */
    void ring() {
        if (isWaiting) {
            LockSupport.unpark(owner);
        }
    }

    @Override
    public void wakeup() {
        isWoken = true;
        ring();
    }

    @Override
    public boolean execute(Runnable task) {
        if (isClosed) {
            return false;
        }
        tasks.add(task);
        ring();
        return true;
    }

    @Override
    public Future<?> schedule(Duration delay, Runnable task) {
        return TIMER.schedule(() -> execute(task), delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public UdpReadiness watch(UdpSocket socket, Runnable readable) {
        EmulatedPort port = (EmulatedPort) socket;
        Watch watch = new Watch(port, readable);
        watches.add(watch);
        port.watchedBy(this);
        return watch;
    }

    @Override
    public TcpConnection connect(InetSocketAddress address, Duration timeout, @Nullable TlsContext tls) {
        throw new UnsupportedOperationException("no TCP is emulated");
    }

    @Override
    public void adopt(TcpConnection connection) {
        throw new UnsupportedOperationException("no TCP is emulated");
    }

    @Override
    public TcpListener listen(InetSocketAddress address, @Nullable TlsContext tls, Consumer<TcpConnection> accepted) {
        throw new UnsupportedOperationException("no TCP is emulated");
    }

    @Override
    public void close() {
        isClosed = true;
        serve();
    }
}
