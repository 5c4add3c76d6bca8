package org.tamanoir.manager;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.CodeUnavailableException;
import org.tamanoir.ee.Origin;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.ee.ServiceSource;

/**
 * Deploys what streams ask for: once for each key, however many ask at once.
 *
 * <p>Thread contract: any thread; what is brought is brought on those of {@link Deployments}.
 */
final class OnDemand implements ServiceSource {
    private static final Logger LOG = LoggerFactory.getLogger(ActiveNodeManager.class);
    /** Previous nodes remembered for one key while it is fetched. */
    private static final int MAX_PREVIOUS_NODES = 8;

    /** Streams that wait for one key, and whom to ask for it. */
    private static final class Wanted {
        final List<Consumer<Answer>> waiting = new ArrayList<>();
        final Set<URI> previousNodes = new LinkedHashSet<>();
    }

    private final Deployments deployments;
    private final PreviousNode previousNode;
    private final Map<Long, Wanted> wanted = new HashMap<>();
    /** Keys that an operator keeps away. */
    private final Set<Long> blocked = new HashSet<>();

    OnDemand(Deployments deployments, List<InetSocketAddress> neighbours, boolean tls) {
        this.deployments = deployments;
        this.previousNode = new PreviousNode(neighbours, tls);
    }

    @Override
    public void request(long key, Origin origin, Consumer<Answer> then) {
        Answer answer = knownOrRefused(key, origin, then);
        if (answer != null) {
            then.accept(answer);
        }
    }

    /** The answer, if there is one at once; else {@code then} waits for it. */
    private synchronized @Nullable Answer knownOrRefused(long key, Origin origin, Consumer<Answer> then) {
        ServiceDefinition known = deployments.find(key);
        if (known != null) {
            return Answer.of(known);
        }
        if (blocked.contains(key)) {
            return Answer.refused(DropReason.UNKNOWN_SERVICE);
        }
        Wanted same = wanted.get(key);
        if (same == null) {
            try {
                deployments.execute(() -> bring(key));
            } catch (RejectedExecutionException e) {
                return Answer.refused(DropReason.DEPLOYMENT_FAILED);
            }
            same = new Wanted();
            wanted.put(key, same);
        }
        URI previous = previousNode.of(origin);
        if (previous != null && same.previousNodes.size() < MAX_PREVIOUS_NODES) {
            same.previousNodes.add(previous);
        }
        same.waiting.add(then);
        return null;
    }

    private void bring(long key) {
        Answer answer;
        try {
            ServiceDefinition definition = fetch(key).definition();
            answer = definition == null ? Answer.refused(DropReason.DEPLOYMENT_FAILED) : Answer.of(definition);
        } catch (CodeUnavailableException e) {
            answer = Answer.refused(e.isUnknown() ? DropReason.UNKNOWN_SERVICE : DropReason.DEPLOYMENT_FAILED);
        } catch (CodeRefusedException e) {
            answer = Answer.refused(DropReason.DEPLOYMENT_FAILED);
        } catch (RuntimeException | Error e) {
            LOG.error("service key {} not deployed, by a fault of the node", ServiceKey.toString(key), e);
            answer = Answer.refused(DropReason.DEPLOYMENT_FAILED);
        }
        Wanted served;
        synchronized (this) {
            served = wanted.remove(key);
        }
        for (Consumer<Answer> then : served == null ? List.<Consumer<Answer>>of() : served.waiting) {
            try {
                then.accept(answer);
            } catch (RuntimeException e) {
                LOG.error("a stream that waits for service key {} was not told", ServiceKey.toString(key), e);
            }
        }
    }

    /** Streams from several nodes may wait for the same key: each of those is asked. */
    private Deployed fetch(long key) throws CodeUnavailableException, CodeRefusedException {
        Set<URI> asked = new HashSet<>();
        while (true) {
            URI previous = notAsked(key, asked);
            try {
                return deployments.deploy(key, fetcher -> fetcher.fetch(key, previous));
            } catch (CodeUnavailableException | CodeRefusedException e) {
                if (previous == null || !asked.add(previous) || notAsked(key, asked) == null) {
                    throw e;
                }
            }
        }
    }

    private synchronized @Nullable URI notAsked(long key, Set<URI> asked) {
        Wanted waiting = wanted.get(key);
        return waiting == null
                ? null
                : waiting.previousNodes.stream()
                        .filter(node -> !asked.contains(node))
                        .findFirst()
                        .orElse(null);
    }

    /** Keeps a key away from streams, or lets it come again. */
    synchronized void block(long key, boolean block) {
        if (block) {
            blocked.add(key);
        } else {
            blocked.remove(key);
        }
    }
}
