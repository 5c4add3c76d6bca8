package org.tamanoir.deploy;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.preemption.CheckpointPolicy;

/**
 * Gets code: from the cache, else from repository mirrors in their order, else from the node that sent the stream;
 * verifies it before any of it is loaded, and puts it into the cache.
 *
 * <p>Every wait and size is bounded. A download that breaks off begins anew at the next source. A
 * source that failed is asked again no sooner than its back-off says, which doubles from {@code backOffMin} to
 * {@code backOffMax}; likewise for a key whose code was refused. A source that has no such service has not failed: it
 * is asked for this key again after {@code backOffMin}. What one source gives and may not run does not keep the next
 * one from being asked. A previous node gets a third of {@code totalTimeout}, half of that until its manifest and
 * signature are there.
 *
 * <p>Thread contract: any thread; calls block. Two calls for one key at once are the caller's to avoid.
 */
public final class CodeFetcher implements AutoCloseable {
    /**
     * Settings.
     *
     * @param mirrors base addresses of repositories, http or https, in the order in which they are asked
     * @param connectTimeout to reach a source
     * @param idleTimeout how long a source may send nothing
     * @param totalTimeout for all repositories that one fetch asks
     * @param maxJarBytes the largest jar
     * @param maxUnpackedBytes the most that a jar may unpack to
     * @param backOffMin after the first failure of a source
     * @param backOffMax at most
     * @param tls for https; null = the JDK's own
     * @param checkpoints whether the classes of services get any
     */
    public record Settings(
            List<URI> mirrors,
            Duration connectTimeout,
            Duration idleTimeout,
            Duration totalTimeout,
            long maxJarBytes,
            long maxUnpackedBytes,
            Duration backOffMin,
            Duration backOffMax,
            @Nullable SSLContext tls,
            CheckpointPolicy checkpoints) {
        /** Returns the usual settings: 2 s, 5 s, 30 s; 64 MiB packed, 256 MiB unpacked; back-off from 1 s to 1 min; checkpoints. */
        public static Settings of(List<URI> mirrors) {
            return new Settings(
                    mirrors,
                    Duration.ofSeconds(2),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(30),
                    64L << 20,
                    256L << 20,
                    Duration.ofSeconds(1),
                    Duration.ofMinutes(1),
                    null,
                    CheckpointPolicy.REQUIRED);
        }
    }

    /**
     * A previous node gets this part of {@code totalTimeout}: 10 s of the default 30 s, half of it for manifest and
     * signature. It is a stranger, who may have nothing and send that slowly.
     */
    private static final int PREVIOUS_NODE_SHARE = 3;
    /** Previous nodes are strangers: how many are remembered. */
    private static final int MAX_PREVIOUS_NODES = 1024;
    /** Answers that are remembered, of all sources together. */
    private static final int MAX_ANSWERS = 4096;

    private record Question(CodeSource source, long key) {}

    private final Settings settings;
    private volatile List<CodeSource> mirrors;
    private final CodeCache cache;
    private final Supplier<TrustPolicy> trust;
    private final CodeClient client;
    private final BackOff<CodeSource, String> mirrorFailures;
    private final BackOff<CodeSource, String> nodeFailures;
    /** Keys that a source does not have. */
    private final BackOff<Question, String> absent;

    private final BackOff<Question, CodeRefusedException> refused;
    private volatile @Nullable TrustPolicy refusedBy;

    /**
     * Makes a fetcher.
     *
     * @param trust asked anew for each fetch
     * @throws IllegalArgumentException in one line, for a mirror that is no http or https address
     */
    public CodeFetcher(Settings settings, CodeCache cache, Supplier<TrustPolicy> trust) {
        this.settings = settings;
        this.mirrors = sources(settings.mirrors());
        this.cache = cache;
        this.trust = trust;
        this.client = new CodeClient(settings);
        long minNs = settings.backOffMin().toNanos();
        long maxNs = settings.backOffMax().toNanos();
        this.mirrorFailures = new BackOff<>(minNs, maxNs, MAX_ANSWERS, System::nanoTime);
        this.nodeFailures = new BackOff<>(minNs, maxNs, MAX_PREVIOUS_NODES, System::nanoTime);
        this.absent = new BackOff<>(minNs, minNs, MAX_ANSWERS, System::nanoTime);
        this.refused = new BackOff<>(minNs, maxNs, MAX_ANSWERS, System::nanoTime);
    }

    private static List<CodeSource> sources(List<URI> mirrors) {
        return mirrors.stream()
                .map(address -> CodeSource.of(CodeSource.REPOSITORY, address))
                .toList();
    }

    /** Asks these repositories from the next fetch on, in place of those that it asked. */
    public void mirrors(List<URI> replacement) {
        mirrors = sources(replacement);
    }

    /**
     * Returns the code for a key, from wherever it can be had.
     *
     * @param key that of {@code name:version} or of a bare name
     * @param previousNode base address of the code server of the node that sent the stream; null = not to be asked
     * @throws CodeRefusedException if code was found and none of it may run
     * @throws CodeUnavailableException if no source gave it
     */
    public ServicePackage fetch(long key, @Nullable URI previousNode)
            throws CodeRefusedException, CodeUnavailableException {
        CodeSearch search = search(key);
        ServicePackage code = search.configured();
        if (code == null && previousNode != null) {
            code = search.previousNode(previousNode);
        }
        if (code == null) {
            throw search.failure();
        }
        return code;
    }

    /** Begins a search whose steps the caller takes. @param key as of {@link #fetch} */
    public CodeSearch search(long key) {
        return search(key, false);
    }

    private CodeSearch search(long key, boolean allowOlder) {
        return new CodeSearch(this, new CodeRetrieval(client, cache, this::policy, settings, key, allowOlder));
    }

    /**
     * Returns what the repositories now mean by the key, past the cache: for an operator who wants the newest version.
     * Asks them whether or not they failed just now.
     *
     * @param allowOlder whether it may be older than one that this node has had for the key
     */
    public ServicePackage update(long key, boolean allowOlder) throws CodeRefusedException, CodeUnavailableException {
        CodeSearch search = search(key, allowOlder);
        ServicePackage code = ask(search, mirrors);
        if (code == null) {
            throw search.failure();
        }
        return code;
    }

    @Nullable
    ServicePackage configured(CodeSearch search) {
        long key = search.retrieval().key();
        try {
            ServicePackage cached = cache.find(key, policy());
            if (cached != null) {
                return cached;
            }
        } catch (CodeRefusedException e) {
            search.refused("cache", e);
        }
        List<CodeSource> sources = new ArrayList<>(mirrors);
        sources.removeIf(source -> isPaused(source, key, search));
        return ask(search, sources);
    }

    @Nullable
    ServicePackage previousNode(CodeSearch search, URI base) {
        CodeSource source;
        try {
            source = CodeSource.of(CodeSource.PREVIOUS_NODE, base);
        } catch (IllegalArgumentException e) {
            search.failed("" + e.getMessage());
            return null;
        }
        if (search.isEnded() || isPaused(source, search.retrieval().key(), search)) {
            return null;
        }
        long nowNs = System.nanoTime();
        long budgetNs = settings.totalTimeout().toNanos() / PREVIOUS_NODE_SHARE;
        return ask(search, source, nowNs + budgetNs / 2, nowNs + budgetNs);
    }

    /** Returns the policy in force. What another one refused may be asked for again. */
    private TrustPolicy policy() {
        TrustPolicy policy = trust.get();
        if (policy != refusedBy) {
            refusedBy = policy;
            refused.clear();
        }
        return policy;
    }

    private boolean isPaused(CodeSource source, long key, CodeSearch answers) {
        BackOff.Pause<String> failure = failures(source).pause(source);
        if (failure != null) {
            answers.failed(source + " " + failure.why() + "; it is asked again in " + ceilSeconds(failure) + " s");
            return true;
        }
        Question question = new Question(source, key);
        BackOff.Pause<CodeRefusedException> refusal = refused.pause(question);
        if (refusal != null) {
            answers.refused(source.toString(), refusal.why());
            return true;
        }
        if (absent.pause(question) != null) {
            answers.absent(source);
            return true;
        }
        return false;
    }

    private static long ceilSeconds(BackOff.Pause<?> pause) {
        return TimeUnit.NANOSECONDS.toSeconds(pause.leftNs() + TimeUnit.SECONDS.toNanos(1) - 1);
    }

    private BackOff<CodeSource, String> failures(CodeSource source) {
        return source.kind().equals(CodeSource.REPOSITORY) ? mirrorFailures : nodeFailures;
    }

    /** Asks one source after the other. Each gets an even share of the time that is left. */
    private @Nullable ServicePackage ask(CodeSearch search, List<CodeSource> sources) {
        long endNs = System.nanoTime() + settings.totalTimeout().toNanos();
        int left = sources.size();
        for (CodeSource source : sources) {
            long startNs = System.nanoTime();
            long deadlineNs = startNs + (endNs - startNs) / left--;
            ServicePackage code = search.isEnded() ? null : ask(search, source, deadlineNs, deadlineNs);
            if (code != null) {
                return code;
            }
        }
        return null;
    }

    private @Nullable ServicePackage ask(CodeSearch search, CodeSource source, long signedDeadlineNs, long deadlineNs) {
        long startNs = System.nanoTime();
        Question question = new Question(source, search.retrieval().key());
        try {
            ServicePackage code = search.retrieval().from(source, signedDeadlineNs, deadlineNs);
            failures(source).succeeded(source);
            if (code == null) {
                absent.failed(question, "absent", startNs);
                search.absent(source);
            } else {
                refused.succeeded(question);
            }
            return code;
        } catch (CodeRefusedException e) {
            failures(source).succeeded(source);
            refused.failed(question, e, startNs);
            search.refused(source.toString(), e);
        } catch (SourceException e) {
            if (e.wasAsked) {
                failures(source).failed(source, "" + e.getMessage(), startNs);
            }
            search.failed(source + " " + e.getMessage());
        } catch (LocalException e) {
            search.end("" + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            search.end("interrupted while " + source + " was asked");
        }
        return null;
    }

    /**
     * Opens what was fetched, now or earlier, as {@link LoadedService} says, within today's bound of what a jar unpacks to.
     *
     * @throws CodeRefusedException as {@link LoadedService#load}
     * @throws CodeUnavailableException if others were read for {@code totalTimeout}, or this host has no room to read it
     */
    public LoadedService load(ServicePackage code) throws CodeRefusedException, CodeUnavailableException {
        long deadlineNs = System.nanoTime() + settings.totalTimeout().toNanos();
        try {
            return LoadedService.load(code, settings.maxUnpackedBytes(), settings.checkpoints(), deadlineNs);
        } catch (TimeoutException | LocalException e) {
            throw new CodeUnavailableException(String.valueOf(e.getMessage()), false);
        }
    }

    /** Ends the fetches that run; they fail. */
    @Override
    public void close() {
        client.close();
    }
}
