package org.tamanoir.sched;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Prefix;

/**
 * Quality of service as it holds at one time. Service threads take it anew once a batch; a class's index means
 * something only together with the configuration that it comes from.
 *
 * <p>Thread contract: any thread.
 *
 * @param classifier null while all is off
 * @param turns null while nothing is scheduled before processing
 */
public record QosSnapshot(
        QosConfig config,
        @Nullable Classifier classifier,
        @Nullable WaitingGrants turns,
        List<LinkContent> links) {
    /** Returns what waits for the link over which a next hop is reached; null when departures to it are not scheduled. */
    public @Nullable LinkContent linkTowards(long high, long low) {
        for (int i = 0; i < links.size(); i++) {
            for (Prefix prefix : config.links().get(i).nextHops()) {
                if (prefix.contains(high, low)) {
                    return links.get(i);
                }
            }
        }
        return null;
    }

    /** Returns what waits for this link; null when the configuration has it no more. */
    public @Nullable LinkContent of(LinkScheduler link) {
        for (LinkContent each : links) {
            if (each.link() == link) {
                return each;
            }
        }
        return null;
    }

    /** Returns whether the same next hops are reached over the same links as there. */
    public boolean hasLinksOf(QosSnapshot other) {
        return reached().equals(other.reached());
    }

    private List<Object> reached() {
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < links.size(); i++) {
            all.add(links.get(i).link());
            all.add(config.links().get(i).nextHops());
        }
        return all;
    }
}
