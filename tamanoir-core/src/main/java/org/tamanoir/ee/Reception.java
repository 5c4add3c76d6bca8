package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.TcpConnection;
import org.tamanoir.transport.TcpListener;

/**
 * The one thread that new traffic meets: accepts TCP connections, each a {@link Newcomer} until its first ANEP
 * header has named the service that gets the stream; reads the UDP {@link SharedPorts}.
 *
 * <p>Thread contract: its own thread, but for what is said to be any thread's.
 */
final class Reception implements Runnable {
    private static final Duration SWEEP = Duration.ofMillis(500);

    private final ExecutionEnvironment environment;
    private final IoLoop loop;
    private final Traffic traffic;
    private final Thread thread;
    private final List<TcpListener> listeners = new ArrayList<>();
    private final Set<Newcomer> newcomers = new LinkedHashSet<>();
    /** Those whose service is being fetched, or its instance made. */
    private final Set<Newcomer> held = new LinkedHashSet<>();

    private final SharedPorts ports;
    private volatile boolean stopped;

    Reception(ExecutionEnvironment environment, Traffic traffic) {
        this.environment = environment;
        this.traffic = traffic;
        this.loop = environment.newLoop();
        this.ports = new SharedPorts(environment, loop, traffic);
        this.thread = new Thread(this, "reception");
        thread.setDaemon(true);
    }

    /** Any thread. */
    void start() {
        thread.start();
    }

    @Override
    public void run() {
        loop.own();
        loop.schedule(SWEEP, this::sweep);
        while (!stopped) {
            loop.run();
            traffic.publish();
        }
        newcomers.forEach(Newcomer::closeUncounted);
        newcomers.clear();
        List.copyOf(held).forEach(newcomer -> newcomer.abandon(DropReason.SHUTDOWN));
        ports.release();
        traffic.publish();
        loop.close();
    }

    // ---- TCP -------------------------------------------------------------------------------------------------------

    /** Listens, with TLS or, with null, without; returns the address with the real port. Any thread. */
    InetSocketAddress listen(InetSocketAddress address, @Nullable TlsContext tls) throws IOException {
        CompletableFuture<InetSocketAddress> bound = new CompletableFuture<>();
        loop.execute(() -> {
            try {
                TcpListener listener = TcpListener.bind(loop, address, tls, this::accept);
                listeners.add(listener);
                bound.complete(listener.localAddress());
            } catch (IOException | RuntimeException e) {
                bound.completeExceptionally(e);
            }
        });
        try {
            return bound.get();
        } catch (ExecutionException e) {
            throw new IOException(
                    String.valueOf(e.getCause() == null ? e : e.getCause().getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while listening on TCP " + address, e);
        }
    }

    /**
     * Takes connections to other hosts' addresses, too, where they do not come inside TLS. Any thread.
     *
     * @return empty, or in one line why that cannot be
     */
    String acceptInTransit() {
        CompletableFuture<String> obstacle = new CompletableFuture<>();
        boolean running = loop.execute(() -> {
            String first = "";
            for (TcpListener listener : listeners) {
                first = first.isEmpty() && !listener.isTls() ? listener.acceptInTransit() : first;
            }
            obstacle.complete(first);
        });
        return running ? obstacle.join() : "the node stops";
    }

    private void accept(TcpConnection connection) {
        if (!environment.running().admit()) {
            connection.reset();
            return;
        }
        Newcomer newcomer = new Newcomer(environment, this, traffic, connection);
        newcomers.add(newcomer);
        connection.onChange(newcomer::look);
    }

    /** Closes those that have not sent a whole header in time, and ends waits for code and constructors. */
    private void sweep() {
        environment.missing().sweep();
        environment.maker().sweep();
        UpPath up = environment.upPath();
        if (up != null) {
            up.refresh();
        }
        long oldest =
                System.nanoTime() - environment.config().firstPacketTimeout().toNanos();
        Iterator<Newcomer> each = newcomers.iterator();
        while (each.hasNext()) {
            Newcomer newcomer = each.next();
            if (newcomer.isYoungerThan(oldest)) {
                break; // They stand in the order in which they came.
            }
            each.remove();
            newcomer.leave();
        }
        if (!stopped) {
            loop.schedule(SWEEP, this::sweep);
        }
    }

    IoLoop loop() {
        return loop;
    }

    /** Its first header is there, or will never be. */
    void hasSpoken(Newcomer newcomer) {
        newcomers.remove(newcomer);
    }

    /** Its service is being fetched, or its instance made. */
    void hold(Newcomer newcomer) {
        held.add(newcomer);
    }

    boolean isHolding(Newcomer newcomer) {
        return held.contains(newcomer);
    }

    void holdNoMore(Newcomer newcomer) {
        held.remove(newcomer);
    }

    // ---- UDP -------------------------------------------------------------------------------------------------------

    /** Reads a port from now on. Any thread. */
    void adopt(UdpPort port) {
        ports.adopt(port);
    }

    // ---- end -------------------------------------------------------------------------------------------------------

    /** Accepts and reads no more. Any thread; returns when it is so. */
    void closeListeners() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        boolean running = loop.execute(() -> {
            listeners.forEach(TcpListener::close);
            listeners.clear();
            newcomers.forEach(Newcomer::leave);
            newcomers.clear();
            List.copyOf(held).forEach(newcomer -> newcomer.abandon(DropReason.SHUTDOWN));
            ports.close();
            done.complete(null);
        });
        if (running) {
            done.join();
        }
    }

    /** Ends the thread. Any other thread; returns when it is so. */
    void stop() throws InterruptedException {
        stopped = true;
        loop.wakeup();
        thread.join();
    }
}
