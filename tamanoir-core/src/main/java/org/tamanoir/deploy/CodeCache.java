package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Code that this node has fetched, on disk, in the layout of a repository, so that other nodes can be served from it
 * (see {@link #file}). Jars lie under their SHA-256 once, whatever their names.
 *
 * <pre>
 * jars/&lt;sha256&gt;.jar
 * services/&lt;name&gt;/&lt;version&gt;/manifest.json, manifest.sig
 * partial/&lt;sha256&gt;                     a download that broke off, to be resumed
 * newest/&lt;name&gt;                        the highest version that a bare name has meant here
 * </pre>
 *
 * <p>Files appear whole, by renaming, or not at all; what a crash left is removed at the next opening. A cache that
 * cannot be written is reported once and read all the same. When it is full, what was used least recently and is not
 * loaded goes first.
 *
 * <p>Thread contract: any thread; one process at a time, which a lock file holds.
 */
public final class CodeCache implements AutoCloseable {
    /**
     * Opens or makes a cache.
     *
     * @param limitOctets of all jars together
     * @throws IOException in one line, if the folder cannot be had at all or another process uses it
     */
    public static CodeCache open(Path folder, long limitOctets) throws IOException {
        throw new UnsupportedOperationException("open");
    }

    private CodeCache() {}

    /**
     * The code for a key: that of {@code name:version}, or of a bare name, which means the newest version here that
     * was ever the newest.
     *
     * @return null when it is not here, or not whole any more: it is then removed
     * @throws CodeRefusedException if the policy does not let it run any more
     */
    public @Nullable ServicePackage find(long key, TrustPolicy trust) throws CodeRefusedException {
        throw new UnsupportedOperationException("find");
    }

    /** All versions here, by name and version. */
    public List<ServiceId> contents() {
        throw new UnsupportedOperationException("contents");
    }

    /**
     * The file behind a repository path ({@code services/..., keys/...}) for serving it to other nodes; null when
     * there is none, or the path is not one of a repository. Only versions that {@code served} names are given.
     */
    public @Nullable Path file(String path, java.util.function.Predicate<ServiceId> served) {
        throw new UnsupportedOperationException("file");
    }

    /** Where it lies. */
    public Path folder() {
        throw new UnsupportedOperationException("folder");
    }

    /** Keeps this version while it is loaded. */
    public void pin(ServiceId id) {
        throw new UnsupportedOperationException("pin");
    }

    /** Lets this version go when room is needed. */
    public void unpin(ServiceId id) {
        throw new UnsupportedOperationException("unpin");
    }

    /** Removes one version, unless its jar is in use under another name. */
    public void remove(ServiceId id) {
        throw new UnsupportedOperationException("remove");
    }

    /** Gives the folder free for another process. */
    @Override
    public void close() {}
}
