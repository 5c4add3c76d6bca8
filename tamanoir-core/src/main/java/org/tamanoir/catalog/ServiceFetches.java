package org.tamanoir.catalog;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.platform.Platform;

/**
 * The services that the catalog lacks and the {@link ServiceSource} is asked for: one fetch for each key at a time, which
 * all streams and packets wait for that name it, with a deadline, and no sooner than {@link #REPEAT} after a refusal of
 * the same peer's. What one party asks for is bounded, so that it does not keep others from theirs. Answers are told
 * outside of the lock.
 *
 * <p>Thread contract: any thread. Answers come on the source's thread, or on the caller's.
 */
public final class ServiceFetches {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceFetches.class);
    /** For so long a refusal is given again without asking: packets come faster than anyone can look. */
    private static final Duration REPEAT = Duration.ofSeconds(1);
    /** Refusals remembered; packets can name any number of keys. */
    private static final int MAX_REFUSALS = 4096;
    /** Keys that one party has the node ask for at a time: packets can name any number of keys. */
    public static final int MAX_KEYS_PER_PARTY = 16;
    /** Origins that the source is told of for one key, and of one party: who says many leaves room for others. */
    private static final int MAX_ORIGINS = 64;

    private static final int MAX_ORIGINS_OF_PARTY = 2;

    private final Platform platform;
    private final long timeoutNs;
    private final Map<Long, Request> pending = new HashMap<>();
    /** Keys that are asked for, by who began that. */
    private final Map<Origin.Party, Integer> keys = new HashMap<>();

    /** For want of memory, until the next sweep. No more than waited. */
    private final List<Runnable> untold = new ArrayList<>();

    private final Map<Long, Refused> refusals = new ConcurrentHashMap<>();
    private final AtomicInteger waitingStreams = new AtomicInteger();
    private volatile @Nullable ServiceSource source;

    /**
     * @param timeout after which a request counts as refused, whatever the source does
     */
    public ServiceFetches(Duration timeout, Platform platform) {
        this.platform = platform;
        this.timeoutNs = timeout.toNanos();
    }

    /** One key that is asked for. The lock of the fetches guards its sets. */
    private static final class Request {
        final long key;
        final long sinceNs;
        final Origin.Party begunBy;
        final Set<Origin> origins = new HashSet<>();
        final Set<Consumer<ServiceSource.Answer>> waiting = new LinkedHashSet<>();
        private ServiceSource.@Nullable Fetch fetch;

        Request(long key, long sinceNs, Origin.Party begunBy) {
            this.key = key;
            this.sinceNs = sinceNs;
            this.begunBy = begunBy;
        }

        /** Adds an origin; returns whether the source is to be told of it: the service may be had from there. */
        boolean add(Origin origin, Origin.Party party) {
            long ofParty =
                    origins.stream().filter(each -> each.party().equals(party)).count();
            return origins.size() < MAX_ORIGINS && ofParty < MAX_ORIGINS_OF_PARTY && origins.add(origin);
        }

        /** Returns the search for the key, begun with the first who asks. */
        synchronized ServiceSource.Fetch fetch(ServiceSource from, Consumer<ServiceSource.Answer> then) {
            if (fetch == null) {
                fetch = from.fetch(key, then);
            }
            return fetch;
        }

        synchronized void cancel() {
            if (fetch != null) {
                fetch.cancel();
            }
        }
    }

    /** @param peers who asked: others may come from where the service can be had */
    private record Refused(DropReason reason, long sinceNs, Set<InetAddress> peers) {}

    public void from(ServiceSource source) {
        this.source = source;
    }

    /**
     * Why there is no point in asking for this key now; null when there is one.
     *
     * @param peer whose own refusals alone count; null = those of all
     */
    @Nullable
    public DropReason refusal(long key, @Nullable InetAddress peer) {
        if (source == null) {
            return DropReason.UNKNOWN_SERVICE;
        }
        Refused refused = refusals.get(key);
        if (refused == null || platform.nanoTime() - refused.sinceNs >= REPEAT.toNanos()) {
            return null;
        }
        return peer == null || refused.peers.contains(peer) ? refused.reason : null;
    }

    /** Asks; {@code then} is called once, with the service or the reason, unless it is {@linkplain #forget forgotten}. */
    public void request(long key, Origin origin, Consumer<ServiceSource.Answer> then) {
        ServiceSource from = source;
        if (from == null) {
            then.accept(ServiceSource.Answer.refused(DropReason.UNKNOWN_SERVICE));
            return;
        }
        Request request;
        boolean ask;
        synchronized (this) {
            request = pending.get(key);
            Origin.Party party = origin.party();
            if (request == null && keys.getOrDefault(party, 0) < MAX_KEYS_PER_PARTY) {
                request = new Request(key, platform.nanoTime(), party);
                pending.put(key, request);
                keys.merge(party, 1, Integer::sum);
            }
            ask = request != null && request.add(origin, party);
            if (request != null) {
                request.waiting.add(then);
            }
        }
        if (request == null) {
            // Not remembered: it says nothing about the key.
            then.accept(ServiceSource.Answer.refused(DropReason.DEPLOYMENT_FAILED));
        } else if (ask) {
            ask(from, request, origin);
        }
    }

    private void ask(ServiceSource from, Request request, Origin origin) {
        try {
            request.fetch(from, answer -> answered(request, answer)).ask(origin);
        } catch (RuntimeException | Error e) {
            LOG.error("service key {} could not be asked for: {}", ServiceKey.toString(request.key), e, e);
            answered(request, ServiceSource.Answer.refused(DropReason.DEPLOYMENT_FAILED));
        }
    }

    /** The one who asked waits no more. */
    public synchronized void forget(long key, Consumer<ServiceSource.Answer> then) {
        Request request = pending.get(key);
        if (request != null) {
            request.waiting.remove(then);
        }
    }

    private void answered(Request request, ServiceSource.Answer answer) {
        DropReason refusal = answer.service() != null
                ? null
                : answer.refusal() == null ? DropReason.UNKNOWN_SERVICE : answer.refusal();
        List<Consumer<ServiceSource.Answer>> waiting;
        synchronized (this) {
            if (pending.get(request.key) != request) {
                return; // The second answer, or one after the time was up.
            }
            waiting = List.copyOf(request.waiting);
            if (refusal != null) {
                if (refusals.size() >= MAX_REFUSALS) {
                    refusals.clear();
                }
                Set<InetAddress> peers = new HashSet<>();
                request.origins.forEach(origin -> peers.add(origin.peer()));
                refusals.put(request.key, new Refused(refusal, platform.nanoTime(), Set.copyOf(peers)));
            } else {
                refusals.remove(request.key);
            }
            // Last: what fails before, for want of memory, leaves them to the sweep.
            pending.remove(request.key);
            keys.computeIfPresent(request.begunBy, (party, count) -> count > 1 ? count - 1 : null);
        }
        ServiceSource.Answer whole = refusal == null ? answer : ServiceSource.Answer.refused(refusal);
        waiting.forEach(then -> tell(then, whole));
    }

    /** Tells one of them; what that one fails with is no matter of the next. For want of memory it is told again. */
    private void tell(Consumer<ServiceSource.Answer> then, ServiceSource.Answer answer) {
        try {
            then.accept(answer);
        } catch (OutOfMemoryError e) {
            synchronized (this) {
                untold.add(() -> tell(then, answer));
            }
        } catch (RuntimeException | Error e) {
            LOG.error("who waits for a service could not be told: {}", e, e);
        }
    }

    /** Refuses what has waited for too long, and tells who could not be told. To be called regularly. */
    public void sweep() {
        List<Request> late = new ArrayList<>();
        List<Runnable> again;
        synchronized (this) {
            again = List.copyOf(untold);
            untold.clear();
            long now = platform.nanoTime();
            for (Request request : pending.values()) {
                if (now - request.sinceNs >= timeoutNs) {
                    late.add(request);
                }
            }
        }
        again.forEach(Runnable::run);
        for (Request request : late) {
            LOG.warn(
                    "service key {}: no answer in {} ms; its packets follow the failure policy for unknown services",
                    ServiceKey.toString(request.key),
                    Duration.ofNanos(timeoutNs).toMillis());
            answered(request, ServiceSource.Answer.refused(DropReason.DEPLOYMENT_FAILED));
            request.cancel();
        }
    }

    /** Whether the failure policy for unknown services applies to what is dropped for this reason. */
    public static boolean isRefusal(DropReason reason) {
        return reason == DropReason.UNKNOWN_SERVICE || reason == DropReason.DEPLOYMENT_FAILED;
    }

    public void streamWaits() {
        waitingStreams.incrementAndGet();
    }

    public void streamWaitsNoMore() {
        waitingStreams.decrementAndGet();
    }

    public int waitingStreams() {
        return waitingStreams.get();
    }
}
