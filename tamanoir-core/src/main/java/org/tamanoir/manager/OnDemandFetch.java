package org.tamanoir.manager;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.Origin;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.catalog.ServiceSource.Answer;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.CodeSearch;
import org.tamanoir.deploy.CodeUnavailableException;
import org.tamanoir.deploy.ServicePackage;

/**
 * The deployment of one key that streams ask for: code is searched for in the cache and the repositories first, then at
 * the nodes that the streams came from, of which each is a stranger. These have threads, queues and time of their own, so
 * that who sends his code slowly delays nobody but those who want it from him.
 *
 * <p>Thread contract: any thread; what is brought is brought on those of {@link Deployer}. The lock guards its state, and
 * is not held while it answers.
 */
final class OnDemandFetch implements ServiceSource.Fetch {
    private static final Logger LOG = LoggerFactory.getLogger(OnDemandFetch.class);
    /** Previous nodes asked for one key. */
    private static final int MAX_PREVIOUS_NODES = 64;

    private record Ask(UpstreamCodeServers.Server server, Origin.Party party) {}

    private final Deployer deployer;
    private final UpstreamCodeServers upstream;
    private final long key;
    private final Consumer<Answer> then;
    private final CodeSearch search;
    private final Attempt attempt;
    /** Previous nodes that are to be asked, or were, with whom that is counted by. */
    private final Map<URI, Ask> previousNodes = new LinkedHashMap<>();
    /** A thread will ask the cache and the repositories. */
    private boolean isQueued;
    /** They are being asked, or were. */
    private boolean isBegun;
    /** They have no such code. */
    private boolean isPastConfigured;
    /** Previous nodes that have not answered yet. */
    private int asked;

    private boolean isOver;

    private OnDemandFetch(Deployer deployer, UpstreamCodeServers upstream, long key, Consumer<Answer> then) {
        this.deployer = deployer;
        this.upstream = upstream;
        this.key = key;
        this.then = then;
        search = deployer.search(key);
        attempt = deployer.begin(key);
    }

    /** Returns a fetch of a key; one that answers at once, where the answer is known. */
    static ServiceSource.Fetch of(Deployer deployer, UpstreamCodeServers upstream, long key, Consumer<Answer> then) {
        ServiceDefinition known = deployer.find(key);
        if (known != null) {
            return origin -> then.accept(Answer.of(known));
        }
        if (deployer.isBlocked(key)) {
            return origin -> then.accept(Answer.refused(DropReason.UNKNOWN_SERVICE));
        }
        return new OnDemandFetch(deployer, upstream, key, then);
    }

    @Override
    public void ask(Origin origin) {
        if (!enqueue(origin) && end()) {
            tell(Answer.refused(DropReason.DEPLOYMENT_FAILED));
        }
    }

    /** Returns false when too much waits for a thread. */
    private synchronized boolean enqueue(Origin origin) {
        // In the queue of everyone who asks: nobody waits for what the first one wanted before.
        isQueued |= isBegun || deployer.threads().offer(origin.party(), this::askConfigured);
        UpstreamCodeServers.Server server = upstream.of(origin);
        if (isQueued
                && !isOver
                && server != null
                && previousNodes.size() < MAX_PREVIOUS_NODES
                && !previousNodes.containsKey(server.base())) {
            Ask ask = new Ask(server, origin.party());
            previousNodes.put(server.base(), ask);
            if (isPastConfigured) {
                enqueue(ask);
            }
        }
        return isQueued;
    }

    private synchronized boolean begin() {
        boolean begins = !isBegun && !isOver;
        isBegun = true;
        return begins;
    }

    private void askConfigured() {
        if (!begin()) {
            return;
        }
        try {
            install(search.configured());
        } catch (RuntimeException | Error e) {
            fault(e);
        }
        synchronized (this) {
            isPastConfigured = true;
            if (!isOver) {
                previousNodes.values().forEach(this::enqueue);
            }
        }
        failIfNobodyIsAsked();
    }

    /** Neighbours are the operator's choice, as repositories are; of strangers one is asked at a time. */
    private void enqueue(Ask ask) {
        URI base = ask.server.base();
        boolean queued = ask.server.isNeighbour()
                ? deployer.threads().offer(base, () -> askPreviousNode(base))
                : deployer.peerThreads().offer(ask.party, () -> askPreviousNode(base));
        if (queued) {
            asked++;
        }
    }

    private void askPreviousNode(URI base) {
        try {
            install(isOver() ? null : search.previousNode(base));
        } catch (RuntimeException | Error e) {
            fault(e);
        }
        synchronized (this) {
            asked--;
        }
        failIfNobodyIsAsked();
    }

    private synchronized boolean isOver() {
        return isOver;
    }

    /** Ends it; returns false when it has ended before. */
    private synchronized boolean end() {
        boolean ends = !isOver;
        isOver = true;
        return ends;
    }

    private synchronized boolean endIfNobodyIsAsked() {
        return isPastConfigured && asked == 0 && end();
    }

    private void failIfNobodyIsAsked() {
        if (endIfNobodyIsAsked()) {
            Exception why;
            try {
                why = search.failure();
            } catch (CodeRefusedException e) {
                why = e;
            }
            tell(refused(why));
        }
    }

    private void install(@Nullable ServicePackage code) {
        if (code == null || !end()) {
            return; // Not had here, or had elsewhere meanwhile.
        }
        Answer answer = Answer.refused(DropReason.DEPLOYMENT_FAILED);
        try {
            ServiceDefinition definition = attempt.succeeded(code, true).definition();
            answer = definition == null ? answer : Answer.of(definition);
        } catch (CodeUnavailableException | CodeRefusedException e) {
            answer = refused(e);
        } finally {
            tell(answer);
        }
    }

    private Answer refused(Exception why) {
        attempt.failed(why);
        boolean unknown = why instanceof CodeUnavailableException unavailable && unavailable.isUnknown();
        return Answer.refused(unknown ? DropReason.UNKNOWN_SERVICE : DropReason.DEPLOYMENT_FAILED);
    }

    private void fault(Throwable e) {
        LOG.error(
                "service key {} not deployed, by a fault of the node: {}",
                ServiceKey.toString(key),
                e.getClass().getName(),
                e);
        if (end()) {
            tell(Answer.refused(DropReason.DEPLOYMENT_FAILED));
        }
    }

    private void tell(Answer answer) {
        attempt.end();
        then.accept(answer);
    }

    /** Gives up. What is being brought goes into the cache, and is deployed when a stream asks for it again. */
    @Override
    public void cancel() {
        if (end()) {
            attempt.end();
        }
    }
}
