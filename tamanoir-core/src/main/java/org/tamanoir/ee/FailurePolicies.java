package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;

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
    private final int typeId;
    /** What the rule of a plain datagram in hand, or of its stream, says; null of others. */
    private @Nullable FailurePolicy ofRule;
    /** The stream is a connection of others, which goes on with all of its octets, or is broken. */
    private boolean isWhole;

    /** For a look at what a service has left of a packet; null before the first. */
    private @Nullable Packet left;

    FailurePolicies(
            Packet packet,
            ServiceThread thread,
            Dispatcher dispatcher,
            Drops drops,
            PacketPath.Owner owner,
            FailurePolicy withoutService,
            int typeId) {
        this.packet = packet;
        this.thread = thread;
        this.dispatcher = dispatcher;
        this.drops = drops;
        this.owner = owner;
        this.withoutService = withoutService;
        this.typeId = typeId;
    }

    /** Takes what the rule of a whole stream says, for good: a packet that ends in it by a failure breaks it. */
    void ofStream(FailurePolicy rule) {
        ofRule = rule;
        isWhole = true;
    }

    /** Says whether the packets that come into hand from now on are plain datagrams, whose rules say what becomes of them. */
    void plain(boolean isPlain, boolean passes) {
        ofRule = !isPlain ? null : passes ? FailurePolicy.PASS : FailurePolicy.DROP;
    }

    /** Returns whether a packet that its service fails to process goes on as it came, by its rule. */
    boolean restoresByRule() {
        return ofRule == FailurePolicy.PASS;
    }

    /** Returns what becomes of the packet in hand if the thread's service fails to process it. */
    FailurePolicy ofFailure() {
        return policy(thread.definition().failurePolicy());
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
        FailurePolicy policy = ofFailure();
        if (policy != FailurePolicy.PASS) {
            drop(thread.failure(), policy, "service " + thread.definition().name() + " failed");
        } else if (fault == null) {
            dispatcher.departProcessed(packet);
        } else {
            drop(
                    DropReason.SERVICE_MALFORMED,
                    policy,
                    "service " + thread.definition().name() + " failed: " + fault);
        }
    }

    /**
     * Returns whether a service has left no packet of the copy that it has in hand, and would let that go on: a failure
     * of the service. A checksum is made anew, so a wrong one is none.
     */
    boolean isSpoiled(@Nullable Verdict verdict) {
        if (verdict == null || verdict.endsPacket()) {
            return false;
        }
        Packet look = left;
        if (look == null) {
            look = new Packet(typeId, PacketSpace.HEAP);
            left = look;
        }
        ParseFault fault = look.parse(packet.buffer(), packet.offset(), packet.length());
        if (fault == null || fault == ParseFault.CHECKSUM) {
            return false;
        }
        failedMalformed(fault);
        return true;
    }

    /** Handles what the service let go on though it is no packet any more, where that cannot go on as it came. */
    void handleMalformed(ParseFault fault) {
        String why = failedMalformed(fault);
        drop(DropReason.SERVICE_MALFORMED, ofFailure(), why);
    }

    private String failedMalformed(ParseFault fault) {
        dispatcher.elsewhere(null);
        String why = "service " + thread.definition().name() + " returned a packet that is none any more: " + fault;
        thread.failed("process", new IllegalStateException(why));
        return why;
    }

    /** Handles a packet that its service held, and said nothing of in time. */
    void handleExpired() {
        String why = "service " + thread.definition().name() + " held a packet, and said nothing of it in time";
        drop(DropReason.HOLD_EXPIRED, FailurePolicy.DROP, why);
    }

    private void drop(DropReason reason, FailurePolicy policy, String why) {
        drops.drop(reason, packet);
        if (policy == FailurePolicy.CLOSE || isWhole) {
            owner.abort(reason, why);
        }
    }
}
