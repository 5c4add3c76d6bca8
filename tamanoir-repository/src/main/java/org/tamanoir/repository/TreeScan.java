package org.tamanoir.repository;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.Signature;

/** Reads which versions a repository's folder holds. What is no whole version is reported, left out and left alone. */
final class TreeScan {
    private static final Logger LOG = LoggerFactory.getLogger(TreeScan.class);

    private TreeScan() {}

    static List<IndexEntry> versions(Path services) throws IOException {
        List<IndexEntry> found = new ArrayList<>();
        for (Path name : Disk.list(services)) {
            if (!Disk.isFolder(name)) {
                LOG.warn("{}: is no folder of a service and is not served; remove it", name);
                continue;
            }
            for (Path version : Disk.list(name)) {
                try {
                    found.add(version(name, version));
                } catch (IOException | CodeRefusedException | IllegalArgumentException e) {
                    LOG.warn("{}: is no whole version and is not served; remove it: {}", version, e.getMessage());
                }
            }
        }
        return found;
    }

    /** Sizes are checked here, digests by whoever fetches the jar: to digest all would hold up the start. */
    private static IndexEntry version(Path name, Path folder) throws IOException, CodeRefusedException {
        ServiceId id = new ServiceId(
                name.getFileName().toString(), folder.getFileName().toString());
        if (!Disk.isFolder(folder)) {
            throw new IOException("it is no folder");
        }
        Path manifestFile = folder.resolve(RepositoryTree.MANIFEST);
        Manifest manifest = Manifest.decode(Disk.read(manifestFile, Manifest.MAX_BYTES));
        Signature signature =
                Signature.decode(Disk.read(folder.resolve(RepositoryTree.SIGNATURE), Signature.MAX_BYTES));
        if (!manifest.id().equals(id)) {
            throw new IOException("its manifest is for " + manifest.id());
        }
        Path jar = folder.resolve(id.jarName());
        if (!Disk.isFile(jar) || Files.size(jar) != manifest.jarBytes()) {
            throw new IOException(
                    "its jar is missing or has not the " + manifest.jarBytes() + " bytes of its " + "manifest");
        }
        return IndexEntry.of(
                manifest,
                signature.keyId(),
                Files.getLastModifiedTime(manifestFile).toInstant(),
                reason(folder.resolve(RepositoryTree.YANKED)));
    }

    private static @Nullable String reason(Path file) throws IOException {
        if (!Disk.isFile(file)) {
            return null;
        }
        String text = new String(Disk.read(file, RepositoryTree.MAX_YANKED_BYTES), StandardCharsets.UTF_8).strip();
        try {
            return IndexEntry.requireReason(text);
        } catch (IllegalArgumentException e) {
            return "yanked without a reason that can be shown";
        }
    }
}
