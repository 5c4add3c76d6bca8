package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
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
 * be written.
 *
 * <p>Thread contract: one thread at a time.
 */
final class CacheDisk implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CacheDisk.class);

    private final CacheFolder folder;
    private final Path temporaryParent;
    private @Nullable FileChannel lockFile;
    private @Nullable CacheFolder temporary;
    private boolean writable;
    private boolean reported;

    private CacheDisk(CacheFolder folder, Path temporaryParent) {
        this.folder = folder;
        this.temporaryParent = temporaryParent;
    }

    /** Opens the folder. @param temporaryParent where a temporary folder is made when it is needed */
    static CacheDisk open(Path root, Path temporaryParent) throws IOException {
        CacheDisk disk = new CacheDisk(new CacheFolder(root), temporaryParent);
        try {
            Files.createDirectories(root);
        } catch (IOException e) {
            String why = e instanceof FileAlreadyExistsException
                    ? "it is no folder"
                    : e instanceof AccessDeniedException ? "no permission" : oneLine(e);
            throw new IOException(
                    "code cache " + root + ": cannot be made: " + why + "; name a folder that can be had", e);
        }
        FileChannel file;
        try {
            file = FileChannel.open(
                    root.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } catch (IOException e) {
            disk.cannotWrite(e);
            return disk;
        }
        if (!isLocked(file)) {
            file.close();
            throw new IOException("code cache " + root
                    + ": another process uses it; end that one, or give each node a folder of its own");
        }
        disk.lockFile = file;
        try {
            disk.folder.prepare();
            disk.writable = true;
        } catch (IOException e) {
            disk.cannotWrite(e);
        }
        return disk;
    }

    private static boolean isLocked(FileChannel file) throws IOException {
        try {
            FileLock lock = file.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    CacheFolder folder() {
        return folder;
    }

    boolean isWritable() {
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
        return (writable && hasSpace(jarBytes) ? folder : temporary()).newFile();
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
        if (!known) {
            tryTo(() -> Files.deleteIfExists(folder.jar(sha256)));
        }
        return held;
    }

    private static void store(Held held, byte[] bytes, byte @Nullable [] signature, Path jar) throws IOException {
        held.folder().putJar(jar, held.sha256());
        held.folder().putVersion(held.id(), bytes, signature);
    }

    void putNewest(ServiceId id) {
        if (writable) {
            tryTo(() -> folder.putNewest(id.name(), id.version()));
        }
    }

    void remove(Held held, boolean jarToo) {
        tryTo(() -> held.folder().removeVersion(held.id()));
        if (jarToo) {
            tryTo(() -> Files.deleteIfExists(held.jar()));
        }
    }

    /** Keeps when a jar was used last over a restart. */
    void markUsed(Held held) {
        try {
            if (writable) {
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
            if (lockFile != null) {
                lockFile.close(); // With its lock.
            }
        } catch (IOException e) {
            LOG.warn("code cache {}: {}", folder.root(), oneLine(e));
        }
    }
}
