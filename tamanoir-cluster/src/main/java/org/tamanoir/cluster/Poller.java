package org.tamanoir.cluster;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.DirectorConfig;

/**
 * Asks each back-end in its intervals whether it is ready, how loaded it is and what its services have counted, never two
 * questions of one kind at once. The first questions are spread over an interval, so that not all come together.
 *
 * <p>Thread contract: {@link #ask} by one that holds the lock; answers take it on threads of {@link NodeQuestions}.
 */
final class Poller {
    private final DirectorConfig config;
    private final NodeQuestions questions;
    private final Lock lock;
    /** Told after each answer, the lock held. */
    private final Runnable news;

    private final Predicate<Member> isKnown;
    private final ClusterTotals totals;
    private final Random random = new Random();

    Poller(
            DirectorConfig config,
            NodeQuestions questions,
            Lock lock,
            Runnable news,
            Predicate<Member> isKnown,
            ClusterTotals totals) {
        this.config = config;
        this.questions = questions;
        this.lock = lock;
        this.news = news;
        this.isKnown = isKnown;
        this.totals = totals;
    }

    /**
     * Asks those whose turn it is.
     *
     * @return when the next turn comes, at most a second away
     */
    long ask(Collection<Member> members, long nowNs) {
        long next = nowNs + 1_000_000_000L;
        for (Member member : members) {
            schedule(member, nowNs);
            if (!member.asksReady && nowNs - member.nextReadyNs >= 0) {
                askReady(member, nowNs);
            }
            if (!member.asksLoad && nowNs - member.nextLoadNs >= 0) {
                askLoad(member, nowNs);
            }
            next = earlier(next, member.asksReady, member.nextReadyNs);
            next = earlier(next, member.asksLoad, member.nextLoadNs);
        }
        return next;
    }

    private static long earlier(long next, boolean asks, long turnNs) {
        return !asks && turnNs - next < 0 ? turnNs : next;
    }

    private void schedule(Member member, long nowNs) {
        if (!member.isScheduled) {
            member.isScheduled = true;
            member.nextReadyNs = nowNs
                    + (long) (random.nextDouble() * config.health().interval().toNanos());
            member.nextLoadNs = member.nextReadyNs;
        }
    }

    private void askReady(Member member, long nowNs) {
        member.asksReady = true;
        member.nextReadyNs = nowNs + config.health().interval().toNanos();
        get(member, "/ready", NodeAnswers.MAX_READY_BYTES, (answer, error) -> {
            member.asksReady = false;
            heardReady(member, answer, error);
        });
    }

    private void askLoad(Member member, long nowNs) {
        member.asksLoad = true;
        member.nextLoadNs = nowNs + config.weights().interval().toNanos();
        get(member, "/v1/load", NodeAnswers.MAX_LOAD_BYTES, (answer, error) -> {
            member.asksLoad = false;
            heardLoad(member, answer, error);
        });
    }

    private void get(
            Member member,
            String path,
            int limitBytes,
            BiConsumer<NodeQuestions.@Nullable Answer, @Nullable Throwable> heard) {
        CompletableFuture<NodeQuestions.Answer> answer =
                questions.get(member.backEnd.admin(), path, config.health().timeout(), limitBytes);
        answer.whenComplete((done, error) -> {
            lock.lock();
            try {
                heard.accept(done, error);
                news.run();
            } finally {
                lock.unlock();
            }
        });
    }

    private void heardReady(Member member, NodeQuestions.@Nullable Answer answer, @Nullable Throwable error) {
        long nowNs = System.nanoTime();
        if (answer == null) {
            member.health.fails(message(error), nowNs);
            return;
        }
        String notReady = NodeAnswers.notReady(answer);
        if (notReady == null) {
            member.health.ready();
        } else if (notReady.equals(NodeAnswers.STOPS)) {
            member.stops(notReady, config.drainDeadline(), nowNs, Instant.now());
        } else {
            member.health.notReady(notReady, nowNs);
        }
    }

    private void heardLoad(Member member, NodeQuestions.@Nullable Answer answer, @Nullable Throwable error) {
        if (!isKnown.test(member)) {
            return; // It left meanwhile: its counters are in the sums already.
        }
        if (answer == null) {
            member.noLoad = message(error);
            return;
        }
        try {
            Load load = NodeAnswers.load(answer);
            member.capacity.heard(load);
            totals.heard(member.backEnd.name(), load);
            member.noLoad = null;
        } catch (IllegalArgumentException e) {
            member.noLoad = message(e);
            return;
        }
        member.asksLoad = true;
        get(member, "/v1/services", NodeAnswers.MAX_SERVICES_BYTES, (services, failure) -> {
            member.asksLoad = false;
            heardServices(member, services, failure);
        });
    }

    private void heardServices(Member member, NodeQuestions.@Nullable Answer answer, @Nullable Throwable error) {
        if (!isKnown.test(member)) {
            return;
        }
        if (answer == null) {
            member.noLoad = message(error);
            return;
        }
        try {
            Map<String, Map<String, Long>> services = NodeAnswers.services(answer);
            totals.heard(member.backEnd.name(), services);
        } catch (IllegalArgumentException e) {
            member.noLoad = message(e);
        }
    }

    private static String message(@Nullable Throwable error) {
        return error == null || error.getMessage() == null ? "no answer" : error.getMessage();
    }
}
