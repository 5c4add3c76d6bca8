package org.tamanoir.services.extra.multicast;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;

/**
 * The flows of a node, by session, and at the root by header too; bounded in number and bytes. The one that was silent
 * for longest gives way.
 *
 * <p>Thread contract: one thread.
 */
final class Flows {
    private final Map<Long, Flow> sessions = new LinkedHashMap<>(16, 0.75f, true);
    private final FlowTable<Flow> sources;
    private final Agenda agenda;
    private final Branches branches;
    private final Progress progress;
    private final MulticastConfig config;
    private final MulticastCounters counts;
    private final Random random;
    private long memory;
    private @Nullable Flow last;

    Flows(
            MulticastConfig config,
            MulticastCounters counts,
            Branches branches,
            Progress progress,
            Agenda agenda,
            Random random) {
        this.config = config;
        this.counts = counts;
        this.branches = branches;
        this.progress = progress;
        this.agenda = agenda;
        this.random = random;
        sources = new FlowTable<>(config.flows(), this::beginHere, this::end);
    }

    /** Returns the flow of a packet that comes into the tree here. */
    Flow of(Packet packet) {
        return sources.of(packet);
    }

    /** Returns the flow with this session. */
    @Nullable
    Flow of(long session) {
        Flow found = last;
        if (found == null || found.session() != session) {
            found = sessions.get(session);
            last = found;
        }
        return found;
    }

    Iterable<Flow> all() {
        return sessions.values();
    }

    private Flow beginHere(Header header) {
        return begin(random.nextLong(), header, 1);
    }

    /** Begins a flow that comes from above, by the first that came. */
    Flow begin(MulticastHeader head) {
        long first = Math.max(head.lowest(), head.sequence() - config.windowPackets() + 1);
        if (config.late() == MulticastConfig.Late.NOW && head.lowest() > 1) {
            first = head.kind() == MulticastHeader.HEARTBEAT ? head.sequence() + 1 : head.sequence();
        }
        while (sessions.size() >= config.flows()) {
            endOldest();
        }
        return begin(head.session(), null, first);
    }

    private Flow begin(long session, @Nullable Header header, long first) {
        Flow flow = new Flow(session, header, config.windowPackets(), first, config.heartbeatNs(), random);
        for (long left = branches.all(); left != 0; left &= left - 1) {
            flow.audience().add(branches.get(Long.numberOfTrailingZeros(left)));
        }
        sessions.put(session, flow);
        counts.flows.set(sessions.size());
        bound(flow);
        return flow;
    }

    private void endOldest() {
        end(sessions.values().iterator().next());
    }

    private void end(Flow flow) {
        sessions.remove(flow.session());
        last = null;
        agenda.remove(flow);
        memory -= flow.countedBytes();
        counts.flows.set(sessions.size());
    }

    /** Ends a flow that was silent for too long. */
    void endIdle(Flow flow) {
        if (!flow.isFromHere()) {
            end(flow);
            return;
        }
        while (sessions.containsKey(flow.session()) && sources.endOldest()) {
            // Those before it were silent for longer.
        }
    }

    /** Keeps the memory of all within its bound after this one has grown: others end, then packets of its own go. */
    void bound(Flow kept) {
        memory += kept.takeGrowth();
        while (memory > config.memory() && sessions.size() > 1) {
            if (kept.isFromHere()) {
                sources.endOldest();
            } else {
                endOldest();
            }
        }
        if (memory > config.memory()) {
            progress.shrink(kept, config.memory());
            memory += kept.takeGrowth();
        }
    }
}
