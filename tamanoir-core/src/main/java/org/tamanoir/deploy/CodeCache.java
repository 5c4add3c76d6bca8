package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Comparator;
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

    private final CacheFolder folder;
    private final Path temporaryParent;
    private final long limitOctets;
    private final CacheIndex index = new CacheIndex();
    /** Digests of the jars that are being downloaded. */
    private final Set<String> downloads = new HashSet<>();

    private @Nullable FileChannel lockFile;
    private @Nullable CacheFolder temporary;
    private boolean writable;
    private boolean reported;

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
        CodeCache cache = new CodeCache(new CacheFolder(folder), limitOctets, temporaryParent);
        try {
            cache.begin();
        } catch (IOException | RuntimeException e) {
            cache.close();
            throw e;
        }
        return cache;
    }

    /** Where it lies. */
    public Path folder() {
        return folder.root();
    }

    private CodeCache(CacheFolder folder, long limitOctets, Path temporaryParent) {
        this.folder = folder;
        this.limitOctets = limitOctets;
        this.temporaryParent = temporaryParent;
    }

    private synchronized void begin() throws IOException {
        Path root = folder.root();
        try {
            Files.createDirectories(root);
        } catch (IOException e) {
            throw new IOException(
                    "code cache " + root + ": cannot be made: " + oneLine(e) + "; name a folder that can be had", e);
        }
        try {
            lockFile = FileChannel.open(
                    root.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            lock(lockFile, root);
            folder.prepare();
            writable = true;
        } catch (LockedException e) {
            throw e;
        } catch (IOException e) {
            cannotWrite(e);
        }
        load();
    }

    private static void lock(FileChannel file, Path root) throws IOException {
        FileLock lock;
        try {
            lock = file.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            throw new LockedException("code cache " + root
                    + ": another process uses it; end that one, or give each node a folder of its own");
        }
    }

    /** Reads what is whole, and removes the rest. */
    private void load() throws IOException {
        List<Held> found = new java.util.ArrayList<>();
        for (ServiceId id : folder.versions()) {
            Held held = whole(id);
            if (held != null) {
                found.add(held);
            } else if (writable) {
                remove(() -> folder.removeVersion(id));
            }
        }
        found.sort(Comparator.comparing(held -> CacheFolder.lastUsed(folder.jar(held.sha256()))));
        Set<Path> used = new HashSet<>();
        for (Held held : found) {
            index.put(held);
            used.add(folder.jar(held.sha256()));
        }
        for (Path jar : writable ? folder.jars() : List.<Path>of()) {
            if (!used.contains(jar)) {
                remove(() -> CacheFolder.deleteTree(jar));
            }
        }
        for (String name : folder.newestNames()) {
            String version = folder.newestOf(name);
            if (version != null) {
                index.setNewest(name, version);
            }
        }
        if (writable) {
            makeRoom(0);
        }
    }

    private @Nullable Held whole(ServiceId id) {
        try {
            Manifest manifest = Manifest.decode(CacheFolder.read(folder.manifest(id), Manifest.MAX_OCTETS));
            boolean whole = manifest.id().equals(id)
                    && Files.isRegularFile(folder.jar(manifest.jarSha256()))
                    && Files.size(folder.jar(manifest.jarSha256())) == manifest.jarOctets();
            return whole ? new Held(id, manifest.jarSha256(), manifest.jarOctets(), folder) : null;
        } catch (IOException | CodeRefusedException e) {
            return null;
        }
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
                LOG.warn("code cache {}: {} was altered on disk; removed", folder.root(), held.id());
                dropDamaged(held);
            } else {
                index.used(held);
                markUsed(held);
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
            Path jar = held.folder().jar(held.sha256());
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
        Held held = held(parsed, served);
        if (held == null || !served.test(held.id())) {
            return null;
        }
        Path file = switch (parsed.kind()) {
            case KEY, MANIFEST -> held.folder().manifest(held.id());
            case SIGNATURE -> held.folder().signature(held.id());
            case JAR -> held.folder().jar(held.sha256());
        };
        return Files.isRegularFile(file) ? file : null;
    }

    private synchronized @Nullable Held held(RepositoryPath path, Predicate<ServiceId> served) {
        ServiceId id = path.id();
        if (id != null) {
            return index.held(id);
        }
        Held newest = index.newestServed(path.key(), served);
        return newest != null ? newest : index.byKey(path.key());
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
        boolean jarToo = index.remove(held.id());
        remove(() -> held.folder().removeVersion(held.id()));
        if (jarToo) {
            remove(() -> Files.deleteIfExists(held.folder().jar(held.sha256())));
        }
    }

    /** The version that a bare name has meant here last; null if none. */
    synchronized @Nullable String newest(String name) {
        return index.newest(name);
    }

    /** The folder of the cache, for messages. */
    Path root() {
        return folder.root();
    }

    /**
     * Waits until nobody else downloads this jar, and takes its download, which {@link #endDownload} gives back.
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
            Path jar = held == null ? null : held.folder().jar(sha256);
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
        trimPartials();
        Path partial = folder.partial(sha256);
        if (!writable || !hasSpace(jarOctets)) {
            return temporary().partial(sha256);
        }
        return partial;
    }

    /** The same, past the cache's folder, which could not be written. */
    synchronized Path temporaryPartial(String sha256, IOException why) throws IOException {
        cannotWrite(why);
        return temporary().partial(sha256);
    }

    private boolean hasSpace(long jarOctets) {
        try {
            long octets = Files.getFileStore(folder.root()).getUsableSpace();
            if (octets >= jarOctets) {
                return true;
            }
            cannotWrite(new IOException("its disk has " + octets + " octets left, a jar of " + jarOctets + " came"));
            return false;
        } catch (IOException e) {
            return true; // Writing will say.
        }
    }

    private void trimPartials() {
        List<Path> kept = folder.partials().stream()
                .filter(file -> !downloads.contains(file.getFileName().toString()))
                .sorted(Comparator.comparing(CacheFolder::lastUsed))
                .toList();
        for (Path old : kept.subList(0, Math.max(0, kept.size() - CacheFolder.MAX_PARTIALS))) {
            remove(() -> Files.deleteIfExists(old));
        }
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
        boolean here = writable && jar.startsWith(folder.root());
        Held held = new Held(id, sha256, manifest.jarOctets(), here ? folder : temporary());
        makeRoom(index.withJar(sha256) == null ? manifest.jarOctets() : 0);
        try {
            store(held, octets, signature, jar);
        } catch (IOException e) {
            if (held.folder() != folder) {
                throw e;
            }
            cannotWrite(e);
            held = new Held(id, sha256, manifest.jarOctets(), temporary());
            store(held, octets, signature, Files.exists(jar) ? jar : folder.jar(sha256));
            if (index.withJar(sha256) == null) {
                remove(() -> Files.deleteIfExists(folder.jar(sha256)));
                remove(() -> Files.deleteIfExists(folder.partial(sha256)));
            }
        }
        index.put(held);
        if (newest) {
            setNewest(id);
        }
        String publisher =
                signature == null ? null : Signature.decode(signature).keyId();
        return new ServicePackage(manifest, publisher, held.folder().jar(sha256), source);
    }

    private static void store(Held held, byte[] octets, byte @Nullable [] signature, Path jar) throws IOException {
        held.folder().putJar(jar, held.sha256());
        held.folder().putVersion(held.id(), octets, signature);
    }

    private void setNewest(ServiceId id) {
        if (id.version().equals(index.newest(id.name()))) {
            return;
        }
        index.setNewest(id.name(), id.version());
        try {
            if (writable) {
                folder.putNewest(id.name(), id.version());
            }
        } catch (IOException e) {
            cannotWrite(e);
        }
    }

    private void makeRoom(long moreOctets) throws IOException {
        List<Held> evicted = index.toEvict(moreOctets, limitOctets);
        if (evicted == null) {
            throw new IOException("code cache " + folder.root() + ": no room for " + moreOctets + " octets beside "
                    + index.octets() + " of its limit of " + limitOctets
                    + "; what is loaded stays: raise the limit or undeploy services");
        }
        evicted.forEach(this::removeHeld);
    }

    private CacheFolder temporary() throws IOException {
        CacheFolder made = temporary;
        if (made == null) {
            try {
                made = new CacheFolder(Files.createTempDirectory(temporaryParent, "tamanoir-code-"));
                temporary = made;
                made.prepare();
            } catch (IOException e) {
                throw new IOException(
                        "code cache " + folder.root() + " cannot be written, nor can " + temporaryParent + ": "
                                + oneLine(e) + "; free space, or make one of them writable",
                        e);
            }
        }
        return made;
    }

    private void markUsed(Held held) {
        if (!writable) {
            return;
        }
        try {
            Files.setLastModifiedTime(held.folder().jar(held.sha256()), FileTime.from(Instant.now()));
        } catch (IOException e) {
            LOG.debug("code cache {}: last use of {} is not kept: {}", folder.root(), held.id(), e.toString());
        }
    }

    private void cannotWrite(IOException e) {
        if (!reported) {
            reported = true;
            LOG.warn(
                    "code cache {}: cannot be written: {}; new code is kept until this process ends only: free space "
                            + "or make the folder writable",
                    folder.root(),
                    oneLine(e));
        }
    }

    private interface Removal {
        void run() throws IOException;
    }

    private void remove(Removal removal) {
        try {
            removal.run();
        } catch (IOException e) {
            cannotWrite(e);
        }
    }

    static String oneLine(IOException e) {
        return e instanceof java.nio.file.FileSystemException
                ? e.toString().replace("java.nio.file.", "")
                : "" + e.getMessage();
    }

    /** Gives the folder free for another process. */
    @Override
    public synchronized void close() {
        try {
            if (temporary != null) {
                CacheFolder.deleteTree(temporary.root());
            }
            if (lockFile != null) {
                lockFile.close(); // With its lock.
            }
        } catch (IOException e) {
            LOG.warn("code cache {}: {}", folder.root(), oneLine(e));
        }
    }

    private static final class LockedException extends IOException {
        private static final long serialVersionUID = 1L;

        LockedException(String line) {
            super(line);
        }
    }
}
