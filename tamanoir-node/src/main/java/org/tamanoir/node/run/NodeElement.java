package org.tamanoir.node.run;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.cluster.element.FctUnit;
import org.tamanoir.cluster.element.ring.GroupMembership;
import org.tamanoir.cluster.element.ring.Membership;
import org.tamanoir.cluster.element.ring.RingView;
import org.tamanoir.cluster.element.ring.TokenRing;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.node.admin.ElementViews;
import org.tamanoir.node.config.ElementConfig;

/**
 * The node's part in a distributed element: its sender, and its place in the ring of the token.
 *
 * <p>Thread contract: one thread starts it and one stops it; the rest is any thread's.
 */
final class NodeElement implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeElement.class);
    /** The distributor learns within that of a unit that leaves, else it is told of the loss by the ring. */
    private static final Duration LEAVE = Duration.ofSeconds(2);

    private static final long LOOK_MS = 5;

    private final ElementConfig config;
    private final ActiveNodeManager manager;
    private final TokenRing ring;
    private final FctUnit unit;

    /**
     * Takes the unit's control address.
     *
     * @throws IOException in one line, if it cannot be had
     */
    NodeElement(ElementConfig config, ActiveNodeManager manager) throws IOException {
        this.config = config;
        this.manager = manager;
        int number = config.sender().unit();
        ring = new TokenRing(
                config.ring(),
                number,
                config.group() ? GroupMembership.tcp(config.ring(), number) : Membership.listed());
        unit = new FctUnit(config.sender(), ring, this::viewed);
    }

    /** Returns what holds packets for the token. */
    FctUnit unit() {
        return unit;
    }

    /** Looks for the other units. */
    void start() {
        ring.start(unit, manager.environment().ranks());
    }

    private void viewed() {
        RingView view = ring.status().view();
        String name = "ring " + config.ring().ringId();
        String text = view == null
                ? name + ": no view can be had: packets leave as they come"
                : name + ": epoch " + view.epoch() + ", master " + view.master() + ", units " + view.units();
        LOG.info(text);
        manager.report(
                "element", text, Map.of("ring", String.valueOf(config.ring().ringId())));
    }

    ElementViews.Element status() {
        long refused =
                ring.refused().values().stream().mapToLong(Long::longValue).sum();
        return ElementViews.Element.of(
                config.sender().unit(), config.ring().ringId(), unit.status(), ring.status(), refused);
    }

    /**
     * Has the distributor send no more, and waits a while until the ring has let the unit go; what waits then leaves by
     * the token until three quarters of the rest of the time are over. A thread that is interrupted waits no longer.
     *
     * @return the rest of the time
     */
    Duration leave(Duration deadline) {
        long deadlineNs = deadline.toNanos();
        long began = System.nanoTime();
        ring.announceLeaving();
        if (config.ring().distributor() != null) {
            long patience = Math.min(LEAVE.toNanos(), deadlineNs / 2);
            try {
                while (!ring.status().ended() && System.nanoTime() - began < patience) {
                    TimeUnit.MILLISECONDS.sleep(LOOK_MS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        long restNs = Math.max(0, deadlineNs - (System.nanoTime() - began));
        unit.endAfter(restNs / 4 * 3);
        return Duration.ofNanos(restNs);
    }

    @Override
    public void close() throws IOException {
        ring.close();
    }
}
