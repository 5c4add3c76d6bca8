package org.tamanoir.testkit;

import java.util.ArrayList;
import java.util.List;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Service;

/**
 * The levels below the JVM as a service under test sees them: they take every policy and handle no packet. What they
 * are to have done the test says, by {@link #handled}.
 *
 * <pre>{@code
 * try (ServiceHarness harness = ServiceHarness.startWithLevels(new Shout(), Transport.UDP, Map.of())) {
 *     Offload offload = harness.levels().offloads().get(0);
 *     assertEquals(Policy.forward(), offload.policy());
 *
 *     harness.levels().handled(offload, HarnessLevels.passedOn(3, 600));
 *     assertEquals(3, harness.count("packets"));
 * }
 * }</pre>
 *
 * <p>Thread contract: the test's thread, but for {@link #offload}.
 */
public final class HarnessLevels {
    /** As many as a node lets an instance have at once. */
    private static final int MAX_OFFLOADS = 64;

    private final ServiceHarness harness;
    private final Service service;
    private final List<Recorded> offloads = new ArrayList<>();
    private final boolean isThere;

    HarnessLevels(ServiceHarness harness, Service service, boolean isThere) {
        this.harness = harness;
        this.service = service;
        this.isThere = isThere;
    }

    /** Counts of a level that has passed on so many packets, all of the same size, with so many bytes together. */
    public static LevelCounters passedOn(long packets, long bytes) {
        long size = packets == 0 ? 0 : bytes / packets;
        return new LevelCounters(packets, 0, packets, 0, bytes, 0, 0, size, size, new long[Policy.MAX_RULES + 1]);
    }

    /** Every policy that the service has had so far, closed ones too, in the order of asking. */
    public List<Offload> offloads() {
        synchronized (offloads) {
            return List.copyOf(offloads);
        }
    }

    /**
     * Does as a node whose operator wants the service on a level below: asks for its policy and puts that to work on all
     * UDP packets.
     *
     * @throws LevelException the service's own reason, or that it has no policy
     */
    public Offload place() throws LevelException {
        List<Policy> answer = new ArrayList<>();
        List<LevelException> refusal = new ArrayList<>();
        harness.onServiceThread(() -> {
            try {
                Policy policy = service.policy();
                if (policy != null) {
                    answer.add(policy);
                }
            } catch (LevelException e) {
                refusal.add(e);
            }
        });
        if (!refusal.isEmpty()) {
            throw refusal.get(0);
        }
        if (answer.isEmpty()) {
            throw new LevelException("policy() is null: only the JVM can do what the service does");
        }
        return offload(Flow.ANY, answer.get(0));
    }

    /**
     * Tells the service what a level has done.
     *
     * @param offload one of {@link #offloads}
     * @param since what is new
     */
    public void handled(Offload offload, LevelCounters since) {
        if (!(offload instanceof Recorded recorded)) {
            throw new IllegalArgumentException("an offload that is not this harness's: take one of offloads()");
        }
        recorded.counted(since);
        harness.onServiceThread(() -> service.counted(since));
    }

    /** The service's thread, and the test's. */
    Offload offload(Flow flow, Policy policy) throws LevelException {
        if (!isThere) {
            throw new LevelException("no level below the JVM: start the harness with startWithLevels");
        }
        synchronized (offloads) {
            if (offloads.stream().filter(offload -> !offload.isClosed()).count() == MAX_OFFLOADS) {
                throw new LevelException("offload " + (MAX_OFFLOADS + 1) + " of one instance: at most " + MAX_OFFLOADS
                        + " at once; close one that is no longer needed");
            }
            Recorded offload = new Recorded(flow, policy);
            offloads.add(offload);
            return offload;
        }
    }

    /** Allocates nothing, as on a node: a service may ask for each packet. */
    boolean isActive() {
        synchronized (offloads) {
            for (int i = 0; i < offloads.size(); i++) {
                if (!offloads.get(i).isClosed()) {
                    return true;
                }
            }
            return false;
        }
    }

    /** The instance ends. */
    void close() {
        offloads().forEach(Offload::close);
    }

    /** A policy that was asked for. */
    private static final class Recorded implements Offload {
        private final Flow flow;
        private Policy policy;
        private LevelCounters counters = LevelCounters.ZERO;
        private boolean isClosed;

        Recorded(Flow flow, Policy policy) {
            this.flow = flow;
            this.policy = policy;
        }

        synchronized void counted(LevelCounters since) {
            counters = counters.plus(since);
        }

        @Override
        public long serviceKey() {
            return 0;
        }

        @Override
        public Flow flow() {
            return flow;
        }

        @Override
        public Level level() {
            return Level.TC;
        }

        @Override
        public synchronized Policy policy() {
            return policy;
        }

        @Override
        public synchronized void change(Policy now) throws LevelException {
            if (isClosed()) {
                throw new LevelException("the offload is closed: ask for another one");
            }
            policy = now;
        }

        @Override
        public synchronized LevelCounters counters() {
            return counters;
        }

        @Override
        public synchronized boolean isClosed() {
            return isClosed;
        }

        @Override
        public synchronized void close() {
            isClosed = true;
        }
    }
}
