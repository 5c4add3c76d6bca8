package org.tamanoir.repository;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.Refusal;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.Signature;
import org.tamanoir.deploy.SmallFile;

/**
 * A repository on disk. It is plain files, so that any web server with a copy of them is a mirror:
 *
 * <pre>
 * index.json                                     see {@link Index}
 * keys/&lt;16 hex digits&gt;                           copy of the manifest for name:version, or of the newest for name
 * services/&lt;name&gt;/&lt;version&gt;/manifest.json       these three never change once they are there
 * services/&lt;name&gt;/&lt;version&gt;/manifest.sig
 * services/&lt;name&gt;/&lt;version&gt;/&lt;name&gt;-&lt;version&gt;.jar
 * services/&lt;name&gt;/&lt;version&gt;/yanked              there when it is: the reason
 * formats.json, formats/&lt;24 hex digits&gt;          see {@link FormatFolder}
 * .staging/                                      what is not whole yet; emptied at opening
 * .lock                                          held by the process that writes
 * </pre>
 *
 * <p>A version comes into being by one rename(2) of its folder, whole and on disk. Keys and index are rewritten
 * after it, each by a rename, so they never name what is not there; should that fail or the process be killed in
 * between, they are written anew by the next change or the next opening. For the same reason they are not forced to
 * the disk.
 *
 * <p>Thread contract: any thread; calls block on the disk. One process at a time, which a lock file holds.
 */
public final class RepositoryTree implements AutoCloseable {
    /** What became of a version that was to be published. */
    public enum Outcome {
        /** It is new. */
        CREATED,
        /** Exactly this was there already. */
        SAME
    }

    static final String MANIFEST = "manifest.json";
    static final String SIGNATURE = "manifest.sig";
    static final String YANKED = "yanked";
    /** A reason's characters have at most 4 bytes in UTF-8. */
    static final int MAX_YANKED_BYTES = 4 * IndexEntry.MAX_REASON + 2;

    static final Pattern KEY_PATH = Pattern.compile("keys/[0-9a-f]{16}");
    private static final Pattern VERSION_PATH = Pattern.compile("services/([^/]+)/([^/]+)/([^/]+)");

    private final Path root;
    private final Path staging;
    private final FileChannel lockFile;
    private final AtomicLong stagingNumber = new AtomicLong();
    /** Written under this object's monitor. */
    private final VersionTable versions = new VersionTable();

    private final DerivedFiles derived;
    private final FormatFolder formats;

    /**
     * Opens or makes a repository, and puts in order what a crash left.
     *
     * @throws IOException in one line, if it cannot be written or another process has it
     */
    public static RepositoryTree open(Path root) throws IOException {
        try {
            Files.createDirectories(root);
            Path real = root.toRealPath();
            FileChannel lockFile =
                    FileChannel.open(real.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            try {
                requireLock(root, lockFile);
                return new RepositoryTree(real, lockFile);
            } catch (IOException | RuntimeException e) {
                lockFile.close();
                throw e;
            }
        } catch (java.nio.file.FileSystemException e) {
            throw new IOException(
                    "repository " + root + ": cannot be opened for writing: "
                            + (e.getReason() == null ? "it is no folder, or not permitted" : e.getReason())
                            + "; choose a folder of this user's",
                    e);
        }
    }

    private static void requireLock(Path root, FileChannel lockFile) throws IOException {
        FileLock lock;
        try {
            lock = lockFile.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            throw new IOException("repository " + root + ": another process has it open; end that one, or choose "
                    + "another folder");
        }
    }

    private RepositoryTree(Path root, FileChannel lockFile) throws IOException {
        this.root = root;
        this.lockFile = lockFile;
        staging = root.resolve(".staging");
        SmallFile.remove(staging);
        for (String folder : List.of(".staging", "keys", "services")) {
            if (!Disk.isFolder(root.resolve(folder))) {
                Files.createDirectory(root.resolve(folder));
            }
        }
        for (IndexEntry entry : TreeScan.versions(root.resolve("services"))) {
            versions.put(entry);
        }
        derived = new DerivedFiles(root, versions, this::newStagingPath);
        derived.rewriteAll();
        formats = new FormatFolder(root, this::newStagingPath);
    }

    /** Returns its formats. */
    FormatFolder formats() {
        return formats;
    }

    /** Returns its folder, with all links resolved. */
    public Path root() {
        return root;
    }

    /** Returns a file or folder of its own for what is not whole yet, on the same disk. */
    Path newStagingPath() {
        return staging.resolve(String.valueOf(stagingNumber.incrementAndGet()));
    }

    /** Returns all versions, by name and version. */
    public List<IndexEntry> entries() {
        return versions.entries();
    }

    /** Returns one version; null = not here. */
    public @Nullable IndexEntry find(ServiceId id) {
        return versions.find(id);
    }

    /** Returns the newest version that is not yanked; null = none. */
    public @Nullable IndexEntry newest(String name) {
        return versions.newest(name);
    }

    /** Returns how many versions it has. */
    int size() {
        return versions.size();
    }

    /** Returns the file {@code index.json}; another one as soon as a version or its yank is. */
    TreeFile index() {
        return derived.index();
    }

    /**
     * Publishes a version. Whether the publisher may is the caller's to have decided.
     *
     * @param jar taken over if the outcome is {@link Outcome#CREATED}; null = not at hand
     * @param published null = now
     * @throws ConflictException if other content is there under this name and version
     * @throws CodeRefusedException if manifest, signature and jar do not belong together
     * @throws NoSuchFileException if it is new and {@code jar} is null
     */
    Outcome publish(byte[] manifest, byte[] signature, @Nullable StagedJar jar, @Nullable Instant published)
            throws IOException, ConflictException, CodeRefusedException {
        Manifest decoded = Manifest.decode(manifest);
        String publisher = Signature.decode(signature).keyId();
        if (isThere(decoded.id(), manifest, signature)) {
            return Outcome.SAME;
        }
        if (jar == null) {
            throw new NoSuchFileException(decoded.jarSha256());
        }
        requireSame(decoded, jar);
        Instant time = (published == null ? Instant.now() : published).truncatedTo(ChronoUnit.SECONDS);
        Path folder = newStagingPath();
        try {
            Files.createDirectory(folder);
            SmallFile.create(folder.resolve(MANIFEST), manifest);
            Files.setLastModifiedTime(folder.resolve(MANIFEST), FileTime.from(time)); // Survives: TreeScan reads it.
            SmallFile.create(folder.resolve(SIGNATURE), signature);
            Disk.rename(jar.file(), folder.resolve(decoded.id().jarName()));
            SmallFile.sync(folder.resolve(decoded.id().jarName()));
            SmallFile.sync(folder);
            return commit(folder, IndexEntry.of(decoded, publisher, time, null), manifest, signature);
        } finally {
            SmallFile.remove(folder);
        }
    }

    private static void requireSame(Manifest manifest, StagedJar jar) throws CodeRefusedException {
        if (jar.bytes() != manifest.jarBytes()) {
            throw new CodeRefusedException(
                    Refusal.WRONG_SIZE,
                    manifest.id() + ": the jar has " + jar.bytes() + " bytes, its manifest says " + manifest.jarBytes()
                            + "; publish the jar that was signed");
        }
        if (!jar.sha256().equals(manifest.jarSha256())) {
            throw new CodeRefusedException(
                    Refusal.WRONG_DIGEST,
                    manifest.id() + ": the jar's SHA-256 is " + jar.sha256() + ", its manifest says "
                            + manifest.jarSha256() + "; publish the jar that was signed");
        }
    }

    private synchronized Outcome commit(Path folder, IndexEntry entry, byte[] manifest, byte[] signature)
            throws IOException, ConflictException {
        ServiceId id = entry.id();
        if (isThere(id, manifest, signature)) {
            return Outcome.SAME;
        }
        requireRoom(id);
        Path services = root.resolve("services");
        Path parent = services.resolve(id.name());
        if (!Disk.isFolder(parent)) {
            Files.createDirectory(parent);
            SmallFile.sync(services);
        }
        Path target = root.resolve(id.path());
        if (Files.exists(target)) {
            throw new ConflictException(
                    id + ": " + target + " is there and holds no whole version; remove that folder");
        }
        Disk.rename(folder, target);
        versions.put(entry);
        boolean lagged = derived.markStale();
        SmallFile.sync(parent);
        derived.rewrite(id, lagged);
        return Outcome.CREATED;
    }

    private void requireRoom(ServiceId id) throws IOException, ConflictException {
        if (size() >= Index.MAX_VERSIONS) {
            throw new IOException("the repository is full: it holds " + Index.MAX_VERSIONS + " versions at most");
        }
        for (String text : List.of(id.toString(), id.name())) {
            String owner = versions.owner(ServiceKey.of(text));
            if (owner != null && !owner.equals(text)) {
                throw new ConflictException(
                        text + " has the same key as " + owner + ", which is here; choose another name or version");
            }
        }
    }

    private synchronized boolean isThere(ServiceId id, byte[] manifest, byte[] signature)
            throws IOException, ConflictException {
        if (find(id) == null) {
            return false;
        }
        Path folder = root.resolve(id.path());
        if (!Arrays.equals(Disk.read(folder.resolve(MANIFEST), Manifest.MAX_BYTES), manifest)
                || !Arrays.equals(Disk.read(folder.resolve(SIGNATURE), Signature.MAX_BYTES), signature)) {
            throw new ConflictException(
                    id + " is published already, with other content; a version never changes: give this one a new "
                            + "version");
        }
        derived.rewriteIfStale();
        return true;
    }

    /**
     * Withdraws a version from new streams: the bare name then means the newest that is left. Who asks for exactly
     * this version still gets it.
     *
     * @throws NoSuchFileException if it is not here
     */
    void yank(ServiceId id, String reason) throws IOException {
        setYanked(id, IndexEntry.requireReason(reason));
    }

    /** Takes {@link #yank} back. */
    void unyank(ServiceId id) throws IOException {
        setYanked(id, null);
    }

    private synchronized void setYanked(ServiceId id, @Nullable String reason) throws IOException {
        IndexEntry entry = find(id);
        if (entry == null) {
            throw new NoSuchFileException(id.toString());
        }
        Path folder = root.resolve(id.path());
        if (reason == null) {
            Files.deleteIfExists(folder.resolve(YANKED));
        } else {
            Path file = newStagingPath();
            SmallFile.create(file, (reason + "\n").getBytes(StandardCharsets.UTF_8));
            Disk.rename(file, folder.resolve(YANKED));
        }
        versions.put(entry.withYanked(reason));
        boolean lagged = derived.markStale();
        SmallFile.sync(folder);
        derived.rewrite(id, lagged);
    }

    /**
     * Returns a file of the tree as it is served; null for all that is none. Only what the tree knows is ever looked
     * at, so no path leads out of it, to hidden files or through a symbolic link.
     */
    @Nullable
    TreeFile file(String path) throws IOException {
        if (path.equals("index.json")) {
            return derived.index();
        }
        if (path.startsWith("formats")) {
            return formats.file(path);
        }
        try {
            if (KEY_PATH.matcher(path).matches()) {
                return small(root.resolve(path), Manifest.MAX_BYTES, false, TreeFile.JSON);
            }
            Matcher version = VERSION_PATH.matcher(path);
            return version.matches() ? file(new ServiceId(version.group(1), version.group(2)), version.group(3)) : null;
        } catch (IllegalArgumentException | NoSuchFileException e) {
            return null;
        }
    }

    private @Nullable TreeFile file(ServiceId id, String name) throws IOException {
        IndexEntry entry = find(id);
        if (entry == null) {
            return null;
        }
        Path folder = root.resolve(id.path());
        return switch (name) {
            case MANIFEST -> small(folder.resolve(name), Manifest.MAX_BYTES, true, TreeFile.JSON);
            case SIGNATURE -> small(folder.resolve(name), Signature.MAX_BYTES, true, TreeFile.TEXT);
            case YANKED -> small(folder.resolve(name), MAX_YANKED_BYTES, false, TreeFile.TEXT);
            default -> name.equals(id.jarName()) ? jar(folder.resolve(name), entry) : null;
        };
    }

    private @Nullable TreeFile small(Path file, int maxBytes, boolean immutable, String type) throws IOException {
        return isInside(file) ? TreeFile.of(file, Disk.read(file, maxBytes), immutable, type) : null;
    }

    private @Nullable TreeFile jar(Path file, IndexEntry entry) throws IOException {
        return isInside(file) ? new TreeFile(null, file, entry.bytes(), entry.sha256(), true, TreeFile.JAR) : null;
    }

    private static boolean isInside(Path file) throws IOException {
        return Disk.isFile(file) && file.toRealPath().equals(file);
    }

    /** Gives the folder free for another process. */
    @Override
    public void close() throws IOException {
        lockFile.close();
    }
}
