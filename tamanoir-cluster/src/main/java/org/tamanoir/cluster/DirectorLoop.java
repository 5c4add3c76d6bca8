package org.tamanoir.cluster;

import com.google.common.util.concurrent.Uninterruptibles;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.cluster.lvs.LvsCounters;
import org.tamanoir.cluster.lvs.LvsTable;
import org.tamanoir.cluster.lvs.Plan;
import org.tamanoir.cluster.lvs.Planner;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.cluster.lvs.VirtualAddress;
import org.tamanoir.cluster.lvs.VirtualService;
import org.tamanoir.routing.Addresses;

/**
 * A director at work: a thread that asks back-ends, brings the table up to date whenever what is wanted changes, and
 * looks once a second whether somebody else changed it. An error is kept for the status, told to the log when it changes,
 * and what failed is tried again at the next look.
 *
 * <p>Thread contract: any thread; the lock guards roster, totals, names of services and the state file. The table is
 * changed by the loop's thread alone.
 */
final class DirectorLoop implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectorLoop.class);
    private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);
    /** Between two changes: what comes in between is made at once then. */
    private static final long REST_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** What a node that leaves waits for at most; it asks again. */
    private static final long LEAVE_NS = TimeUnit.SECONDS.toNanos(2);
    /** Longer than the programs of one look may take. */
    private static final Duration END = Duration.ofMillis(60_000);

    private final DirectorConfig config;
    private final Ipvs ipvs;
    private final DirectorMemory memory;
    private final HostSide host;
    private final NodeQuestions questions;
    private final Poller poller;
    private final ClusterTotals totals = new ClusterTotals();
    private final Thread thread;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private final Condition looked = lock.newCondition();

    private volatile boolean closed;
    private volatile long cameRoundNs = System.nanoTime();

    // Guarded by the lock.
    private boolean hasNews;
    private boolean active;
    private @Nullable String problem;
    private LvsTable actual;
    /** Which of its services are this director's. */
    private Set<VirtualAddress> owned;

    private LvsCounters counters = new LvsCounters(new TreeMap<>());

    // Of the thread alone.
    private @Nullable LvsTable tried;
    private long nextLookNs = System.nanoTime();

    private long restEndsNs = nextLookNs;

    /** Begins with a table that is as {@code memory} wants it. */
    DirectorLoop(DirectorConfig config, Ipvs ipvs, DirectorMemory memory, HostSide host, NodeQuestions questions) {
        this.config = config;
        this.ipvs = ipvs;
        this.memory = memory;
        this.host = host;
        this.questions = questions;
        actual = memory.keeper().actual();
        owned = memory.keeper().ownedServices();
        active = host.isActive();
        poller = new Poller(config, questions, lock, this::tell, memory.roster()::has, totals);
        thread = new Thread(this::run, "director " + config.name());
    }

    void start() {
        thread.start();
    }

    boolean comesRound() {
        return thread.isAlive() && System.nanoTime() - cameRoundNs < END.toNanos();
    }

    /** Wakes the thread; the lock is held. */
    private void tell() {
        hasNews = true;
        news.signal();
    }

    private void run() {
        while (!closed) {
            cameRoundNs = System.nanoTime();
            long untilNs;
            try {
                untilNs = round();
            } catch (RuntimeException e) {
                keep(unexpected(e));
                untilNs = System.nanoTime() + LOOK_NS;
            }
            await(untilNs);
        }
        if (config.removeAtEnd()) {
            remove();
        }
    }

    /** Returns when the next is due, if nothing is heard. */
    private long round() {
        LvsTable wanted;
        long nextTurnNs;
        lock.lock();
        try {
            hasNews = false;
            long nowNs = System.nanoTime();
            memory.roster().tick(nowNs).forEach(totals::forget);
            logStates();
            nextTurnNs = poller.ask(memory.roster().members(), nowNs);
            wanted = wanted();
        } finally {
            lock.unlock();
        }
        long nextLookNs = follow(wanted);
        return nextTurnNs - nextLookNs < 0 ? nextTurnNs : nextLookNs;
    }

    /** Looks at the table if it is time or it has to change; when that is to be asked again. */
    private long follow(LvsTable wanted) {
        long nowNs = System.nanoTime();
        boolean changes = !wanted.equals(tried);
        if (nowNs - nextLookNs < 0 && !(changes && nowNs - restEndsNs >= 0)) {
            return changes ? restEndsNs : nextLookNs;
        }
        tried = wanted;
        look(wanted);
        restEndsNs = System.nanoTime() + REST_NS;
        nextLookNs = System.nanoTime() + LOOK_NS;
        return nextLookNs;
    }

    private LvsTable wanted() {
        return WantedTable.of(config.services(), memory.roster().places());
    }

    private void await(long untilNs) {
        lock.lock();
        try {
            long leftNs = untilNs - System.nanoTime();
            while (!hasNews && !closed && leftNs > 0) {
                leftNs = news.awaitNanos(leftNs);
            }
        } catch (InterruptedException e) {
            closed = true; // Nobody interrupts it but who wants it to end.
        } finally {
            lock.unlock();
        }
    }

    private void look(LvsTable wanted) {
        String failure = null;
        try {
            memory.keeper().bring(wanted);
            memory.keeper().set(config.settings());
            LvsCounters now = ipvs.counters();
            boolean here = host.isActive();
            lock.lock();
            try {
                actual = memory.keeper().actual();
                owned = memory.keeper().ownedServices();
                counters = now;
                active = here;
                count(System.nanoTime());
                looked.signalAll();
                memory.save();
            } finally {
                lock.unlock();
            }
        } catch (ClusterException e) {
            failure = String.valueOf(e.getMessage());
        } catch (RuntimeException e) {
            failure = unexpected(e);
        }
        keep(failure);
    }

    private String unexpected(RuntimeException e) {
        LOG.error("director {} goes on after an error of its own", config.name(), e);
        return "unexpected: " + Bounds.line(e.toString()) + "; please report it";
    }

    private void keep(@Nullable String failure) {
        lock.lock();
        try {
            if (Objects.equals(failure, problem)) {
                return;
            }
            problem = failure;
        } finally {
            lock.unlock();
        }
        if (failure == null) {
            LOG.info("director {}: the table is as it is wanted again", config.name());
        } else {
            LOG.warn("director {}: {}; tried again every second", config.name(), failure);
        }
    }

    /** Gives each back-end what the kernel counted for it. */
    private void count(long nowNs) {
        ToIntFunction<InetAddress> weights = Roster.weights(actual);
        for (Member member : memory.roster().members()) {
            if (weights.applyAsInt(member.backEnd.address()) <= 0) {
                member.placed(nowNs);
            }
            long tcp = 0;
            long flows = 0;
            long packets = 0;
            for (VirtualService service : actual.services().values()) {
                VirtualAddress at = service.at();
                RealServer server = server(service, member.backEnd.address());
                if (server == null || !isOurs(at)) {
                    continue;
                }
                switch (at.protocol()) {
                    case TCP -> tcp += counters.of(at, server).active();
                    case UDP -> {
                        flows += counters.of(at, server).active()
                                + (long) counters.of(at, server).inactive();
                        packets += counters.of(at, server).packetsIn();
                    }
                }
            }
            member.look(tcp, flows, packets, nowNs);
        }
    }

    private boolean isOurs(VirtualAddress at) {
        return config.services().stream()
                .anyMatch(each -> each.address().equals(at.address()) && each.port() == at.port());
    }

    private static @Nullable RealServer server(VirtualService service, InetAddress address) {
        for (RealServer server : service.servers().values()) {
            if (server.address().equals(address)) {
                return server;
            }
        }
        return null;
    }

    private void logStates() {
        for (Member member : memory.roster().members()) {
            BackEndState state = member.health.state();
            if (state != member.logged) {
                String reason = member.health.reason();
                LOG.info(
                        "back-end {} at {} is {}{}",
                        member.backEnd.name(),
                        Addresses.host(member.backEnd.address()),
                        state.label(),
                        reason == null ? "" : ": " + reason);
                member.logged = state;
            }
        }
    }

    private void remove() {
        lock.lock();
        try {
            memory.takeBack(host);
        } catch (ClusterException | RuntimeException e) {
            LOG.warn("director {} could not remove what it made: {}", config.name(), e.getMessage());
        } finally {
            lock.unlock();
        }
    }

    /** What an operator or a node wants. */
    @FunctionalInterface
    interface Order<T> {
        T give(DirectorMemory memory, long nowNs, Instant now) throws ClusterException;
    }

    /** Does it, writes down what has to be remembered, and has the table follow at once. */
    <T> T order(Order<T> order) throws ClusterException {
        lock.lock();
        try {
            if (closed) {
                throw new ClusterException("director " + config.name() + " ends: ask it when it has started again");
            }
            T result = order.give(memory, System.nanoTime(), Instant.now());
            tell();
            memory.save();
            return result;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a node's leave: it has its answer when the kernel gives it no new streams, so that it can stop to take
     * them.
     */
    Welcome register(String name, Registration registration, @Nullable InetAddress from) throws ClusterException {
        return order((known, nowNs, now) -> {
            Member member = known.roster().register(name, registration, from, nowNs, now);
            tell();
            long leftNs = LEAVE_NS;
            while (registration.leaving() && member.isAwaited() && !closed && leftNs > 0) {
                leftNs = awaitLook(leftNs);
            }
            return StatusView.welcome(config, member, known.deployed());
        });
    }

    private long awaitLook(long leftNs) {
        try {
            return looked.awaitNanos(leftNs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    void leave(String name) throws ClusterException {
        order((known, nowNs, now) -> {
            if (known.roster().leave(name, nowNs, now)) {
                totals.forget(name);
            }
            return name;
        });
    }

    /** Returns what would change, by the table as it was last seen. */
    Plan planned() throws ClusterException {
        lock.lock();
        try {
            return Planner.plan(wanted(), actual, owned);
        } finally {
            lock.unlock();
        }
    }

    DirectorStatus status() {
        return locked(() -> {
            List<DirectorStatus.Service> services = StatusView.services(config, memory.roster(), actual, counters);
            List<DirectorStatus.Member> members = StatusView.members(config, memory.roster(), actual);
            return new DirectorStatus(config.name(), problem == null, problem, active, services, members);
        });
    }

    DirectorStatus.Totals totals() {
        return locked(() -> StatusView.totals(memory.roster(), totals));
    }

    private <T> T locked(Supplier<T> question) {
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            news.signal();
        } finally {
            lock.unlock();
        }
        Uninterruptibles.joinUninterruptibly(thread, END);
        questions.close();
        memory.close();
    }
}
