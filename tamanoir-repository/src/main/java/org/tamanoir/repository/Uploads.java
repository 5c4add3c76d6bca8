package org.tamanoir.repository;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Jars that are uploaded and wait to be published, by their SHA-256. Bounded in number and in octets, both counted
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
    private final long maxJarOctets;
    private final LongSupplier nanoTime;
    private final Map<String, Done> done = new HashMap<>();
    private int begun;
    private long reservedOctets;

    private record Done(StagedJar jar, long deadlineNs) {}

    Uploads(RepositoryTree tree, long maxJarOctets, LongSupplier nanoTime) {
        this.tree = tree;
        this.maxJarOctets = maxJarOctets;
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
    Upload begin(String sha256, long octets) throws FullException, IOException {
        synchronized (this) {
            expire();
            if (begun + done.size() >= MAX_UPLOADS || reservedOctets + octets > MAX_JARS * maxJarOctets) {
                throw new FullException("no room for another upload: " + (begun + done.size()) + " with "
                        + reservedOctets + " octets wait to be published, " + MAX_UPLOADS + " with "
                        + MAX_JARS * maxJarOctets + " are the bounds; publish them or try again in "
                        + EXPIRY.toMinutes() + " minutes");
            }
            begun++;
            reservedOctets += octets;
        }
        try {
            return new Upload(sha256, octets);
        } catch (IOException | RuntimeException e) {
            giveBack(octets);
            throw e;
        }
    }

    private synchronized void giveBack(long octets) {
        begun--;
        reservedOctets -= octets;
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
        reservedOctets -= upload.jar.octets();
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
        reservedOctets -= jar.octets();
        remove(jar.file());
    }

    static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.warn("{}: cannot be removed: {}", file, e.toString());
        }
    }

    /** One upload on its way in. Must end by {@link #finish} or {@link #abort}, of which the first counts. */
    final class Upload {
        private final String sha256;
        private final long octets;
        private final Path file;
        private final FileChannel channel;
        private final MessageDigest digest = Disk.sha256();
        private long writtenOctets;
        private boolean over;

        private Upload(String sha256, long octets) throws IOException {
            this.sha256 = sha256;
            this.octets = octets;
            file = tree.newStagingPath();
            channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        }

        synchronized void write(byte[] some) throws IOException {
            writtenOctets += some.length;
            if (writtenOctets > octets) {
                throw new IOException("the upload is longer than the " + octets + " octets that were announced");
            }
            digest.update(some);
            Disk.write(channel, ByteBuffer.wrap(some));
        }

        /**
         * All has come.
         *
         * @return null if the digest is right, else what it is
         */
        synchronized @Nullable String finish() throws IOException {
            String real = Disk.hex(digest.digest());
            channel.close();
            if (over || writtenOctets != octets || !real.equals(sha256)) {
                abort();
                return real;
            }
            over = true;
            Uploads.this.finish(new StagedJar(file, sha256, octets));
            return null;
        }

        synchronized void abort() {
            if (over) {
                return;
            }
            over = true;
            giveBack(octets);
            try {
                channel.close();
            } catch (IOException e) {
                LOG.warn("{}: cannot be closed: {}", file, e.toString());
            }
            remove(file);
        }
    }
}
