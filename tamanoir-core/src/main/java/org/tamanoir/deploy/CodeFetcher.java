package org.tamanoir.deploy;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;

/**
 * Gets code: from the cache, else from repository mirrors in their order, else from the node that sent the stream;
 * verifies it before any of it is loaded, and puts it into the cache.
 *
 * <p>Every wait and size is bounded. A broken download is resumed from the next source that has the same jar. A
 * source that failed is asked again no sooner than its back-off says, which doubles from {@code backOffMin} to
 * {@code backOffMax}; likewise for a key whose code was refused. A source that has no such service has not failed: it
 * is asked for this key again after {@code backOffMin}. What one source gives and may not run does not keep the next
 * one from being asked.
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
     * @param totalTimeout for all of one fetch
     * @param maxJarOctets the largest jar
     * @param maxUnpackedOctets the most that a jar may unpack to
     * @param backOffMin after the first failure of a source
     * @param backOffMax at most
     * @param tls for https; null = the JDK's own
     */
    public record Settings(
            List<URI> mirrors,
            Duration connectTimeout,
            Duration idleTimeout,
            Duration totalTimeout,
            long maxJarOctets,
            long maxUnpackedOctets,
            Duration backOffMin,
            Duration backOffMax,
            @Nullable SSLContext tls) {
        /** 2 s, 5 s, 30 s; 64 MiB packed, 256 MiB unpacked; back-off from 1 s to 1 min. */
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
                    null);
        }
    }

    /** Previous nodes are strangers: how many are remembered. */
    private static final int MAX_PREVIOUS_NODES = 1024;
    /** Answers that are remembered, of all sources together. */
    private static final int MAX_ANSWERS = 4096;

    private record Question(CodeSource source, long key) {}

    private final Settings settings;
    private final List<CodeSource> mirrors;
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
     * A fetcher.
     *
     * @param trust asked anew for each fetch
     * @throws IllegalArgumentException in one line, for a mirror that is no http or https address
     */
    public CodeFetcher(Settings settings, CodeCache cache, Supplier<TrustPolicy> trust) {
        this.settings = settings;
        this.mirrors = settings.mirrors().stream()
                .map(address -> CodeSource.of(CodeSource.REPOSITORY, address))
                .toList();
        this.cache = cache;
        this.trust = trust;
        this.client = new CodeClient(settings);
        long minNs = settings.backOffMin().toNanos();
        long maxNs = settings.backOffMax().toNanos();
        this.mirrorFailures = new BackOff<>(minNs, maxNs, Math.max(1, mirrors.size()), System::nanoTime);
        this.nodeFailures = new BackOff<>(minNs, maxNs, MAX_PREVIOUS_NODES, System::nanoTime);
        this.absent = new BackOff<>(minNs, minNs, MAX_ANSWERS, System::nanoTime);
        this.refused = new BackOff<>(minNs, maxNs, MAX_ANSWERS, System::nanoTime);
    }

    /**
     * The code for a key, from wherever it can be had.
     *
     * @param key that of {@code name:version} or of a bare name
     * @param previousNode base address of the code server of the node that sent the stream; null = not to be asked
     * @throws CodeRefusedException if code was found and none of it may run
     * @throws CodeUnavailableException if no source gave it
     */
    public ServicePackage fetch(long key, @Nullable URI previousNode)
            throws CodeRefusedException, CodeUnavailableException {
        TrustPolicy policy = policy();
        Answers answers = new Answers(key);
        try {
            ServicePackage cached = cache.find(key, policy);
            if (cached != null) {
                return cached;
            }
        } catch (CodeRefusedException e) {
            answers.refused("cache", e);
        }
        List<CodeSource> sources = new ArrayList<>(mirrors);
        if (previousNode != null) {
            try {
                sources.add(CodeSource.of(CodeSource.PREVIOUS_NODE, previousNode));
            } catch (IllegalArgumentException e) {
                answers.failed("" + e.getMessage());
            }
        }
        sources.removeIf(source -> isPaused(source, key, answers));
        return ask(new CodeRetrieval(client, cache, policy, settings, key, false), sources, answers);
    }

    /**
     * What the repositories now mean by the key, past the cache: for an operator who wants the newest version. Asks
     * them whether or not they failed just now.
     *
     * @param allowOlder whether it may be older than one that this node has had for the key
     */
    public ServicePackage update(long key, boolean allowOlder) throws CodeRefusedException, CodeUnavailableException {
        CodeRetrieval retrieval = new CodeRetrieval(client, cache, policy(), settings, key, allowOlder);
        return ask(retrieval, mirrors, new Answers(key));
    }

    /** The policy in force. What another one refused may be asked for again. */
    private TrustPolicy policy() {
        TrustPolicy policy = trust.get();
        if (policy != refusedBy) {
            refusedBy = policy;
            refused.clear();
        }
        return policy;
    }

    private boolean isPaused(CodeSource source, long key, Answers answers) {
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
    private ServicePackage ask(CodeRetrieval retrieval, List<CodeSource> sources, Answers answers)
            throws CodeRefusedException, CodeUnavailableException {
        long endNs = System.nanoTime() + settings.totalTimeout().toNanos();
        int left = sources.size();
        for (CodeSource source : sources) {
            long startNs = System.nanoTime();
            ServicePackage code = ask(retrieval, source, startNs + (endNs - startNs) / left--, answers);
            if (code != null) {
                return code;
            }
        }
        throw answers.failure();
    }

    private @Nullable ServicePackage ask(CodeRetrieval retrieval, CodeSource source, long deadlineNs, Answers answers)
            throws CodeRefusedException, CodeUnavailableException {
        long startNs = System.nanoTime();
        Question question = new Question(source, retrieval.key());
        try {
            ServicePackage code = retrieval.from(source, deadlineNs);
            failures(source).succeeded(source);
            if (code == null) {
                absent.failed(question, "absent", startNs);
                answers.absent(source);
            } else {
                refused.succeeded(question);
            }
            return code;
        } catch (CodeRefusedException e) {
            failures(source).succeeded(source);
            refused.failed(question, e, startNs);
            answers.refused(source.toString(), e);
        } catch (SourceException e) {
            failures(source).failed(source, "" + e.getMessage(), startNs);
            answers.failed(source + " " + e.getMessage());
        } catch (LocalException e) {
            answers.failed("" + e.getMessage());
            throw answers.failure();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            answers.failed("interrupted while " + source + " was asked");
            throw answers.failure();
        }
        return null;
    }

    /** Ends the fetches that run; they fail. */
    @Override
    public void close() {
        client.close();
    }

    /** What the sources answered, for the one line that is left when none gave the code. */
    private static final class Answers {
        private final long key;
        private final List<String> lines = new ArrayList<>();
        private @Nullable CodeRefusedException refusal;
        private boolean unknown = true;

        Answers(long key) {
            this.key = key;
        }

        void absent(CodeSource source) {
            lines.add(source + " has no such service");
        }

        void failed(String line) {
            unknown = false;
            lines.add(line);
        }

        void refused(String source, CodeRefusedException e) {
            unknown = false;
            if (refusal == null) {
                refusal = e;
                lines.add(0, source + ": " + e.getMessage());
            } else {
                lines.add(source + ": " + e.getMessage());
            }
        }

        /** Throws the first refusal, if there is one. */
        CodeUnavailableException failure() throws CodeRefusedException {
            String line = "service key " + ServiceKey.toString(key) + ": "
                    + (lines.isEmpty()
                            ? "there is no repository, and no previous node to ask"
                            : String.join("; ", lines));
            if (refusal != null) {
                throw new CodeRefusedException(refusal.refusal(), line);
            }
            return new CodeUnavailableException(line, unknown);
        }
    }
}
