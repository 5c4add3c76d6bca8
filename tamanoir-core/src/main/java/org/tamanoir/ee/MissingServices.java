package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.ServiceKey;

/**
 * Asks the {@link ServiceSource} for services that the catalog lacks: once for each key at a time, however many
 * streams wait for it, and no sooner than {@link #REPEAT} after a refusal.
 *
 * <p>Thread contract: any thread. Answers come on the source's thread, or on the caller's.
 */
final class MissingServices {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** For so long a refusal is given again without asking: packets come faster than anyone can look. */
    private static final Duration REPEAT = Duration.ofSeconds(1);
    /** Refusals remembered; packets can name any number of keys. */
    private static final int MAX_REFUSALS = 4096;

    private final long timeoutNs;
    private final Map<Long, Request> pending = new HashMap<>();
    private final Map<Long, Refused> refusals = new ConcurrentHashMap<>();
    private final AtomicInteger waitingStreams = new AtomicInteger();
    private volatile @Nullable ServiceSource source;

    /**
     * @param timeout after which a request counts as refused, whatever the source does
     */
    MissingServices(Duration timeout) {
        this.timeoutNs = timeout.toNanos();
    }

    /** A request that was not answered yet. */
    private record Request(long key, long sinceNs, Set<Consumer<ServiceSource.Answer>> waiting) {
        @Override
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(key);
        }
    }

    private record Refused(DropReason reason, long sinceNs) {}

    void from(ServiceSource source) {
        this.source = source;
    }

    /** Why there is no point in asking for this key now; null when there is one. */
    @Nullable
    DropReason refusal(long key) {
        if (source == null) {
            return DropReason.UNKNOWN_SERVICE;
        }
        Refused refused = refusals.get(key);
        return refused == null || System.nanoTime() - refused.sinceNs >= REPEAT.toNanos() ? null : refused.reason;
    }

    /** Asks; {@code then} is called once, with the service or the reason, unless it is {@linkplain #forget forgotten}. */
    void request(long key, Origin origin, Consumer<ServiceSource.Answer> then) {
        ServiceSource from = source;
        if (from == null) {
            then.accept(ServiceSource.Answer.refused(DropReason.UNKNOWN_SERVICE));
            return;
        }
        Request request = new Request(key, System.nanoTime(), new LinkedHashSet<>());
        synchronized (this) {
            Request known = pending.putIfAbsent(key, request);
            (known == null ? request : known).waiting.add(then);
            if (known != null) {
                return;
            }
        }
        try {
            from.request(key, origin, answer -> answered(request, answer));
        } catch (RuntimeException | Error e) {
            LOG.error("service key {} could not be asked for: {}", ServiceKey.toString(key), e, e);
            answered(request, ServiceSource.Answer.refused(DropReason.DEPLOYMENT_FAILED));
        }
    }

    /** The one who asked waits no more. */
    synchronized void forget(long key, Consumer<ServiceSource.Answer> then) {
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
            if (!pending.remove(request.key, request)) {
                return; // The second answer, or one after the time was up.
            }
            if (refusal != null) {
                if (refusals.size() >= MAX_REFUSALS) {
                    refusals.clear();
                }
                refusals.put(request.key, new Refused(refusal, System.nanoTime()));
            } else {
                refusals.remove(request.key);
            }
            waiting = List.copyOf(request.waiting);
        }
        ServiceSource.Answer whole = refusal == null ? answer : ServiceSource.Answer.refused(refusal);
        waiting.forEach(then -> then.accept(whole));
    }

    /** Refuses what has waited for too long. To be called regularly. */
    void sweep() {
        List<Request> late = new ArrayList<>();
        synchronized (this) {
            long now = System.nanoTime();
            for (Request request : pending.values()) {
                if (now - request.sinceNs >= timeoutNs) {
                    late.add(request);
                }
            }
        }
        for (Request request : late) {
            LOG.warn(
                    "service key {}: no answer in {} ms; its packets follow the failure policy for unknown services",
                    ServiceKey.toString(request.key),
                    Duration.ofNanos(timeoutNs).toMillis());
            answered(request, ServiceSource.Answer.refused(DropReason.DEPLOYMENT_FAILED));
        }
    }

    /** Whether the failure policy for unknown services applies to what is dropped for this reason. */
    static boolean isRefusal(DropReason reason) {
        return reason == DropReason.UNKNOWN_SERVICE || reason == DropReason.DEPLOYMENT_FAILED;
    }

    void streamWaits() {
        waitingStreams.incrementAndGet();
    }

    void streamWaitsNoMore() {
        waitingStreams.decrementAndGet();
    }

    int waitingStreams() {
        return waitingStreams.get();
    }
}
