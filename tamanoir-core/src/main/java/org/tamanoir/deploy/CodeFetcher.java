package org.tamanoir.deploy;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Gets code: from the cache, else from repository mirrors in their order, else from the node that sent the stream;
 * verifies it before any of it is loaded, and puts it into the cache.
 *
 * <p>Every wait and size is bounded. A broken download is resumed from the next source that has the same jar. A
 * source that failed is asked again no sooner than its back-off says, which doubles from {@code backOffMin} to
 * {@code backOffMax}.
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

    /**
     * A fetcher.
     *
     * @param trust asked anew for each fetch
     */
    public CodeFetcher(Settings settings, CodeCache cache, Supplier<TrustPolicy> trust) {}

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
        throw new UnsupportedOperationException("fetch");
    }

    /**
     * What the repositories now mean by the key, past the cache: for an operator who wants the newest version.
     *
     * @param allowOlder whether it may be older than one that this node has had for the key
     */
    public ServicePackage update(long key, boolean allowOlder) throws CodeRefusedException, CodeUnavailableException {
        throw new UnsupportedOperationException("update");
    }

    @Override
    public void close() {}
}
