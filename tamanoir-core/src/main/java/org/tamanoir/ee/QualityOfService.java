package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Prefix;

/**
 * The scheduling points of one environment, and their changes while it runs.
 *
 * <p>Thread contract: any thread.
 */
final class QualityOfService {
    /**
     * What holds at one time. Service threads take it anew once a batch; a class's index means something only together
     * with the generation that it comes from.
     *
     * @param classifier null while all is off
     * @param turns null while nothing is scheduled before processing
     */
    record Now(
            int generation,
            QosConfig config,
            @Nullable Classifier classifier,
            @Nullable TurnScheduler turns,
            List<LinkScheduler> links) {
        /** The link over which a next hop is reached; null when departures to it are not scheduled. */
        @Nullable
        LinkScheduler linkTowards(long high, long low) {
            for (int i = 0; i < links.size(); i++) {
                for (Prefix prefix : config.links().get(i).nextHops()) {
                    if (prefix.contains(high, low)) {
                        return links.get(i);
                    }
                }
            }
            return null;
        }

        /** Whether the same next hops are reached over the same links as there. */
        boolean hasLinksOf(Now other) {
            if (!links.equals(other.links)) {
                return false;
            }
            for (int i = 0; i < links.size(); i++) {
                if (!config.links()
                        .get(i)
                        .nextHops()
                        .equals(other.config.links().get(i).nextHops())) {
                    return false;
                }
            }
            return true;
        }
    }

    private final Map<String, LinkScheduler> linksByName = new HashMap<>();
    private @Nullable QosTimer timer;
    private volatile Now now = new Now(0, QosConfig.OFF, null, null, List.of());
    private boolean closed;

    /** What holds now. */
    Now now() {
        return now;
    }

    /**
     * Schedules so from now on.
     *
     * @throws IllegalArgumentException with all problems, each in a line; nothing is changed then
     */
    synchronized void change(QosConfig config) {
        List<String> problems = config.problems();
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", problems));
        }
        if (closed) {
            return;
        }
        int generation = now.generation() + 1;
        QosTimer running = config.isOff() ? null : timer();
        TurnScheduler before = now.turns();
        TurnScheduler turns = null;
        if (config.pre() != null && running != null) {
            turns = before == null ? new TurnScheduler(running, this::isFull) : before;
            turns.change(config, generation);
        }
        Map<String, LinkScheduler> leftOver = new HashMap<>(linksByName);
        List<LinkScheduler> links = new ArrayList<>();
        for (Link link : config.links()) {
            LinkScheduler scheduler = leftOver.remove(link.name());
            if (scheduler == null && running != null) {
                scheduler = new LinkScheduler(link.name(), running, this::roomAgain);
                linksByName.put(link.name(), scheduler);
            }
            if (scheduler != null) {
                scheduler.change(config, link, generation);
                links.add(scheduler);
            }
        }
        now = new Now(generation, config, config.isOff() ? null : new Classifier(config), turns, List.copyOf(links));
        leftOver.forEach((name, scheduler) -> {
            linksByName.remove(name);
            scheduler.close();
        });
        if (turns == null && before != null) {
            before.close();
        } else if (turns != null) {
            turns.recheck();
        }
        if (config.isOff() && timer != null) {
            timer.close();
            timer = null;
        }
    }

    private QosTimer timer() {
        if (timer == null) {
            timer = new QosTimer();
        }
        return timer;
    }

    private boolean isFull(String className) {
        for (LinkScheduler link : now.links()) {
            if (link.isFull(className)) {
                return true;
            }
        }
        return false;
    }

    private void roomAgain() {
        TurnScheduler turns = now.turns();
        if (turns != null) {
            turns.recheck();
        }
    }

    QosStatus status() {
        Now current = now;
        List<QosStatus.Point> points = new ArrayList<>();
        if (current.turns() != null) {
            points.add(current.turns().status());
        }
        current.links().forEach(link -> points.add(link.status()));
        return new QosStatus(points);
    }

    /** Lets everything go; nothing is scheduled any more. */
    synchronized void close() {
        change(QosConfig.OFF);
        closed = true;
    }
}
