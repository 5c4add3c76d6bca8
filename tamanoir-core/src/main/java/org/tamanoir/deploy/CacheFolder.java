package org.tamanoir.deploy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
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
    /** Downloads that broke off and are kept to be resumed. */
    static final int MAX_PARTIALS = 8;

    private static final int BUFFER_OCTETS = 64 * 1024;

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

    Path partial(String sha256) {
        return root.resolve("partial").resolve(sha256);
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
        for (String folder : List.of("jars", "services", "partial", "newest", "tmp")) {
            Files.createDirectories(root.resolve(folder));
        }
        for (Path left : children(root.resolve("tmp"))) {
            deleteTree(left);
        }
        List<Path> partials = new ArrayList<>(children(root.resolve("partial")));
        partials.sort(Comparator.comparing(CacheFolder::lastUsed).reversed());
        for (Path old : partials.subList(Math.min(MAX_PARTIALS, partials.size()), partials.size())) {
            deleteTree(old);
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

    List<Path> partials() {
        return children(root.resolve("partial"));
    }

    /** Names that have a newest version. */
    List<String> newestNames() {
        return children(root.resolve("newest")).stream()
                .map(file -> file.getFileName().toString())
                .toList();
    }

    /** The version of {@link #putNewest}; null if there is none that can be read. */
    @Nullable
    String newestOf(String name) {
        try {
            String version = new String(read(newest(name), ServiceId.MAX_VERSION + 1), StandardCharsets.US_ASCII);
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
            Path copy = temporary();
            try {
                Files.copy(from, copy);
                sync(copy);
                move(copy, jar);
            } finally {
                Files.deleteIfExists(copy);
            }
            return;
        }
        sync(from);
        move(from, jar);
    }

    void putVersion(ServiceId id, byte[] manifest, byte @Nullable [] signature) throws IOException {
        Path made = temporary();
        Path old = temporary();
        try {
            Files.createDirectory(made);
            write(made.resolve("manifest.json"), manifest);
            if (signature != null) {
                write(made.resolve("manifest.sig"), signature);
            }
            Path place = version(id);
            Files.createDirectories(root.resolve("services").resolve(id.name()));
            if (Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
                move(place, old); // A folder cannot be renamed over another one.
            }
            move(made, place);
        } finally {
            deleteTree(made);
            deleteTree(old);
        }
    }

    void putNewest(String name, String version) throws IOException {
        Path made = temporary();
        try {
            write(made, (version + "\n").getBytes(StandardCharsets.US_ASCII));
            move(made, newest(name));
        } finally {
            Files.deleteIfExists(made);
        }
    }

    void removeVersion(ServiceId id) throws IOException {
        Path gone = temporary();
        try {
            move(version(id), gone);
        } catch (NoSuchFileException e) {
            return;
        }
        deleteTree(gone);
        Path name = root.resolve("services").resolve(id.name());
        if (children(name).isEmpty()) {
            deleteTree(name);
        }
    }

    private Path temporary() {
        return root.resolve("tmp").resolve(UUID.randomUUID().toString());
    }

    private static void move(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            throw new IOException(from + " cannot be renamed to " + to + ": the cache must lie on one file system", e);
        }
    }

    private static void write(Path file, byte[] octets) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer left = ByteBuffer.wrap(octets);
            while (left.hasRemaining()) {
                channel.write(left);
            }
            channel.force(true);
        }
    }

    private static void sync(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    /** A small file. @throws IOException also when it has more octets */
    static byte[] read(Path file, int maxOctets) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] octets = in.readNBytes(maxOctets + 1);
            if (octets.length > maxOctets) {
                throw new IOException(file + " has more than " + maxOctets + " octets");
            }
            return octets;
        }
    }

    /** In hexadecimal. */
    static String sha256(Path file) throws IOException {
        MessageDigest digest = Sha256.digest();
        byte[] buffer = new byte[BUFFER_OCTETS];
        try (InputStream in = Files.newInputStream(file)) {
            int octets;
            while ((octets = in.read(buffer)) >= 0) {
                digest.update(buffer, 0, octets);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    static FileTime lastUsed(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException e) {
            return FileTime.fromMillis(0);
        }
    }

    static void deleteTree(Path top) throws IOException {
        if (!Files.exists(top, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Files.walkFileTree(top, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e) throws IOException {
                Files.deleteIfExists(folder);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static List<Path> children(Path folder) {
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            List<Path> children = new ArrayList<>();
            stream.forEach(children::add);
            return children;
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            return List.of();
        }
    }
}
