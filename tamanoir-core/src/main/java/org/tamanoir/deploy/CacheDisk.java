package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.CacheIndex.Held;

/**
 * Where a {@link CodeCache} writes: its folder, locked against other processes, or a temporary one while that cannot
 * be written or another process has the lock.
 *
 * <p>Thread contract: one thread at a time.
 */
final class CacheDisk implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CacheDisk.class);

    /** Begins the names of temporary folders. In each its process locks a file as long as it lives. */
    private static final String TEMPORARY = "tamanoir-code-";

    private final CacheFolder folder;
    private final Path temporaryParent;
    private @Nullable FileChannel lockFile;
    private @Nullable CacheFolder temporary;
    private @Nullable FileChannel temporaryLock;
    private boolean writable;
    /** Another process has the lock. */
    private boolean isBeside;

    private boolean reported;

    private CacheDisk(CacheFolder folder, Path temporaryParent) {
        this.folder = folder;
        this.temporaryParent = temporaryParent;
    }

    /** Opens the folder. @param temporaryParent where a temporary folder is made when it is needed */
    static CacheDisk open(Path root, Path temporaryParent) throws IOException {
        CacheDisk disk = new CacheDisk(new CacheFolder(root), temporaryParent);
        disk.make();
        if (!disk.lock()) {
            throw new IOException("code cache " + root
                    + ": another process uses it; end that one, or give each node a folder of its own");
        }
        return disk;
    }

    /** Opens the folder to read it, and to write it as soon as no other process does. */
    static CacheDisk openBeside(Path root, Path temporaryParent) {
        CacheDisk disk = new CacheDisk(new CacheFolder(root), temporaryParent);
        try {
            disk.make();
        } catch (IOException e) {
            LOG.warn("{}; new code is kept only until this process ends", e.getMessage());
            disk.reported = true;
            return disk;
        }
        if (!disk.lock()) {
            disk.isBeside = true;
            LOG.info(
                    "code cache {}: another process uses it; until that one ends, what is there is read and new code is "
                            + "kept in a temporary folder",
                    root);
        }
        return disk;
    }

    private void make() throws IOException {
        Path root = folder.root();
        removeStale(temporaryParent);
        try {
            Files.createDirectories(root);
        } catch (IOException e) {
            String why = e instanceof FileAlreadyExistsException
                    ? "it is no folder"
                    : e instanceof AccessDeniedException ? "no permission" : oneLine(e);
            throw new IOException(
                    "code cache " + root + ": cannot be made: " + why + "; name a folder that can be had", e);
        }
    }

    /** Locks the folder, and lets it be written if it can; false while another process has the lock. */
    private boolean lock() {
        try {
            FileChannel file = locked(folder.root(), StandardOpenOption.CREATE);
            if (file == null) {
                return false;
            }
            lockFile = file;
            folder.prepare();
            writable = true;
        } catch (IOException e) {
            cannotWrite(e);
        }
        return true;
    }

    /** Returns the lock file of a folder, locked; null when another process has it. */
    private static @Nullable FileChannel locked(Path root, OpenOption... how) throws IOException {
        Set<OpenOption> options = new HashSet<>(List.of(how));
        options.addAll(List.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        FileChannel file = FileChannel.open(root.resolve("lock"), options);
        try {
            if (file.tryLock() != null) {
                return file;
            }
        } catch (OverlappingFileLockException e) {
            // Of this process.
        }
        file.close();
        return null;
    }

    /** Removes temporary folders of this user whose processes ended without doing so. */
    private static void removeStale(Path temporaryParent) {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(temporaryParent, TEMPORARY + "*")) {
            for (Path each : left) {
                boolean isOwn = Files.getOwner(each, LinkOption.NOFOLLOW_LINKS)
                        .getName()
                        .equals(System.getProperty("user.name"));
                if (!isOwn || !Files.isRegularFile(each.resolve("lock"), LinkOption.NOFOLLOW_LINKS)) {
                    continue;
                }
                try (FileChannel lock = locked(each)) {
                    if (lock != null) {
                        SmallFile.remove(each);
                    }
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.debug("temporary folders in {} stay: {}", temporaryParent, e.toString());
        }
    }

    CacheFolder folder() {
        return folder;
    }

    boolean isWritable() {
        if (isBeside && lock()) {
            isBeside = false; // The other process has ended.
        }
        return writable;
    }

    /** Returns the versions whose files are whole, the one used least recently first; the rest is removed. */
    List<Held> load() {
        List<Held> found = new ArrayList<>();
        for (ServiceId id : folder.versions()) {
            Held held = whole(id);
            if (held != null) {
                found.add(held);
            } else if (writable) {
                tryTo(() -> folder.removeVersion(id));
            }
        }
        Set<Path> used = new HashSet<>();
        found.forEach(held -> used.add(held.jar()));
        for (Path jar : writable ? folder.jars() : List.<Path>of()) {
            if (!used.contains(jar)) {
                tryTo(() -> SmallFile.remove(jar));
            }
        }
        found.sort(Comparator.comparing(held -> CacheFolder.lastUsed(held.jar())));
        return found;
    }

    private @Nullable Held whole(ServiceId id) {
        try {
            Manifest manifest = Manifest.decode(SmallFile.read(folder.manifest(id), Manifest.MAX_BYTES));
            Path jar = folder.jar(manifest.jarSha256());
            boolean whole =
                    manifest.id().equals(id) && Files.isRegularFile(jar) && Files.size(jar) == manifest.jarBytes();
            return whole ? new Held(id, manifest.jarSha256(), manifest.jarBytes(), folder) : null;
        } catch (IOException | CodeRefusedException e) {
            return null;
        }
    }

    /** Returns a file that does not exist, for the download of a jar. */
    Path newDownload(long jarBytes) throws IOException {
        return (isWritable() && hasSpace(jarBytes) ? folder : temporary()).newFile();
    }

    /** Returns another one, past the cache's folder, which could not be written. */
    Path newDownloadElsewhere(IOException why) throws IOException {
        cannotWrite(why);
        return temporary().newFile();
    }

    private boolean hasSpace(long jarBytes) {
        try {
            long bytes = Files.getFileStore(folder.root()).getUsableSpace();
            if (bytes >= jarBytes) {
                return true;
            }
            cannotWrite(new IOException("its disk has " + bytes + " bytes left for a jar of " + jarBytes));
            return false;
        } catch (IOException e) {
            return true; // Writing will say.
        }
    }

    /**
     * Writes a version, and its jar under its digest.
     *
     * @param jar where it is
     * @param known whether other versions have this jar
     * @throws IOException in one line, if it can be written neither in the cache's folder nor in a temporary one
     */
    Held store(Manifest manifest, byte[] bytes, byte @Nullable [] signature, Path jar, boolean known)
            throws IOException {
        String sha256 = manifest.jarSha256();
        if (writable && jar.startsWith(folder.root())) {
            Held held = new Held(manifest.id(), sha256, manifest.jarBytes(), folder);
            try {
                store(held, bytes, signature, jar);
                return held;
            } catch (IOException e) {
                cannotWrite(e);
            }
        }
        Held held = new Held(manifest.id(), sha256, manifest.jarBytes(), temporary());
        store(held, bytes, signature, Files.exists(jar) ? jar : folder.jar(sha256));
        if (!known && isWritable()) { // Else the other process' jar would go.
            tryTo(() -> Files.deleteIfExists(folder.jar(sha256)));
        }
        return held;
    }

    private static void store(Held held, byte[] bytes, byte @Nullable [] signature, Path jar) throws IOException {
        held.folder().putJar(jar, held.sha256());
        held.folder().putVersion(held.id(), bytes, signature);
    }

    void putNewest(ServiceId id) {
        if (isWritable()) {
            tryTo(() -> folder.putNewest(id.name(), id.version()));
        }
    }

    void remove(Held held, boolean jarToo) {
        if (held.folder() == folder && !isWritable()) {
            return; // Another process may write it.
        }
        tryTo(() -> held.folder().removeVersion(held.id()));
        if (jarToo) {
            tryTo(() -> Files.deleteIfExists(held.jar()));
        }
    }

    /** Keeps when a jar was used last over a restart. */
    void markUsed(Held held) {
        try {
            if (isWritable()) {
                Files.setLastModifiedTime(held.jar(), FileTime.from(Instant.now()));
            }
        } catch (IOException e) {
            LOG.debug("code cache {}: last use of {} is not kept: {}", folder.root(), held.id(), e.toString());
        }
    }

    private CacheFolder temporary() throws IOException {
        CacheFolder made = temporary;
        if (made == null) {
            try {
                made = new CacheFolder(Files.createTempDirectory(temporaryParent, TEMPORARY));
                temporary = made;
                temporaryLock = locked(made.root(), StandardOpenOption.CREATE);
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

    private void cannotWrite(IOException e) {
        if (!reported) {
            reported = true;
            LOG.warn(
                    "code cache {}: cannot be written: {}; new code is kept only until this process ends: free space "
                            + "or make the folder writable",
                    folder.root(),
                    oneLine(e));
        }
    }

    private interface Change {
        void make() throws IOException;
    }

    private void tryTo(Change change) {
        try {
            change.make();
        } catch (IOException e) {
            cannotWrite(e);
        }
    }

    /** Returns a file's error with its kind, which the JDK puts into the class name. */
    static String oneLine(IOException e) {
        boolean isPlain = e.getClass() == FileSystemException.class || !(e instanceof FileSystemException);
        return isPlain ? "" + e.getMessage() : e.getClass().getSimpleName() + ": " + e.getMessage();
    }

    /** Gives the folder free, and removes the temporary one. */
    @Override
    public void close() {
        try {
            if (temporary != null) {
                SmallFile.remove(temporary.root());
            }
            if (temporaryLock != null) {
                temporaryLock.close();
            }
            if (lockFile != null) {
                lockFile.close(); // With its lock.
            }
        } catch (IOException e) {
            LOG.warn("code cache {}: {}", folder.root(), oneLine(e));
        }
    }
}
