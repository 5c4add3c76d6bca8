package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.CacheIndex.Held;

/**
 * Code that this node has fetched, on disk, in the layout of a repository, so that other nodes can be served from it
 * (see {@link #file}). Jars lie under their SHA-256 once, whatever their names.
 *
 * <pre>
 * jars/&lt;sha256&gt;.jar
 * services/&lt;name&gt;/&lt;version&gt;/manifest.json, manifest.sig
 * partial/&lt;sha256&gt;                     a download that broke off, to be resumed
 * newest/&lt;name&gt;                        the highest version that a bare name has meant here
 * tmp/                                 files that are being written
 * lock                                 held by the process that uses the cache
 * </pre>
 *
 * <p>Files appear whole, by renaming, or not at all; what a crash left is removed at the next opening. A cache that
 * cannot be written is reported once and read all the same; new code then lies in a temporary folder until the
 * process ends. When it is full, what was used least recently and is not {@linkplain #pin pinned} goes first.
 *
 * <p>Thread contract: any thread; one process at a time, which a lock file holds.
 */
public final class CodeCache implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CodeCache.class);

    private final CacheDisk disk;
    private final Path root;
    private final long limitOctets;
    private final CacheIndex index = new CacheIndex();
    /** Digests of the jars that are being downloaded. */
    private final Set<String> downloads = new HashSet<>();

    /**
     * Opens or makes a cache.
     *
     * @param limitOctets of all jars together
     * @throws IOException in one line, if the folder cannot be had at all or another process uses it
     */
    public static CodeCache open(Path folder, long limitOctets) throws IOException {
        return open(folder, limitOctets, Path.of(System.getProperty("java.io.tmpdir", "/tmp")));
    }

    /** The same. @param temporaryParent where the temporary folder of a cache that cannot be written is made */
    static CodeCache open(Path folder, long limitOctets, Path temporaryParent) throws IOException {
        CodeCache cache = new CodeCache(CacheDisk.open(folder, temporaryParent), limitOctets);
        try {
            cache.load();
        } catch (IOException | RuntimeException e) {
            cache.close();
            throw e;
        }
        return cache;
    }

    private CodeCache(CacheDisk disk, long limitOctets) {
        this.disk = disk;
        this.root = disk.folder().root();
        this.limitOctets = limitOctets;
    }

    private synchronized void load() throws IOException {
        disk.load().forEach(index::put);
        for (String name : disk.folder().newestNames()) {
            String version = disk.folder().newestOf(name);
            if (version != null) {
                index.setNewest(name, version);
            }
        }
        if (disk.isWritable()) {
            makeRoom(0);
        }
    }

    /** Where it lies. */
    public Path folder() {
        return root;
    }

    /**
     * The code for a key: that of {@code name:version}, or of a bare name, which means the newest version here that
     * was ever the newest.
     *
     * @return null when it is not here, or not whole any more: it is then removed
     * @throws CodeRefusedException if the policy does not let it run any more
     */
    public @Nullable ServicePackage find(long key, TrustPolicy trust) throws CodeRefusedException {
        Held held;
        synchronized (this) {
            held = index.byKey(key);
        }
        if (held == null) {
            return null;
        }
        ServicePackage found = read(held, trust);
        synchronized (this) {
            if (found == null) {
                dropDamaged(held);
            } else {
                index.used(held);
                disk.markUsed(held);
            }
        }
        return found;
    }

    /** Null when its files are not what they were. */
    private @Nullable ServicePackage read(Held held, TrustPolicy trust) throws CodeRefusedException {
        try {
            byte[] octets = CacheFolder.read(held.folder().manifest(held.id()), Manifest.MAX_OCTETS);
            Path file = held.folder().signature(held.id());
            byte[] signature = Files.exists(file) ? CacheFolder.read(file, Signature.MAX_OCTETS) : null;
            Manifest manifest = trust.verify(octets, signature);
            Path jar = held.jar();
            boolean same = manifest.id().equals(held.id())
                    && manifest.jarSha256().equals(held.sha256())
                    && Files.size(jar) == held.octets()
                    && CacheFolder.sha256(jar).equals(held.sha256());
            String publisher =
                    signature == null ? null : Signature.decode(signature).keyId();
            return same ? new ServicePackage(manifest, publisher, jar, "cache") : null;
        } catch (IOException e) {
            return null;
        } catch (CodeRefusedException e) {
            if (e.refusal() == Refusal.BAD_SIGNATURE || e.refusal() == Refusal.MALFORMED) {
                return null; // It was good when it came here.
            }
            throw e;
        }
    }

    private void dropDamaged(Held held) {
        if (held.equals(index.held(held.id()))) {
            LOG.warn("code cache {}: {} was altered on disk; removed", root, held.id());
            // Its jar may be another version's too: that one is looked at when it is asked for.
            removeHeld(held);
        }
    }

    /** All versions here, by name and version. */
    public synchronized List<ServiceId> contents() {
        return index.contents();
    }

    /**
     * The file behind a repository path ({@code services/..., keys/...}, without a slash before it) for serving it to
     * other nodes; null when there is none, or the path is not one of a repository. Only versions that {@code served}
     * names are given; a bare name's key means the newest of them.
     */
    public @Nullable Path file(String path, Predicate<ServiceId> served) {
        RepositoryPath parsed = RepositoryPath.parse(path);
        if (parsed == null) {
            return null;
        }
        Held held = held(parsed).stream()
                .filter(each -> served.test(each.id())) // Foreign code: not under this lock.
                .findFirst()
                .orElse(null);
        if (held == null) {
            return null;
        }
        Path file = switch (parsed.kind()) {
            case KEY, MANIFEST -> held.folder().manifest(held.id());
            case SIGNATURE -> held.folder().signature(held.id());
            case JAR -> held.jar();
        };
        return Files.isRegularFile(file) ? file : null;
    }

    /** What a path can mean, best first. */
    private synchronized List<Held> held(RepositoryPath path) {
        ServiceId id = path.id();
        if (id == null) {
            return index.candidates(path.key());
        }
        Held held = index.held(id);
        return held == null ? List.of() : List.of(held);
    }

    /** Keeps a version's jar from being evicted, until {@link #unpin} was called as often. */
    public synchronized void pin(ServiceId id) {
        index.pin(id);
    }

    /** Ends one {@link #pin}. */
    public synchronized void unpin(ServiceId id) {
        index.unpin(id);
    }

    /** Removes one version, unless its jar is in use under another name: then the jar stays. */
    public synchronized void remove(ServiceId id) {
        Held held = index.held(id);
        if (held != null) {
            removeHeld(held);
        }
    }

    private void removeHeld(Held held) {
        disk.remove(held, index.remove(held.id()));
    }

    /** The version that a bare name has meant here last; null if none. */
    synchronized @Nullable String newest(String name) {
        return index.newest(name);
    }

    /**
     * Waits until nobody else downloads this jar, and takes its download, which {@link #endDownload} gives back. Until
     * then the jar is not evicted.
     *
     * @return false when the time was up
     */
    synchronized boolean beginDownload(String sha256, long deadlineNs) throws InterruptedException {
        while (downloads.contains(sha256)) {
            long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                return false;
            }
            wait(leftMs);
        }
        downloads.add(sha256);
        return true;
    }

    synchronized void endDownload(String sha256) {
        downloads.remove(sha256);
        notifyAll();
    }

    /** A jar that is here, whole, under whatever name; null if there is none. */
    @Nullable
    Path wholeJar(String sha256) {
        Held held;
        synchronized (this) {
            held = index.withJar(sha256);
        }
        try {
            Path jar = held == null ? null : held.jar();
            return jar != null && CacheFolder.sha256(jar).equals(sha256) ? jar : null;
        } catch (IOException e) {
            return null;
        }
    }

    /**
     * Where a jar is to be downloaded to, its first part perhaps there already. Makes room for it.
     *
     * @throws IOException in one line, if there is no room or it cannot be written
     */
    synchronized Path partial(String sha256, long jarOctets) throws IOException {
        makeRoom(jarOctets);
        return disk.partial(sha256, jarOctets, downloads);
    }

    /** The same, past the cache's folder, which could not be written. */
    synchronized Path temporaryPartial(String sha256, IOException why) throws IOException {
        return disk.temporaryPartial(sha256, why);
    }

    /**
     * Takes verified code in.
     *
     * @param jar one that {@link #partial}, {@link #temporaryPartial} or {@link #wholeJar} named, with the manifest's
     *     digest
     * @param newest whether the bare name means this version from now on
     * @throws IOException in one line, if there is no room, or it can be written neither here nor elsewhere
     */
    synchronized ServicePackage put(
            Manifest manifest, byte[] octets, byte @Nullable [] signature, Path jar, boolean newest, String source)
            throws IOException, CodeRefusedException {
        ServiceId id = manifest.id();
        String sha256 = manifest.jarSha256();
        Held before = index.held(id);
        if (before != null && !before.sha256().equals(sha256)) {
            removeHeld(before);
        }
        boolean known = index.withJar(sha256) != null;
        makeRoom(known ? 0 : manifest.jarOctets());
        Held held = disk.store(manifest, octets, signature, jar, known);
        index.put(held);
        if (newest && !id.version().equals(index.newest(id.name()))) {
            index.setNewest(id.name(), id.version());
            disk.putNewest(id);
        }
        String publisher =
                signature == null ? null : Signature.decode(signature).keyId();
        return new ServicePackage(manifest, publisher, held.jar(), source);
    }

    private void makeRoom(long moreOctets) throws IOException {
        List<Held> evicted = index.toEvict(moreOctets, limitOctets, downloads);
        if (evicted == null) {
            throw new IOException("code cache " + root + ": no room for " + moreOctets + " octets beside "
                    + index.octets() + " of its limit of " + limitOctets
                    + "; what is loaded stays: raise the limit or undeploy services");
        }
        evicted.forEach(this::removeHeld);
    }

    /** Gives the folder free for another process. */
    @Override
    public synchronized void close() {
        disk.close();
    }
}
