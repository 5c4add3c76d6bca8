package org.tamanoir.repository;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.function.Supplier;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.SmallFile;

/**
 * The files of a repository that follow from its versions, {@code keys/} and {@code index.json}. They can be written anew
 * at any time, and are after a change that did not get that far.
 *
 * <p>Thread contract: any thread reads the index; one at a time does the rest.
 */
final class DerivedFiles {
    private final Path root;
    private final VersionTable versions;
    private final Supplier<Path> newStagingPath;
    private volatile TreeFile index;
    /** They may lag behind the versions. */
    private boolean stale;

    DerivedFiles(Path root, VersionTable versions, Supplier<Path> newStagingPath) {
        this.root = root;
        this.versions = versions;
        this.newStagingPath = newStagingPath;
        index = TreeFile.of(root.resolve("index.json"), new byte[0], false, TreeFile.JSON);
    }

    /** Returns the file {@code index.json}; another one as soon as a version or its yank is. */
    TreeFile index() {
        return index;
    }

    /** Says that a version has changed; returns whether the files lagged behind before. */
    boolean markStale() {
        boolean lagged = stale;
        stale = true;
        return lagged;
    }

    void rewriteIfStale() throws IOException {
        if (stale) {
            rewriteAll();
        }
    }

    /** Writes the keys of one version, and the index; all of them where an earlier change did not get that far. */
    void rewrite(ServiceId id, boolean all) throws IOException {
        if (all) {
            rewriteAll();
            return;
        }
        writeKey(id.key(), id);
        writeNameKey(id.name());
        writeIndex();
        stale = false;
    }

    /** Writes all keys and the index, and removes keys that mean nothing. */
    void rewriteAll() throws IOException {
        for (IndexEntry entry : versions.entries()) {
            writeKey(entry.id().key(), entry.id());
        }
        for (String name : versions.names()) {
            writeNameKey(name);
        }
        for (Path key : Disk.list(root.resolve("keys"))) {
            String name = key.getFileName().toString();
            if (!RepositoryTree.KEY_PATH.matcher("keys/" + name).matches()
                    || versions.owner(Long.parseUnsignedLong(name, 16)) == null) {
                SmallFile.remove(key);
            }
        }
        writeIndex();
        stale = false;
    }

    private void writeNameKey(String name) throws IOException {
        IndexEntry newest = versions.newest(name);
        if (newest == null) {
            Files.deleteIfExists(keyFile(ServiceKey.of(name)));
        } else {
            writeKey(ServiceKey.of(name), newest.id());
        }
    }

    private void writeKey(long key, ServiceId id) throws IOException {
        replace(keyFile(key), Disk.read(root.resolve(id.path()).resolve(RepositoryTree.MANIFEST), Manifest.MAX_BYTES));
    }

    private Path keyFile(long key) {
        return root.resolve("keys").resolve(ServiceKey.toString(key));
    }

    private void writeIndex() throws IOException {
        TreeFile made = TreeFile.of(
                root.resolve("index.json"), new Index(Index.FORMAT, versions.entries()).encode(), false, TreeFile.JSON);
        replace(made.file(), made.bytes() == null ? new byte[0] : made.bytes());
        index = made;
    }

    /** Replaces a file unless it is the same already; not forced to the disk, since it can be written anew. */
    private void replace(Path file, byte[] bytes) throws IOException {
        if (Disk.isFile(file) && Files.size(file) == bytes.length && Arrays.equals(Files.readAllBytes(file), bytes)) {
            return;
        }
        Path made = newStagingPath.get();
        try {
            Files.write(made, bytes, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
            Disk.rename(made, file);
        } finally {
            Files.deleteIfExists(made);
        }
    }
}
