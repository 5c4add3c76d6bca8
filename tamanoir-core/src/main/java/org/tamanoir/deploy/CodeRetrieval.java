package org.tamanoir.deploy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.ServiceKey;

/**
 * Gets the code for one key from one source after another. The order of the checks is that of what they cost a node
 * that is lied to: manifest, its name, its signature, its version, its size, and only then the jar, its digest, and
 * what it unpacks to.
 *
 * <p>Thread contract: any thread; calls block, and several sources can be asked at once.
 */
final class CodeRetrieval {
    private static final Logger LOG = LoggerFactory.getLogger(CodeRetrieval.class);

    private final CodeClient client;
    private final CodeCache cache;
    private final Supplier<TrustPolicy> trust;
    private final CodeFetcher.Settings settings;
    private final long key;
    private final boolean allowOlder;

    CodeRetrieval(
            CodeClient client,
            CodeCache cache,
            Supplier<TrustPolicy> trust,
            CodeFetcher.Settings settings,
            long key,
            boolean allowOlder) {
        this.client = client;
        this.cache = cache;
        this.trust = trust;
        this.settings = settings;
        this.key = key;
        this.allowOlder = allowOlder;
    }

    long key() {
        return key;
    }

    /**
     * Returns null when the source has no such service.
     *
     * @param signedDeadlineNs when manifest and signature must be there: until then nothing says that the source has
     *     anything of worth
     */
    @Nullable
    ServicePackage from(CodeSource source, long signedDeadlineNs, long deadlineNs)
            throws SourceException, CodeRefusedException, LocalException, InterruptedException {
        byte[] bytes = client.file(source, RepositoryPath.ofKey(key), Manifest.MAX_BYTES, signedDeadlineNs);
        if (bytes == null) {
            return null;
        }
        ServiceId id = Manifest.decode(bytes).id();
        boolean bare = id.nameKey() == key;
        if (!bare && id.key() != key) {
            throw new CodeRefusedException(
                    Refusal.WRONG_SERVICE,
                    "a manifest of " + id + " came, whose keys are "
                            + ServiceKey.toString(id.key()) + " and "
                            + ServiceKey.toString(id.nameKey())
                            + "; the source is wrong or lies");
        }
        byte[] signature = client.file(source, id.path() + "/manifest.sig", Signature.MAX_BYTES, signedDeadlineNs);
        Manifest manifest = trust.get().verify(bytes, signature);
        checkVersion(id, bare);
        checkSize(manifest);
        return takeIn(source, manifest, bytes, signature, bare, deadlineNs);
    }

    private void checkVersion(ServiceId id, boolean bare) throws CodeRefusedException {
        String newest = cache.newest(id.name());
        if (bare && !allowOlder && newest != null && ServiceId.VERSION_ORDER.compare(id.version(), newest) < 0) {
            throw new CodeRefusedException(
                    Refusal.DOWNGRADE,
                    id + " is older than " + newest + ", which " + id.name()
                            + " meant here before; publish a newer version, or allow the older one when deploying it");
        }
    }

    private void checkSize(Manifest manifest) throws CodeRefusedException {
        if (manifest.jarBytes() > settings.maxJarBytes()) {
            throw new CodeRefusedException(
                    Refusal.TOO_LARGE,
                    manifest.id() + ": its jar has " + manifest.jarBytes() + " bytes, the limit is "
                            + settings.maxJarBytes() + "; make it smaller, or raise the limit");
        }
    }

    private ServicePackage takeIn(
            CodeSource source,
            Manifest manifest,
            byte[] bytes,
            byte @Nullable [] signature,
            boolean bare,
            long deadlineNs)
            throws SourceException, CodeRefusedException, LocalException, InterruptedException {
        // Nobody waits for a previous node, which is a stranger: it may send slowly what a mirror would send at once.
        Lock download = source.isPreviousNode() ? new ReentrantLock() : cache.download(manifest.jarSha256());
        if (!download.tryLock(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw new SourceException("was not asked for the jar: another download of it did not end", false);
        }
        Path made = null;
        try {
            Path jar = cache.wholeJar(manifest.jarSha256());
            if (jar == null) {
                made = cache.newDownload(manifest.jarBytes());
                jar = made;
                try {
                    download(source, manifest, made, deadlineNs);
                } catch (LocalException e) {
                    Path elsewhere = cache.newDownloadElsewhere(made, e);
                    discard(made);
                    made = elsewhere;
                    jar = elsewhere;
                    download(source, manifest, made, deadlineNs);
                }
            }
            LoadedService.load(
                            new ServicePackage(manifest, null, jar, source.toString()),
                            settings.maxUnpackedBytes(),
                            settings.checkpoints(),
                            deadlineNs)
                    .close();
            trust.get().verify(bytes, signature); // The download took its time: it may be revoked since.
            return cache.put(manifest, bytes, signature, jar, bare, source.toString());
        } catch (TimeoutException e) {
            throw new SourceException("gave the jar, but " + e.getMessage(), false);
        } catch (IOException e) {
            throw new LocalException(e);
        } finally {
            discard(made);
            download.unlock();
        }
    }

    /** Brings the jar into a file that does not exist: whole and with the manifest's digest, or not at all. */
    private void download(CodeSource source, Manifest manifest, Path file, long deadlineNs)
            throws SourceException, CodeRefusedException, LocalException, InterruptedException {
        String path = manifest.id().path() + "/" + manifest.id().jarName();
        BoundedBody<String> body;
        CodeClient.Answer<String> answer;
        try (OutputStream jar = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)) {
            body = BoundedBody.file(manifest.jarBytes(), jar);
            answer = client.get(source.at(path), deadlineNs, body);
        } catch (IOException e) {
            throw new LocalException(e);
        }
        if (answer.status() == 404 || answer.status() == 410) {
            throw new SourceException("has the manifest of " + manifest.id() + ", but not its jar");
        }
        if (answer.status() != 200) {
            throw CodeClient.unexpected(answer.status(), path);
        }
        if (answer.body() == null || body.received() != manifest.jarBytes()) {
            throw new CodeRefusedException(
                    Refusal.WRONG_SIZE,
                    manifest.id() + ": its manifest says " + manifest.jarBytes() + " bytes for the jar, "
                            + (answer.body() == null ? "more" : body.received())
                            + " came; get it from another source");
        }
        if (!answer.body().equals(manifest.jarSha256())) {
            throw new CodeRefusedException(
                    Refusal.WRONG_DIGEST,
                    manifest.id() + ": the jar is not the one with SHA-256 " + manifest.jarSha256()
                            + " that its manifest names; get it from another source, or publish a new version");
        }
    }

    /** Removes what the cache did not take. */
    private static void discard(@Nullable Path download) {
        try {
            if (download != null) {
                Files.deleteIfExists(download);
            }
        } catch (IOException e) {
            LOG.debug("{} is left until the cache is opened again: {}", download, e.toString());
        }
    }
}
