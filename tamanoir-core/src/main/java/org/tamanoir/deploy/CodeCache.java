package org.tamanoir.deploy;

import com.google.common.util.concurrent.Striped;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.Lock;
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
 * newest/&lt;name&gt;                        the highest version that a bare name has meant here
 * tmp/                                 downloads and files that are being written
 * lock                                 held by the process that uses the cache
 * </pre>
 *
 * <p>Files appear whole, by renaming, or not at all; what a crash left is removed at the next opening. A cache that
 * cannot be written is reported once and read all the same; new code then lies in a temporary folder until the
 * process ends. When it is full, what was used least recently and is not {@linkplain #pin pinned} goes first.
 *
 * <p>Thread contract: any thread; one process at a time writes, which a lock file holds.
 */
public final class CodeCache implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CodeCache.class);

    private final CacheDisk disk;
    private final Path root;
    private final long limitBytes;
    private final CacheIndex index = new CacheIndex();
    /** One for each jar that is being downloaded. */
    private final Striped<Lock> downloads = Striped.lazyWeakLock(Integer.MAX_VALUE);

    /**
     * Opens or makes a cache.
     *
     * @param limitBytes of all jars together
     * @throws IOException in one line, if the folder cannot be had at all or another process uses it
     */
    public static CodeCache open(Path folder, long limitBytes) throws IOException {
        return open(folder, limitBytes, temporaryFolder());
    }

    /** Does the same. @param temporaryParent where the temporary folder of a cache that cannot be written is made */
    static CodeCache open(Path folder, long limitBytes, Path temporaryParent) throws IOException {
        return open(CacheDisk.open(folder, temporaryParent), limitBytes);
    }

    /**
     * Opens a cache in whatever state its folder is. While another process uses it, or it cannot be had at all, what is
     * there is read, verified as always, and new code lies in a temporary folder; the other one's lock passes to this
     * one when it ends.
     */
    public static CodeCache openBeside(Path folder, long limitBytes) throws IOException {
        return openBeside(folder, limitBytes, temporaryFolder());
    }

    static CodeCache openBeside(Path folder, long limitBytes, Path temporaryParent) throws IOException {
        return open(CacheDisk.openBeside(folder, temporaryParent), limitBytes);
    }

    static Path temporaryFolder() {
        return Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
    }

    private static CodeCache open(CacheDisk disk, long limitBytes) throws IOException {
        CodeCache cache = new CodeCache(disk, limitBytes);
        try {
            cache.load();
        } catch (IOException | RuntimeException e) {
            cache.close();
            throw e;
        }
        return cache;
    }

    private CodeCache(CacheDisk disk, long limitBytes) {
        this.disk = disk;
        this.root = disk.folder().root();
        this.limitBytes = limitBytes;
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

    /** Returns where it lies. */
    public Path folder() {
        return root;
    }

    /**
     * Returns the code for a key: that of {@code name:version}, or of a bare name, which means the newest version here
     * that was ever the newest.
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
                found = read(held, trust); // Under the lock: it may have been replaced just now.
            }
            if (found == null) {
                dropDamaged(held);
            } else {
                index.used(held);
                disk.markUsed(held);
            }
        }
        return found;
    }

    /** Returns null when its files are not what they were. */
    private @Nullable ServicePackage read(Held held, TrustPolicy trust) throws CodeRefusedException {
        try {
            byte[] bytes = SmallFile.read(held.folder().manifest(held.id()), Manifest.MAX_BYTES);
            Path file = held.folder().signature(held.id());
            byte[] signature = Files.exists(file) ? SmallFile.read(file, Signature.MAX_BYTES) : null;
            Manifest manifest = trust.verify(bytes, signature);
            Path jar = held.jar();
            boolean same = manifest.id().equals(held.id())
                    && manifest.jarSha256().equals(held.sha256())
                    && Files.size(jar) == held.bytes()
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

    /** Returns all versions here, by name and version. */
    public synchronized List<ServiceId> contents() {
        return index.contents();
    }

    /**
     * Returns the file behind a repository path ({@code services/..., keys/...}, without a slash before it) for serving
     * it to other nodes; null when there is none, or the path is not one of a repository. Only versions that {@code
     * served} names are given; a bare name's key means the newest of them.
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

    /** Returns what a path can mean, best first. */
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

    /** Returns the version that a bare name has meant here last; null if none. */
    synchronized @Nullable String newest(String name) {
        return index.newest(name);
    }

    /** Returns the lock that is held while a jar is downloaded: versions and keys that share it share the download. */
    Lock download(String sha256) {
        return downloads.get(sha256);
    }

    /** Returns a jar that is here, whole, under whatever name; null if there is none. */
    @Nullable
    Path wholeJar(String sha256) {
        Held held;
        synchronized (this) {
            held = index.withJar(sha256);
            if (held != null) {
                index.used(held); // So that it goes last while it is taken for another version too.
            }
        }
        try {
            Path jar = held == null ? null : held.jar();
            return jar != null && CacheFolder.sha256(jar).equals(sha256) ? jar : null;
        } catch (IOException e) {
            return null;
        }
    }

    /**
     * Returns a file that does not exist, for the download of a jar. Makes room for it.
     *
     * @throws IOException in one line, if there is no room or it cannot be written
     */
    synchronized Path newDownload(long jarBytes) throws IOException {
        makeRoom(jarBytes);
        return disk.newDownload(jarBytes);
    }

    /**
     * Returns another one, past the cache's folder.
     *
     * @param file that could not be written
     * @throws LocalException {@code why}, if that one was past it already
     */
    synchronized Path newDownloadElsewhere(Path file, LocalException why) throws IOException, LocalException {
        if (!file.startsWith(root)) {
            throw why;
        }
        return disk.newDownloadElsewhere(why.reason());
    }

    /**
     * Takes verified code in.
     *
     * @param jar one that {@link #newDownload}, {@link #newDownloadElsewhere} or {@link #wholeJar} named, with the
     *     manifest's digest
     * @param newest whether the bare name means this version from now on
     * @throws IOException in one line, if there is no room, or it can be written neither here nor elsewhere
     */
    synchronized ServicePackage put(
            Manifest manifest, byte[] bytes, byte @Nullable [] signature, Path jar, boolean newest, String source)
            throws IOException, CodeRefusedException {
        ServiceId id = manifest.id();
        String sha256 = manifest.jarSha256();
        Held before = index.held(id);
        if (before != null && !before.sha256().equals(sha256)) {
            removeHeld(before);
        }
        boolean known = index.withJar(sha256) != null;
        makeRoom(known ? 0 : manifest.jarBytes());
        Held held = disk.store(manifest, bytes, signature, jar, known);
        index.put(held);
        if (newest && !id.version().equals(index.newest(id.name()))) {
            index.setNewest(id.name(), id.version());
            disk.putNewest(id);
        }
        String publisher =
                signature == null ? null : Signature.decode(signature).keyId();
        return new ServicePackage(manifest, publisher, held.jar(), source);
    }

    private void makeRoom(long moreBytes) throws IOException {
        List<Held> evicted = index.toEvict(moreBytes, limitBytes);
        if (evicted == null) {
            throw new IOException("code cache " + root + ": no room for " + moreBytes + " bytes beside "
                    + index.bytes() + " of its limit of " + limitBytes
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
