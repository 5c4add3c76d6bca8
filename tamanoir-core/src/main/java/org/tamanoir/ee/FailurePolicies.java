package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.service.FailurePolicy;

/**
 * Handles the packet in hand where its service cannot be had, is in quarantine, or failed: it goes on unprocessed, is
 * dropped, or is dropped and its stream closed, as the failure policy says.
 *
 * <p>Thread contract: the service's thread.
 */
final class FailurePolicies {
    private final Packet packet;
    private final ServiceThread thread;
    private final Dispatcher dispatcher;
    private final Drops drops;
    private final PacketPath.Owner owner;
    private final FailurePolicy withoutService;
    /** What the rule of a plain datagram in hand, or of its stream, says; null of others. */
    private @Nullable FailurePolicy ofRule;

    FailurePolicies(
            Packet packet,
            ServiceThread thread,
            Dispatcher dispatcher,
            Drops drops,
            PacketPath.Owner owner,
            FailurePolicy withoutService) {
        this.packet = packet;
        this.thread = thread;
        this.dispatcher = dispatcher;
        this.drops = drops;
        this.owner = owner;
        this.withoutService = withoutService;
    }

    /** Takes what the rule of a whole stream says, for good. */
    void ofStream(FailurePolicy rule) {
        ofRule = rule;
    }

    /** Says whether the packets that come into hand from now on are plain datagrams, whose rules say what becomes of them. */
    void plain(boolean isPlain, boolean passes) {
        ofRule = !isPlain ? null : passes ? FailurePolicy.PASS : FailurePolicy.DROP;
    }

    /** Returns whether a packet that its service fails to process goes on as it came, by its rule. */
    boolean restoresByRule() {
        return ofRule == FailurePolicy.PASS;
    }

    private FailurePolicy policy(FailurePolicy otherwise) {
        FailurePolicy rule = ofRule;
        return rule == null ? otherwise : rule;
    }

    /** Handles a packet whose service the node does not have. */
    void handleWithoutService(DropReason reason) {
        handleWithoutService(reason, "which the node does not have");
    }

    /**
     * Handles a packet whose service cannot be had.
     *
     * @param which completes "a service, ..."
     */
    void handleWithoutService(DropReason reason, String which) {
        FailurePolicy policy = policy(withoutService);
        if (policy == FailurePolicy.PASS) {
            dispatcher.depart(packet);
        } else {
            long key = packet.serviceKey();
            drop(reason, policy, "it asks for service key " + ServiceKey.toString(key) + ", " + which);
        }
    }

    /** Handles a packet for a service in quarantine. */
    void handleQuarantined(ServiceDefinition wanted) {
        FailurePolicy policy = policy(wanted.failurePolicy());
        if (policy == FailurePolicy.PASS) {
            dispatcher.depart(packet);
        } else {
            drop(DropReason.QUARANTINED, policy, "service " + wanted.label() + " is in quarantine");
        }
    }

    /**
     * Handles a packet that its service failed to process.
     *
     * @param fault of what the service left of the packet; null when it is still one
     */
    void handleFailed(@Nullable ParseFault fault) {
        FailurePolicy policy = policy(thread.definition().failurePolicy());
        if (policy != FailurePolicy.PASS) {
            drop(thread.failure(), policy, "service " + thread.definition().name() + " failed");
        } else if (fault == null) {
            dispatcher.departProcessed(packet);
        } else {
            drops.drop(DropReason.SERVICE_MALFORMED, packet);
        }
    }

    /** Handles what the service let go on though it is no packet any more: a failure of the service. */
    void handleMalformed(ParseFault fault) {
        dispatcher.elsewhere(null);
        String why = "service " + thread.definition().name() + " returned a packet that is none any more: " + fault;
        thread.failed("process", new IllegalStateException(why));
        drop(DropReason.SERVICE_MALFORMED, policy(thread.definition().failurePolicy()), why);
    }

    private void drop(DropReason reason, FailurePolicy policy, String why) {
        drops.drop(reason, packet);
        if (policy == FailurePolicy.CLOSE) {
            owner.abort(reason, why);
        }
    }
}
