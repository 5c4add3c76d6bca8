package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;

/**
 * Gets the code for one key from one source after another. The order of the checks is that of what they cost a node
 * that is lied to: manifest, its name, its signature, its version, its size, and only then the jar, its digest, and
 * what it unpacks to.
 *
 * <p>Thread contract: one thread.
 */
final class CodeRetrieval {
    private final CodeClient client;
    private final CodeCache cache;
    private final TrustPolicy trust;
    private final CodeFetcher.Settings settings;
    private final long key;
    private final boolean allowOlder;

    CodeRetrieval(
            CodeClient client,
            CodeCache cache,
            TrustPolicy trust,
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

    /** Null when the source has no such service. */
    @Nullable
    ServicePackage from(CodeSource source, long deadlineNs)
            throws SourceException, CodeRefusedException, LocalException, InterruptedException {
        byte[] octets = client.file(source, RepositoryPath.ofKey(key), Manifest.MAX_OCTETS, deadlineNs);
        if (octets == null) {
            return null;
        }
        ServiceId id = Manifest.decode(octets).id();
        boolean bare = id.nameKey() == key;
        if (!bare && id.key() != key) {
            throw new CodeRefusedException(
                    Refusal.WRONG_SERVICE,
                    "a manifest of " + id + " came, whose keys are "
                            + ServiceKey.toString(id.key()) + " and "
                            + ServiceKey.toString(id.nameKey())
                            + "; the source is wrong or lies");
        }
        byte[] signature = client.file(source, id.path() + "/manifest.sig", Signature.MAX_OCTETS, deadlineNs);
        Manifest manifest = trust.verify(octets, signature);
        checkVersion(id, bare);
        checkSize(manifest);
        return takeIn(source, manifest, octets, signature, bare, deadlineNs);
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
        if (manifest.jarOctets() > settings.maxJarOctets()) {
            throw new CodeRefusedException(
                    Refusal.TOO_LARGE,
                    manifest.id() + ": its jar has " + manifest.jarOctets() + " octets, the limit is "
                            + settings.maxJarOctets() + "; make it smaller, or raise the limit");
        }
    }

    private ServicePackage takeIn(
            CodeSource source,
            Manifest manifest,
            byte[] octets,
            byte @Nullable [] signature,
            boolean bare,
            long deadlineNs)
            throws SourceException, CodeRefusedException, LocalException, InterruptedException {
        String sha256 = manifest.jarSha256();
        if (!cache.beginDownload(sha256, deadlineNs)) {
            throw new SourceException("was not asked for the jar: another download of it did not end", true);
        }
        try {
            Path jar = cache.wholeJar(sha256);
            if (jar == null) {
                jar = download(source, manifest, deadlineNs);
            }
            ServiceJar.check(jar, settings.maxUnpackedOctets());
            return cache.put(manifest, octets, signature, jar, bare, source.toString());
        } catch (IOException e) {
            throw new LocalException(e);
        } finally {
            cache.endDownload(sha256);
        }
    }

    private Path download(CodeSource source, Manifest manifest, long deadlineNs)
            throws IOException, SourceException, CodeRefusedException, LocalException, InterruptedException {
        Path file = cache.partial(manifest.jarSha256(), manifest.jarOctets());
        try {
            new JarDownload(client, source, manifest, file, deadlineNs).run();
        } catch (LocalException e) {
            Path other = cache.temporaryPartial(manifest.jarSha256(), e.reason());
            if (other.equals(file)) {
                throw e;
            }
            file = other;
            new JarDownload(client, source, manifest, file, deadlineNs).run();
        }
        return file;
    }
}
