package org.tamanoir.deploy;

import com.google.common.hash.Hashing;
import com.google.common.io.MoreFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The files of a {@link CodeCache}, in its layout. Each is written in {@code tmp}, synced, and renamed to its place:
 * there it is whole or not at all.
 *
 * <p>Thread contract: any thread; two that write one file at once are the caller's to avoid.
 */
final class CacheFolder {
    private final Path root;

    CacheFolder(Path root) {
        this.root = root;
    }

    Path root() {
        return root;
    }

    Path jar(String sha256) {
        return root.resolve("jars").resolve(sha256 + ".jar");
    }

    Path manifest(ServiceId id) {
        return version(id).resolve("manifest.json");
    }

    Path signature(ServiceId id) {
        return version(id).resolve("manifest.sig");
    }

    private Path version(ServiceId id) {
        return root.resolve(id.path());
    }

    private Path newest(String name) {
        return root.resolve("newest").resolve(name);
    }

    /** Makes what is missing, and removes what writers left that did not end. */
    void prepare() throws IOException {
        for (String folder : List.of("jars", "services", "newest", "tmp")) {
            Files.createDirectories(root.resolve(folder));
        }
        for (Path left : children(root.resolve("tmp"))) {
            SmallFile.remove(left);
        }
    }

    /** Folders of versions, whole or not. */
    List<ServiceId> versions() {
        List<ServiceId> found = new ArrayList<>();
        for (Path name : children(root.resolve("services"))) {
            for (Path version : children(name)) {
                try {
                    found.add(new ServiceId(
                            name.getFileName().toString(), version.getFileName().toString()));
                } catch (IllegalArgumentException foreign) {
                    continue; // Nothing that the cache wrote; nothing that it will serve.
                }
            }
        }
        return found;
    }

    List<Path> jars() {
        return children(root.resolve("jars"));
    }

    /** Returns names that have a newest version. */
    List<String> newestNames() {
        return children(root.resolve("newest")).stream()
                .map(file -> file.getFileName().toString())
                .toList();
    }

    /** Returns the version of {@link #putNewest}; null if there is none that can be read. */
    @Nullable
    String newestOf(String name) {
        try {
            String version =
                    new String(SmallFile.read(newest(name), ServiceId.MAX_VERSION + 1), StandardCharsets.US_ASCII);
            return new ServiceId(name, version.strip()).version();
        } catch (IOException | IllegalArgumentException e) {
            return null;
        }
    }

    void putJar(Path from, String sha256) throws IOException {
        Path jar = jar(sha256);
        if (from.equals(jar)) {
            return;
        }
        if (!from.startsWith(root)) {
            Path copy = newFile();
            try {
                Files.copy(from, copy);
                SmallFile.sync(copy);
                move(copy, jar);
            } finally {
                Files.deleteIfExists(copy);
            }
            return;
        }
        SmallFile.sync(from);
        move(from, jar);
    }

    void putVersion(ServiceId id, byte[] manifest, byte @Nullable [] signature) throws IOException {
        Path made = newFile();
        Path old = newFile();
        try {
            Files.createDirectory(made);
            SmallFile.create(made.resolve("manifest.json"), manifest);
            if (signature != null) {
                SmallFile.create(made.resolve("manifest.sig"), signature);
            }
            Path place = version(id);
            Files.createDirectories(root.resolve("services").resolve(id.name()));
            if (Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
                move(place, old); // A folder cannot be renamed over another one.
            }
            move(made, place);
        } finally {
            SmallFile.remove(made);
            SmallFile.remove(old);
        }
    }

    void putNewest(String name, String version) throws IOException {
        Path made = newFile();
        try {
            SmallFile.create(made, (version + "\n").getBytes(StandardCharsets.US_ASCII));
            move(made, newest(name));
        } finally {
            Files.deleteIfExists(made);
        }
    }

    void removeVersion(ServiceId id) throws IOException {
        Path gone = newFile();
        try {
            move(version(id), gone);
        } catch (NoSuchFileException e) {
            return;
        }
        SmallFile.remove(gone);
        Path name = root.resolve("services").resolve(id.name());
        if (children(name).isEmpty()) {
            SmallFile.remove(name);
        }
    }

    /** Returns a file or folder that does not exist, for what is not whole yet. */
    Path newFile() {
        return root.resolve("tmp").resolve(UUID.randomUUID().toString());
    }

    private static void move(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            throw new IOException(from + " cannot be renamed to " + to + ": the cache must lie on one file system", e);
        }
    }

    /** Returns the SHA-256 of a file, in hexadecimal. */
    static String sha256(Path file) throws IOException {
        return MoreFiles.asByteSource(file).hash(Hashing.sha256()).toString();
    }

    static FileTime lastUsed(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException e) {
            return FileTime.fromMillis(0);
        }
    }

    private static List<Path> children(Path folder) {
        try {
            return MoreFiles.listFiles(folder);
        } catch (IOException e) {
            return List.of();
        }
    }
}
