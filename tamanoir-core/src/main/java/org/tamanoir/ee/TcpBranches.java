package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.Origin;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.service.Service;
import org.tamanoir.supervision.InstanceFactory;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.traffic.Traffic;

/**
 * The further services of a TCP stream: finds the {@link TcpBranch} for a packet, or has its service's code fetched and
 * its instance made while the packet waits, and the stream with it.
 *
 * <p>Thread contract: the stream's thread.
 */
final class TcpBranches {
    /** How long a refusal stands: packets that come meanwhile do not ask again, which takes a lock. */
    private static final long REFUSAL_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final TcpStream trunk;
    private final TcpStream.Node node;
    private final NodeContext context;
    private final List<TcpBranch> branches = new ArrayList<>();
    /** What crossed branches that have ended. */
    private final Traffic.Sum ended = new Traffic.Sum();

    /** Labels of those that there are and were, for the record of the stream. */
    private final Set<String> services = new LinkedHashSet<>();

    private int firstToAnswer;
    /** No place was to be had when one was asked for last. */
    private boolean refused;

    private long refusedNs;

    TcpBranches(TcpStream trunk, TcpStream.Node node, NodeContext context) {
        this.trunk = trunk;
        this.node = node;
        this.context = context;
    }

    /**
     * Gives a packet to the branch that runs another service.
     *
     * @param other null when the node does not have it
     */
    void handOver(@Nullable ServiceDefinition other, Packet packet) {
        long key = packet.serviceKey();
        TcpBranch branch = branchOf(key);
        if (branch != null) {
            handOver(branch, packet);
        } else if (other != null) {
            handOver(other, key, packet);
        } else {
            fetch(key, packet);
        }
    }

    private void handOver(ServiceDefinition definition, long key, Packet packet) {
        if (definition.health().isQuarantined()) {
            trunk.path.policies.handleQuarantined(definition);
            return;
        }
        TcpBranch branch = running(definition, key);
        if (branch != null) {
            handOver(branch, packet);
        } else if (admit()) {
            make(definition, key, packet);
        } else {
            trunk.path.policies.handleWithoutService(DropReason.STREAM_LIMIT, "for which it gets no place");
        }
    }

    private void handOver(TcpBranch branch, Packet packet) {
        Offer offer = new Offer(branch, packet);
        if (!offer.advance()) {
            trunk.instance.waits.park(offer, trunk.instance.stall(), branch.instance.traffic::progress);
        }
    }

    /** A packet for a branch, which waits while that has no room. */
    private final class Offer implements Wait {
        private final TcpBranch branch;
        private final Packet packet;

        Offer(TcpBranch branch, Packet packet) {
            this.branch = branch;
            this.packet = packet;
        }

        @Override
        public boolean advance() {
            if (branch.offer(packet, trunk.instance.proof())) {
                trunk.instance.traffic.handed();
                return true;
            }
            String service = branch.thread.definition().name();
            if (branch.isEnded()) {
                refuse(DropReason.INBOX_FULL, "service " + service + " takes no more packets");
            } else if (branch.isStarved()) {
                refuse(DropReason.NO_MEMORY, "no memory for a packet to service " + service);
            } else {
                return false;
            }
            return true;
        }

        private void refuse(DropReason reason, String why) {
            trunk.path.drop(reason, packet);
            trunk.instance.abort(reason, why);
        }

        @Override
        public void end(boolean isLate) {
            if (isLate) {
                refuse(
                        DropReason.INBOX_FULL,
                        "service " + branch.thread.definition().name() + " takes no more packets");
            } else {
                trunk.path.drop(trunk.instance.endReason(), packet);
            }
        }
    }

    /** Has a service fetched that the node does not have; nothing is read from the sender meanwhile. */
    private void fetch(long key, Packet packet) {
        DropReason refusal = node.missing().refusal(key, trunk.sender().getAddress());
        if (refusal != null) {
            refused(refusal, packet);
            return;
        }
        Fetch fetch = new Fetch(key, packet);
        node.missing().request(key, new Origin(trunk.sender().getAddress(), packet.previousNode(), true), fetch);
        if (!fetch.advance()) {
            fetch.begin();
        }
    }

    /** Returns for how long an answer is waited for, which is bound to come, should it not come. */
    private Duration patience() {
        EeConfig config = context.config();
        return config.deployTimeout().plus(config.makeTimeout()).plusSeconds(2);
    }

    /** The packet's service is being fetched. */
    private final class Fetch implements Wait, Consumer<ServiceSource.Answer> {
        private final long key;
        private final Packet packet;
        private volatile ServiceSource.@Nullable Answer answer;
        private boolean waits;

        Fetch(long key, Packet packet) {
            this.key = key;
            this.packet = packet;
        }

        /** Takes the answer. Any thread. */
        @Override
        public void accept(ServiceSource.Answer given) {
            answer = given;
            trunk.instance.loop.wakeup();
        }

        @Override
        public boolean advance() {
            ServiceSource.Answer given = answer;
            if (given == null) {
                return false;
            }
            forget();
            ServiceDefinition definition = given.service();
            if (definition != null) {
                handOver(definition, key, packet);
            } else {
                refused(given.refusal() == null ? DropReason.UNKNOWN_SERVICE : given.refusal(), packet);
            }
            return true;
        }

        @Override
        public void end(boolean isLate) {
            forget();
            if (trunk.instance.isOver()) {
                trunk.path.drop(trunk.instance.endReason(), packet);
            } else {
                refused(DropReason.DEPLOYMENT_FAILED, packet);
            }
        }

        void begin() {
            waits = true;
            node.missing().streamWaits();
            trunk.instance.waits.park(this, patience());
        }

        private void forget() {
            if (waits) {
                node.missing().streamWaitsNoMore();
                node.missing().forget(key, this);
            }
        }
    }

    private void refused(DropReason reason, Packet packet) {
        if (ServiceFetches.isRefusal(reason)) {
            trunk.path.policies.handleWithoutService(reason);
        } else {
            trunk.path.drop(reason, packet);
        }
    }

    /** Takes a branch out that has ended: everything it had is with the next hops or counted. */
    void ended(TcpBranch branch) {
        branches.remove(branch);
        branch.free(trunk.instance.traffic);
        branch.instance.traffic.addTo(ended);
    }

    /** Returns the branch whose packets name this key: it stays theirs, whatever the key comes to mean. */
    private @Nullable TcpBranch branchOf(long key) {
        for (TcpBranch branch : branches) {
            if (branch.hasKey(key)) {
                return branch;
            }
        }
        return null;
    }

    /** Returns the branch that runs the service already; the key is its own from now on. */
    private @Nullable TcpBranch running(ServiceDefinition other, long key) {
        for (TcpBranch branch : branches) {
            if (branch.thread.definition() == other) {
                branch.addKey(key);
                return branch;
            }
        }
        return null;
    }

    /** Takes a place for another branch; a refusal stands for a while. */
    private boolean admit() {
        long nowNs = context.platform().nanoTime();
        if (refused && nowNs - refusedNs < REFUSAL_NS) {
            return false;
        }
        refusedNs = nowNs;
        refused = node.admitBranch(trunk, branches.size()) != null;
        return !refused;
    }

    /** Has the instance of a service made, for a branch that has its place. */
    private void make(ServiceDefinition definition, long key, Packet packet) {
        Making making = new Making(definition, key, packet);
        try {
            node.maker().make(definition, trunk.instance.context.config().threads(), making);
        } catch (RuntimeException | Error e) {
            node.leaveBranch(trunk);
            throw e;
        }
        if (!making.advance()) {
            trunk.instance.waits.park(making, patience());
        }
    }

    /** The instance of the packet's service is being made. */
    private final class Making implements Wait, InstanceFactory.Outcome {
        private final ServiceDefinition definition;
        private final long key;
        private final Packet packet;
        private @Nullable Service made;
        private @Nullable Throwable failure;
        private volatile boolean isOver;
        private boolean isGivenUp;

        Making(ServiceDefinition definition, long key, Packet packet) {
            this.definition = definition;
            this.key = key;
            this.packet = packet;
        }

        /** Takes the instance that was made, or why none was. Any thread. */
        @Override
        public synchronized void made(@Nullable Service service, @Nullable Throwable thrown) {
            if (isGivenUp) {
                if (service != null) {
                    service.dismiss();
                }
                return;
            }
            made = service;
            failure = thrown;
            isOver = service != null || thrown != null;
            trunk.instance.loop.wakeup();
        }

        private synchronized void giveUp() {
            isGivenUp = true;
            node.maker().cancel(definition, this);
            if (made != null) {
                made.dismiss();
            }
        }

        @Override
        public boolean advance() {
            if (!isOver) {
                return false;
            }
            if (failure != null) {
                context.failures().failed(definition.name(), "its constructor", failure, "packet dropped");
            }
            TcpBranch branch = made == null ? null : node.openBranch(trunk, definition, key, made);
            if (branch != null) {
                branch.addKey(key);
                branches.add(branch);
                if (services.size() < StreamRecord.MAX_BRANCHES) {
                    services.add(definition.label());
                }
                handOver(branch, packet);
                return true;
            }
            if (made == null) {
                node.leaveBranch(trunk);
            }
            ServiceDefinition now = context.services().find(key);
            if (now != null && now != definition && !trunk.instance.isOver()) {
                handOver(now, packet); // Replaced while its instance was made.
            } else {
                trunk.path.drop(DropReason.NO_INSTANCE, packet);
            }
            return true;
        }

        @Override
        public void end(boolean isLate) {
            giveUp();
            node.leaveBranch(trunk);
            boolean isOver = trunk.instance.isOver();
            trunk.path.drop(isOver ? trunk.instance.endReason() : DropReason.NO_INSTANCE, packet);
        }
    }

    /**
     * Takes answers to the sender, as far as that one takes them: first of the branch behind the one whose answers went
     * last, so that each gets its turn.
     *
     * @return whether there were any
     */
    boolean takeAnswers(TcpWayBack back) {
        boolean any = false;
        int begin = firstToAnswer;
        int count = branches.size();
        for (int i = 0; i < count; i++) {
            int index = (begin + i) % count;
            if (branches.get(index).takeAnswers(back)) {
                firstToAnswer = index + 1;
                any = true;
            }
        }
        return any;
    }

    boolean isEmpty() {
        return branches.isEmpty();
    }

    /** Tells branches that no more packets come. */
    void endInput() {
        branches.forEach(TcpBranch::endInput);
    }

    /** Ends all branches with their stream. */
    void end() {
        branches.forEach(branch -> branch.thread.cut());
        node.join(branches);
        branches.forEach(branch -> branch.abandon(trunk.instance.traffic));
    }

    /** Gives all branches up with their stream. Another thread, while the stream's is in its service's code. */
    void leaveBehind() {
        for (TcpBranch branch : branches) {
            branch.thread.cut();
            branch.abandon(trunk.instance.traffic);
        }
    }

    /** Returns how many packets came or went; a guess. */
    long activity() {
        long sum = 0;
        for (int i = 0; i < branches.size(); i++) {
            sum += branches.get(i).instance.traffic.moved();
        }
        return sum;
    }

    /** Returns whether one has packets that have not left; a guess. */
    boolean isBusy() {
        return branches.stream().anyMatch(TcpBranch::isBusy);
    }

    /** Returns the labels of services that ran, in the order of their beginning. */
    Set<String> services() {
        return Collections.unmodifiableSet(new LinkedHashSet<>(services));
    }

    /** Adds what crossed them. */
    void addTo(Traffic.Sum sum) {
        sum.add(ended);
        branches.forEach(branch -> branch.instance.traffic.addTo(sum));
    }
}
