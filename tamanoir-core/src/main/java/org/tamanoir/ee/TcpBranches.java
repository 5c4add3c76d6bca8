package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;

/**
 * The further services of a TCP stream: finds the {@link TcpBranch} for a packet, or has its service's code fetched and
 * its instance made while the stream waits.
 *
 * <p>Thread contract: the stream's thread.
 */
final class TcpBranches {
    private final TcpStream trunk;
    private final ExecutionEnvironment environment;
    private final List<TcpBranch> branches = new ArrayList<>();
    /** What crossed branches that have ended. */
    private final Traffic.Sum ended = new Traffic.Sum();

    TcpBranches(TcpStream trunk) {
        this.trunk = trunk;
        this.environment = trunk.environment();
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
            return;
        }
        ServiceSource.Answer answer = other == null ? fetch(key, packet) : ServiceSource.Answer.of(other);
        ServiceDefinition definition = answer.service();
        if (definition == null) {
            DropReason reason = answer.refusal() == null ? DropReason.UNKNOWN_SERVICE : answer.refusal();
            if (MissingServices.isRefusal(reason)) {
                trunk.unknownService(reason);
            } else {
                trunk.drop(reason, packet);
            }
            return;
        }
        if (definition.life().isQuarantined()) {
            trunk.quarantined(definition);
            return;
        }
        branch = branch(definition, key);
        ServiceDefinition now = environment.services().find(key);
        if (branch == null && now != null && now != definition && !trunk.isCut() && trunk.aborted() == null) {
            handOver(now, packet); // Replaced while its instance was made.
        } else if (branch == null) {
            trunk.drop(trunk.isCut() ? DropReason.SHUTDOWN : DropReason.NO_INSTANCE, packet);
        } else {
            handOver(branch, packet);
        }
    }

    private void handOver(TcpBranch branch, Packet packet) {
        boolean taken = branch.offer(packet);
        if (!taken) {
            trunk.holdInput();
            Duration stall = environment.config().stallTimeout();
            taken = trunk.await(() -> branch.isEnded() || sendAndOffer(branch, packet), stall) && !branch.isEnded();
        }
        if (taken) {
            trunk.traffic.handed();
        } else {
            trunk.drop(DropReason.INBOX_FULL, packet);
            trunk.abort(DropReason.INBOX_FULL, "service " + branch.definition().name() + " takes no more packets");
        }
    }

    /** Waits for a service that the node does not have; nothing is read from the sender meanwhile. */
    private ServiceSource.Answer fetch(long key, Packet packet) {
        MissingServices missing = environment.missing();
        DropReason refusal = missing.refusal(key);
        if (refusal != null) {
            return ServiceSource.Answer.refused(refusal);
        }
        AtomicReference<ServiceSource.@Nullable Answer> answer = new AtomicReference<>();
        Consumer<ServiceSource.Answer> then = given -> {
            answer.set(given);
            trunk.loop.wakeup();
        };
        InetSocketAddress peer = trunk.sender();
        missing.request(key, new Origin(peer.getAddress(), packet.previousNode()), then);
        if (answer.get() == null) {
            missing.streamWaits();
            awaitService(() -> answer.get() != null);
            missing.streamWaitsNoMore();
            missing.forget(key, then);
        }
        ServiceSource.Answer given = answer.get();
        return given == null ? ServiceSource.Answer.refused(DropReason.SHUTDOWN) : given;
    }

    /** The packet in hand waits for a service. */
    private void awaitService(BooleanSupplier there) {
        // Who is waited for is bound to answer; this is for the case that he does not.
        EeConfig config = environment.config();
        trunk.hold(there, config.deployTimeout().plus(config.makeTimeout()).plusSeconds(2));
    }

    /** The branch may itself wait for the sender to take its answers. */
    private boolean sendAndOffer(TcpBranch branch, Packet packet) {
        takeAnswers();
        return branch.offer(packet);
    }

    /** A branch has ended: everything it had is with the next hops or counted. */
    void ended(TcpBranch branch) {
        branches.remove(branch);
        branch.free(trunk.traffic);
        branch.traffic.addTo(ended);
    }

    /** The branch whose packets name this key: it stays theirs, whatever the key comes to mean. */
    private @Nullable TcpBranch branchOf(long key) {
        for (TcpBranch branch : branches) {
            if (branch.hasKey(key)) {
                return branch;
            }
        }
        return null;
    }

    private @Nullable TcpBranch branch(ServiceDefinition other, long key) {
        for (TcpBranch branch : branches) {
            if (branch.definition() == other) {
                branch.addKey(key);
                return branch;
            }
        }
        Service service = make(other);
        TcpBranch branch = service == null ? null : environment.running().openBranch(trunk, other, key, service);
        if (branch != null) {
            branch.addKey(key);
            branches.add(branch);
        }
        return branch;
    }

    /** An instance of a service; null when there is none to be had, which is logged. */
    private @Nullable Service make(ServiceDefinition definition) {
        AtomicReference<@Nullable Service> made = new AtomicReference<>();
        AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
        environment.maker().make(definition, (service, failure) -> {
            made.set(service);
            failed.set(failure);
            trunk.loop.wakeup();
        });
        if (made.get() == null && failed.get() == null) {
            awaitService(() -> made.get() != null || failed.get() != null);
        }
        Throwable failure = failed.get();
        if (failure != null) {
            environment.failures().failed(definition.name(), "its constructor", failure, "packet dropped");
        }
        return made.get();
    }

    void takeAnswers() {
        for (int i = 0; i < branches.size(); i++) {
            branches.get(i).takeAnswers(trunk);
        }
    }

    boolean isEmpty() {
        return branches.isEmpty();
    }

    /** No more packets come. */
    void endInput() {
        branches.forEach(TcpBranch::endInput);
    }

    /** The stream ends. */
    void end() {
        branches.forEach(TcpBranch::cut);
        Instances.join(branches);
        branches.forEach(branch -> branch.abandon(trunk.traffic));
    }

    /** The stream was given up. Another thread, while the stream's is in its service's code. */
    void leaveBehind() {
        for (TcpBranch branch : branches) {
            branch.cut();
            branch.abandon(trunk.traffic);
        }
    }

    /** Adds what crossed them. */
    void addTo(Traffic.Sum sum) {
        sum.add(ended);
        branches.forEach(branch -> branch.traffic.addTo(sum));
    }
}
