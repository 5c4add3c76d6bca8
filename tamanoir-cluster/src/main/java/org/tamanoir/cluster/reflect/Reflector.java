package org.tamanoir.cluster.reflect;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;

/**
 * Sessions with their sockets, all on one thread: it waits in the kernel while nothing comes, reads up to 64 messages at
 * once into memory that all sessions share, and sends copies from there.
 *
 * <p>Thread contract: any thread.
 */
public final class Reflector implements AutoCloseable {
    /** Sessions of one reflector at most. */
    public static final int MAX_SESSIONS = 64;

    private static final Logger LOG = LoggerFactory.getLogger(Reflector.class);
    private static final Duration EXPIRY_INTERVAL = Duration.ofSeconds(1);
    private static final long ANSWER_TIMEOUT_MS = 10_000;
    private static final int KEY_BYTES = 32;
    /** Of send buffer: some milliseconds of a gigabit per second, and beyond what a neighbour that is gone can hold. */
    private static final int SEND_BUFFER_BYTES = 4 << 20;
    /** For a free port with another free one behind it. */
    private static final int PORT_ATTEMPTS = 20;

    private final List<Session> sessions = new ArrayList<>();
    private final List<Inlet> inlets = new ArrayList<>();
    private final Transport transport;
    private final BufferPool pool = new BufferPool();
    private final IoLoop loop;
    private final Thread thread = new Thread(this::run, "reflector");
    private volatile boolean stopping;
    private volatile @Nullable Throwable failure;
    private boolean isClosed;

    /**
     * Binds all sockets; datagrams wait in them until {@link #start}.
     *
     * @throws IOException in one line, if an address cannot be had
     * @throws IllegalArgumentException in one line, if sessions do not fit together
     */
    public Reflector(List<SessionConfig> configs, TransportKind kind) throws IOException {
        check(configs);
        transport = Transport.of(kind);
        loop = transport.newLoop(pool);
        SecureRandom random = new SecureRandom();
        try {
            for (SessionConfig config : configs) {
                byte[] key = new byte[KEY_BYTES];
                random.nextBytes(key);
                open(new Session(config, key, System.nanoTime()));
            }
        } catch (IOException | RuntimeException e) {
            inlets.forEach(Inlet::close);
            loop.own();
            loop.close();
            pool.close();
            throw e;
        }
    }

    /**
     * Checks sessions that are to run side by side.
     *
     * @throws IllegalArgumentException in one line, if there are none or too many, or two have one name or one port
     */
    public static void check(List<SessionConfig> configs) {
        if (configs.isEmpty() || configs.size() > MAX_SESSIONS) {
            throw new IllegalArgumentException(configs.size() + " sessions: 1 to " + MAX_SESSIONS + " are wanted");
        }
        Set<String> names = new HashSet<>();
        for (SessionConfig config : configs) {
            if (!names.add(config.name())) {
                throw new IllegalArgumentException("session " + config.name() + " stands twice: give each its name");
            }
        }
        for (int i = 0; i < configs.size(); i++) {
            for (SessionConfig other : configs.subList(0, i)) {
                SessionConfig config = configs.get(i);
                if (config.overlaps(other)) {
                    throw new IllegalArgumentException("sessions " + other.name() + " and " + config.name()
                            + " would both listen at " + Addresses.text(config.input())
                            + " (of RTP the port behind is taken too): give one another port");
                }
            }
        }
    }

    private void open(Session session) throws IOException {
        InetSocketAddress wanted = session.config.input();
        boolean isRtp = session.config.format() == Format.RTP;
        Inlet media = new Inlet(session, transport, wanted, 0);
        Inlet control = null;
        for (int attempt = 1; isRtp && control == null; attempt++) {
            try {
                int behind = media.address().getPort() + 1;
                control = new Inlet(session, transport, new InetSocketAddress(wanted.getAddress(), behind), 1);
            } catch (IOException | IllegalArgumentException e) {
                media.close();
                if (wanted.getPort() != 0 || attempt == PORT_ATTEMPTS) {
                    throw e;
                }
                media = new Inlet(session, transport, wanted, 0);
            }
        }
        sessions.add(session);
        inlets.add(media);
        if (control != null) {
            inlets.add(control);
        }
        OwnAddresses own = OwnAddresses.ofHost();
        InetSocketAddress bound = input(session);
        session.bound(bound.getPort(), own);
        session.config.members().forEach(member -> session.config.requireOther(member, bound, own));
    }

    private InetSocketAddress input(Session session) {
        int first = 0;
        for (Session each : sessions) {
            if (each == session) {
                break;
            }
            first += each.config.format() == Format.RTP ? 2 : 1;
        }
        return inlets.get(first).address();
    }

    /** Begins to reflect. */
    public void start() {
        int granted = inlets.stream().mapToInt(Inlet::sendBufferBytes).min().orElse(SEND_BUFFER_BYTES);
        if (granted < SEND_BUFFER_BYTES) {
            LOG.warn(
                    "the send buffer has {} bytes, {} are wanted: copies for a neighbour that is gone take it from others;"
                            + " raise net.core.wmem_max",
                    granted,
                    SEND_BUFFER_BYTES);
        }
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            loop.own();
            UdpBatch batch = inlets.get(0).newBatch();
            inlets.forEach(inlet -> inlet.watch(loop, batch));
            expire();
            while (!stopping) {
                loop.run();
            }
        } catch (RuntimeException | Error e) {
            failure = e;
            LOG.error("the reflector has ended: {}", e.toString(), e);
        } finally {
            inlets.forEach(Inlet::close);
            loop.close();
            pool.close();
        }
    }

    private void expire() {
        loop.schedule(EXPIRY_INTERVAL, this::expire); // first: a fault below ends this turn alone
        long nowNs = System.nanoTime();
        sessions.forEach(session -> session.expire(nowNs));
    }

    /** Returns why it ended by itself; null while it has not. */
    public @Nullable Throwable failure() {
        return failure;
    }

    /** Returns where sessions take datagrams in, with the real ports, in the order in which they were given. */
    public List<InetSocketAddress> inputs() {
        return sessions.stream().map(this::input).toList();
    }

    /** Returns in one line which kind of sockets is used. */
    public String explain() {
        return transport.explain();
    }

    /** Returns all sessions as they are between two batches, with up to so many members each. */
    public List<SessionStatus> status(int limit) {
        return ask(() -> {
            long nowNs = System.nanoTime();
            return sessions.stream()
                    .map(session -> SessionStatus.of(session, Addresses.text(input(session)), limit, nowNs))
                    .toList();
        });
    }

    /**
     * Adds a member.
     *
     * @throws IllegalArgumentException in one line, if there is no such session, or it does not take that member
     */
    public void join(String session, MemberConfig member) {
        Session known = find(session);
        try {
            known.config.requireOther(member, input(known), OwnAddresses.ofHost());
        } catch (SocketException e) {
            throw new IllegalStateException("addresses of this host cannot be listed: " + Causes.text(e), e);
        }
        ask(() -> {
            known.join(member, System.nanoTime());
            return true;
        });
    }

    /**
     * Removes a member; false when it is not there.
     *
     * @throws IllegalArgumentException in one line, if there is no such session
     */
    public boolean leave(String session, InetSocketAddress address) {
        Session known = find(session);
        return ask(() -> known.leave(address));
    }

    private Session find(String name) {
        return sessions.stream()
                .filter(session -> session.config.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("session " + name + " is not here; known: "
                        + String.join(
                                ", ",
                                sessions.stream()
                                        .map(each -> each.config.name())
                                        .toList())));
    }

    /** Has the thread answer. */
    private <T> T ask(Supplier<T> question) {
        Question<T> asked = new Question<>(question);
        if (!loop.execute(asked)) {
            throw new IllegalStateException("the reflector has ended");
        }
        try {
            return asked.await(ANSWER_TIMEOUT_MS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IllegalArgumentException refusal) {
                throw new IllegalArgumentException(refusal.getMessage(), refusal);
            }
            throw new IllegalStateException("the reflector failed: " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new IllegalStateException(
                    "the reflector has not answered in " + ANSWER_TIMEOUT_MS + " ms: "
                            + (e.getMessage() == null ? "nothing was done" : e.getMessage()),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Ends; sockets are closed when this returns. */
    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        stopping = true;
        if (thread.getState() == Thread.State.NEW) {
            start(); // The loop's own thread closes what it has.
        }
        loop.wakeup();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
