package org.tamanoir.repository;

import com.google.common.hash.Hashing;
import com.google.common.hash.HashingOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Causes;

/**
 * Jars that are uploaded and wait to be published, by their SHA-256. Bounded in number and in bytes, both counted
 * from the moment an upload begins; what is not published within {@link #EXPIRY} makes room.
 *
 * <p>Thread contract: any thread; one upload is written by one thread at a time.
 */
final class Uploads {
    /** Uploads at once, begun ones included. */
    static final int MAX_UPLOADS = 64;
    /** All of them together may have this many times the size of the largest jar. */
    static final int MAX_JARS = 8;

    static final Duration EXPIRY = Duration.ofMinutes(15);

    private static final Logger LOG = LoggerFactory.getLogger(Uploads.class);

    private final RepositoryTree tree;
    private final long maxJarBytes;
    private final LongSupplier nanoTime;
    private final Map<String, Done> done = new HashMap<>();
    private int begun;
    private long reservedBytes;

    private record Done(StagedJar jar, long deadlineNs) {}

    Uploads(RepositoryTree tree, long maxJarBytes, LongSupplier nanoTime) {
        this.tree = tree;
        this.maxJarBytes = maxJarBytes;
        this.nanoTime = nanoTime;
    }

    /** There is no room; the message is one line. */
    static final class FullException extends Exception {
        private static final long serialVersionUID = 1L;

        FullException(String line) {
            super(line);
        }
    }

    /**
     * Begins an upload of exactly this size, which the caller has checked against the largest jar.
     *
     * @throws FullException if there is no room now
     */
    Upload begin(String sha256, long bytes) throws FullException, IOException {
        synchronized (this) {
            expire();
            if (begun + done.size() >= MAX_UPLOADS || reservedBytes + bytes > MAX_JARS * maxJarBytes) {
                throw new FullException("no room for another upload: " + (begun + done.size()) + " with "
                        + reservedBytes + " bytes wait to be published, " + MAX_UPLOADS + " with "
                        + MAX_JARS * maxJarBytes + " are the bounds; publish them or try again in "
                        + EXPIRY.toMinutes() + " minutes");
            }
            begun++;
            reservedBytes += bytes;
        }
        try {
            return new Upload(sha256, bytes);
        } catch (IOException | RuntimeException e) {
            giveBack(bytes);
            throw e;
        }
    }

    private synchronized void giveBack(long bytes) {
        begun--;
        reservedBytes -= bytes;
    }

    private void expire() {
        long nowNs = nanoTime.getAsLong();
        for (Iterator<Done> each = done.values().iterator(); each.hasNext(); ) {
            Done upload = each.next();
            if (nowNs - upload.deadlineNs >= 0) {
                each.remove();
                discard(upload.jar);
            }
        }
    }

    /** Takes a whole upload out; null = there is none. The caller has its file then. */
    synchronized @Nullable StagedJar take(String sha256) {
        expire();
        Done upload = done.remove(sha256);
        if (upload == null) {
            return null;
        }
        reservedBytes -= upload.jar.bytes();
        return upload.jar;
    }

    private synchronized void finish(StagedJar jar) {
        begun--;
        Done old = done.put(jar.sha256(), new Done(jar, nanoTime.getAsLong() + EXPIRY.toNanos()));
        if (old != null) {
            discard(old.jar);
        }
    }

    private synchronized void discard(StagedJar jar) {
        reservedBytes -= jar.bytes();
        remove(jar.file());
    }

    static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.warn("{}: cannot be removed: {}", file, Causes.text(e));
        }
    }

    /** One upload on its way in. Must end by {@link #finish} or {@link #abort}, of which the first counts. */
    final class Upload {
        private final String sha256;
        private final long bytes;
        private final Path file;
        private final HashingOutputStream out;
        private long writtenBytes;
        private boolean over;

        private Upload(String sha256, long bytes) throws IOException {
            this.sha256 = sha256;
            this.bytes = bytes;
            file = tree.newStagingPath();
            out = new HashingOutputStream(Hashing.sha256(), Files.newOutputStream(file, StandardOpenOption.CREATE_NEW));
        }

        synchronized void write(byte[] some) throws IOException {
            writtenBytes += some.length;
            if (writtenBytes > bytes) {
                throw new IOException("the upload is longer than the " + bytes + " bytes that were announced");
            }
            out.write(some);
        }

        /**
         * Ends the upload: all has come.
         *
         * @return null if the digest is right, else what it is
         */
        synchronized @Nullable String finish() throws IOException {
            String real = out.hash().toString();
            out.close();
            if (over || writtenBytes != bytes || !real.equals(sha256)) {
                abort();
                return real;
            }
            over = true;
            Uploads.this.finish(new StagedJar(file, sha256, bytes));
            return null;
        }

        synchronized void abort() {
            if (over) {
                return;
            }
            over = true;
            giveBack(bytes);
            try {
                out.close();
            } catch (IOException e) {
                LOG.warn("{}: cannot be closed: {}", file, e.toString());
            }
            remove(file);
        }
    }
}
