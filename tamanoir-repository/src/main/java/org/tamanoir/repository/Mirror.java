package org.tamanoir.repository;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.BackOff;
import org.tamanoir.deploy.BoundedBody;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.FormatFile;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.Signature;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatLimits;

/**
 * Keeps a replica of another repository, or of a plain copy of one on any web server: fetches by its
 * {@code index.json} what is new, checks it, and follows its yanks. Nothing is removed, since versions never change;
 * one that is here with other content stays, and is reported.
 *
 * <p>Thread contract: any thread. It works on a thread of its own.
 */
public final class Mirror implements AutoCloseable {
    /** How often the index is asked for, unless set otherwise. */
    public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(30);

    private static final Logger LOG = LoggerFactory.getLogger(Mirror.class);
    /** A source that fails is asked again after the interval, then after twice that, up to this or the interval. */
    private static final Duration MAX_BACK_OFF = Duration.ofMinutes(5);

    private static final Duration JOIN = Duration.ofMillis(5_000);

    private final Calls calls;
    private final RepositoryTree tree;
    private final long maxJarBytes;
    private final @Nullable TrustPolicy publishers;
    private final Thread thread;

    private @Nullable String etag;
    private @Nullable String formatsTag;
    private volatile @Nullable Instant lastSync;
    private volatile @Nullable String error;

    private Mirror(
            Calls calls, RepositoryTree tree, Duration interval, long maxJarBytes, @Nullable TrustPolicy publishers) {
        this.calls = calls;
        this.tree = tree;
        this.maxJarBytes = maxJarBytes;
        this.publishers = publishers;
        thread = new Thread(() -> run(interval), "repository-mirror");
        thread.setDaemon(true);
    }

    /**
     * Starts to follow a repository.
     *
     * @param source its address, http or https
     * @param tls for https; null = the JDK's own
     * @param tree what is filled; stays the caller's to close, after this
     * @param maxJarBytes larger jars are left out
     * @param publishers whose versions are taken; null = anybody's, and nodes decide
     * @throws IllegalArgumentException in one line, for an address that cannot be one
     */
    public static Mirror start(
            URI source,
            @Nullable SSLContext tls,
            RepositoryTree tree,
            Duration interval,
            long maxJarBytes,
            @Nullable TrustPolicy publishers) {
        return start(new Calls(source, tls), tree, interval, maxJarBytes, publishers);
    }

    /** Starts to follow a repository by these calls. */
    static Mirror start(
            Calls calls, RepositoryTree tree, Duration interval, long maxJarBytes, @Nullable TrustPolicy publishers) {
        Mirror mirror = new Mirror(calls, tree, interval, maxJarBytes, publishers);
        mirror.thread.start();
        return mirror;
    }

    /**
     * Checks an address before anything is done with it.
     *
     * @return it without a slash at its end
     * @throws IllegalArgumentException in one line
     */
    public static URI requireSource(URI source) {
        return Calls.requireBase(source);
    }

    /** Returns what it follows. */
    public URI source() {
        return calls.base();
    }

    Map<String, @Nullable Object> status() {
        Instant last = lastSync;
        Map<String, @Nullable Object> status = new LinkedHashMap<>();
        status.put("of", source().toString());
        status.put("lastSync", last == null ? null : last.toString());
        status.put("error", error);
        return status;
    }

    private void run(Duration interval) {
        long waitMs = interval.toMillis();
        try {
            while (true) {
                String failure = sync();
                if (failure == null) {
                    lastSync = Instant.now();
                    waitMs = interval.toMillis();
                } else {
                    if (!failure.equals(error)) {
                        LOG.warn("mirror of {}: {}", source(), failure);
                    }
                    waitMs = BackOff.doubled(
                            waitMs, interval.toMillis(), Math.max(interval.toMillis(), MAX_BACK_OFF.toMillis()));
                }
                error = failure;
                Thread.sleep(waitMs);
            }
        } catch (InterruptedException e) {
            LOG.debug("mirror of {} ends", source());
        }
    }

    /** Returns what went wrong, in one line; null = all is as it is there. */
    private @Nullable String sync() throws InterruptedException {
        try {
            String formats = followFormats();
            HttpRequest.Builder request = calls.request("index.json");
            if (etag != null) {
                request.header("If-None-Match", etag);
            }
            HttpResponse<byte[]> answer = calls.send(request.build(), BoundedBody.bytes(Index.MAX_BYTES));
            if (answer.statusCode() == 304) {
                return formats;
            }
            requireOk(answer);
            String failure = follow(Index.decode(answer.body()).services());
            etag = failure == null ? answer.headers().firstValue("ETag").orElse(null) : null;
            return failure == null ? formats : failure;
        } catch (IOException | RuntimeException e) {
            etag = null;
            return String.valueOf(e.getMessage());
        }
    }

    /** Fetches formats, and signatures that came later; a repository without a list has none. */
    private @Nullable String followFormats() throws InterruptedException {
        try {
            return fetchFormats();
        } catch (IOException | RuntimeException e) {
            formatsTag = null;
            return String.valueOf(e.getMessage());
        }
    }

    private @Nullable String fetchFormats() throws IOException, InterruptedException {
        HttpRequest.Builder request = calls.request(FormatFolder.LIST);
        if (formatsTag != null) {
            request.header("If-None-Match", formatsTag);
        }
        HttpResponse<byte[]> answer = calls.send(request.build(), BoundedBody.bytes(FormatFolder.MAX_LIST_BYTES));
        if (answer.statusCode() == 304 || answer.statusCode() == 404) {
            return null;
        }
        requireOk(answer);
        Map<String, FormatFolder.Entry> here = new HashMap<>();
        tree.formats().entries().forEach(entry -> here.put(entry.id(), entry));
        String first = null;
        for (FormatFolder.Entry entry :
                FormatFolder.Listing.decode(answer.body()).formats()) {
            FormatFolder.Entry own = here.get(entry.id());
            if (own == null || own.publisher() == null && entry.publisher() != null) {
                try {
                    fetch(entry);
                } catch (IOException | ConflictException | CodeRefusedException | RuntimeException e) {
                    first = first != null ? first : "format " + entry.id() + ": " + e.getMessage();
                }
            }
        }
        formatsTag = first == null ? answer.headers().firstValue("ETag").orElse(null) : null;
        return first;
    }

    private void fetch(FormatFolder.Entry entry)
            throws IOException, ConflictException, CodeRefusedException, InterruptedException {
        FormatId id = FormatId.parse(entry.id());
        Format format = Format.of(id, get(FormatFile.path(id), FormatLimits.DESCRIPTION_BYTES));
        byte[] signature = entry.publisher() == null ? null : get(FormatFile.path(id) + ".sig", Signature.MAX_BYTES);
        if (publishers != null) {
            publishers.verify(format, signature);
        }
        tree.formats().publish(format, signature);
    }

    /** Follows all versions: one that cannot be had does not hold up the others. */
    private @Nullable String follow(List<IndexEntry> entries) throws InterruptedException {
        String first = null;
        int failures = 0;
        for (IndexEntry entry : entries) {
            try {
                follow(entry);
            } catch (IOException | ConflictException | CodeRefusedException | RuntimeException e) {
                failures++;
                String line = String.valueOf(e.getMessage());
                String id = entry.id() + ": ";
                first = first != null ? first : line.startsWith(id) ? line : id + line;
            }
        }
        return failures <= 1 ? first : first + " (and " + (failures - 1) + " more versions)";
    }

    private void follow(IndexEntry entry)
            throws IOException, ConflictException, CodeRefusedException, InterruptedException {
        ServiceId id = entry.id();
        IndexEntry here = tree.find(id);
        if (here == null) {
            fetch(entry);
            LOG.info("mirror of {}: {}", source(), id);
            here = tree.find(id);
        } else if (!here.sha256().equals(entry.sha256()) || !here.publisher().equals(entry.publisher())) {
            throw new ConflictException("it is here with other content; find out which one is right");
        }
        if (here != null && !Objects.equals(here.yanked(), entry.yanked())) {
            if (entry.yanked() == null) {
                tree.unyank(id);
            } else {
                tree.yank(id, entry.yanked());
            }
        }
    }

    private void fetch(IndexEntry entry)
            throws IOException, ConflictException, CodeRefusedException, InterruptedException {
        ServiceId id = entry.id();
        byte[] manifest = get(id.path() + "/" + RepositoryTree.MANIFEST, Manifest.MAX_BYTES);
        byte[] signature = get(id.path() + "/" + RepositoryTree.SIGNATURE, Signature.MAX_BYTES);
        Manifest decoded = publishers == null ? Manifest.decode(manifest) : publishers.verify(manifest, signature);
        if (!decoded.id().equals(id) || !decoded.jarSha256().equals(entry.sha256())) {
            throw new IOException("its manifest is for " + decoded.id() + " with the jar " + decoded.jarSha256()
                    + ", not what the index says");
        }
        if (decoded.jarBytes() > maxJarBytes) {
            throw new IOException("its jar of " + decoded.jarBytes() + " bytes is larger than the bound of "
                    + maxJarBytes + "; allow it with --max-jar");
        }
        Path file = tree.newStagingPath();
        try {
            StagedJar jar = download(id.path() + "/" + id.jarName(), decoded, file);
            tree.publish(manifest, signature, jar, Instant.parse(entry.published()));
        } finally {
            Uploads.remove(file);
        }
    }

    private StagedJar download(String path, Manifest manifest, Path file) throws IOException, InterruptedException {
        try (OutputStream jar = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)) {
            HttpResponse<String> answer =
                    calls.send(calls.request(path).build(), BoundedBody.file(manifest.jarBytes(), jar));
            requireOk(answer);
            return new StagedJar(file, answer.body(), Files.size(file));
        }
    }

    private byte[] get(String path, int maxBytes) throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = calls.send(calls.request(path).build(), BoundedBody.bytes(maxBytes));
        requireOk(answer);
        return answer.body();
    }

    private static void requireOk(HttpResponse<?> answer) throws IOException {
        if (answer.statusCode() != 200) {
            throw new IOException(answer.uri() + ": answers " + answer.statusCode()
                    + " where 200 is wanted; is this the address of a repository?");
        }
    }

    @Override
    public void close() {
        thread.interrupt();
        Uninterruptibles.joinUninterruptibly(thread, JOIN);
    }
}
