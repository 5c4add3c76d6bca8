package org.tamanoir.sim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.Service;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.TcpConnection;
import org.tamanoir.transport.TcpListener;
import org.tamanoir.transport.UdpReadiness;
import org.tamanoir.transport.UdpSocket;

/** A loop whose sockets are the simulated network's. */
final class SimLoop implements IoLoop {
    private final Simulation simulation;
    private final SimNet net;
    private final BufferPool pool;
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final List<Source> sources = new ArrayList<>();
    private Simulation.@Nullable Task owner;
    private boolean woken;
    private boolean closed;

    SimLoop(Simulation simulation, SimNet net, BufferPool pool) {
        this.simulation = simulation;
        this.net = net;
        this.pool = pool;
        net.opened("loop");
    }

    /** Something that the loop looks after. */
    interface Source {
        boolean isReady();

        void serve();
    }

    BufferPool pool() {
        return pool;
    }

    SimNet net() {
        return net;
    }

    void add(Source source) {
        sources.add(source);
        signal();
    }

    void remove(Source source) {
        sources.remove(source);
    }

    @Override
    public void own() {
        if (owner != null) {
            throw new IllegalStateException("a loop has one owner");
        }
        if (!simulation.hasBaton()) {
            simulation.arrive();
        }
        owner = simulation.self();
        if (owner.mainLoop == null) {
            owner.mainLoop = this;
        }
    }

    private Simulation.Task owner() {
        Simulation.Task task = simulation.self();
        if (task != owner) {
            throw new IllegalStateException(task.thread.getName() + " is not the owner of the loop");
        }
        return task;
    }

    @Override
    public void run(long ns) {
        owner();
        simulation.pause();
        long endNs = simulation.nanoTime() + ns;
        while (!woken && !isReady() && (ns == 0 || simulation.nanoTime() < endNs)) {
            simulation.await(ns == 0 ? -1 : endNs - simulation.nanoTime(), false);
        }
        serve();
        woken = false;
    }

    @Override
    public void poll() {
        owner();
        simulation.pause();
        serve();
    }

    private boolean isReady() {
        if (!tasks.isEmpty()) {
            return true;
        }
        for (int i = 0; i < sources.size(); i++) {
            if (sources.get(i).isReady()) {
                return true;
            }
        }
        return false;
    }

    private void serve() {
        List<Source> ready = new ArrayList<>(sources);
        int first = ready.isEmpty() ? 0 : simulation.random.nextInt(ready.size());
        for (int i = 0; i < ready.size(); i++) {
            Source source = ready.get((first + i) % ready.size());
            if (sources.contains(source) && source.isReady()) {
                source.serve();
            }
        }
        for (int left = tasks.size(); left > 0; left--) {
            Runnable task = tasks.poll();
            if (task != null) {
                task.run();
            }
        }
    }

    /** Something of the loop's is ready, perhaps. */
    void signal() {
        Simulation.Task task = owner;
        if (task != null && !task.interruptible) {
            simulation.wake(task);
        }
    }

    @Override
    public void wakeup() {
        woken = true;
        signal();
    }

    @Override
    public boolean execute(Runnable task) {
        if (!closed) {
            tasks.add(task);
            signal();
        }
        return !closed;
    }

    @Override
    public Future<?> schedule(Duration delay, Runnable task) {
        CompletableFuture<Void> future = new CompletableFuture<>();
        simulation.at(delay.toNanos(), () -> {
            if (!future.isCancelled()) {
                execute(() -> {
                    if (!future.isCancelled()) {
                        future.complete(null);
                        task.run();
                    }
                });
            }
        });
        return future;
    }

    @Override
    public TcpConnection connect(InetSocketAddress address, Duration timeout, @Nullable TlsContext tls) {
        owner();
        if (net.isOutOfSockets()) {
            throw new UncheckedIOException("no socket: Too many open files", new IOException("Too many open files"));
        }
        return net.connect(this, address, timeout);
    }

    @Override
    public void adopt(TcpConnection connection) {
        ((SimConnection) connection).join(this);
    }

    @Override
    public TcpListener listen(InetSocketAddress address, @Nullable TlsContext tls, Consumer<TcpConnection> accepted) {
        return net.listen(this, address, accepted);
    }

    @Override
    public UdpReadiness watch(UdpSocket socket, Runnable readable) {
        return ((SimUdpSocket) socket).watch(this, readable);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        if (!sources.isEmpty()) {
            net.leaked(Thread.currentThread().getName() + " closes its loop with " + sources);
        }
        net.closed("loop");
        Simulation.Task task = owner;
        if (task != null && task.mainLoop == this && task.thread instanceof Service) {
            simulation.dies();
        }
    }
}
