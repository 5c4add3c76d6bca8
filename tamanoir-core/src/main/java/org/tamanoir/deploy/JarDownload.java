package org.tamanoir.deploy;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Brings one jar into a file, from one source, after what other sources may have brought before they broke off. The
 * file is named by its content, so that it does not matter which source began it; a digest that does not fit can be
 * another source's fault, and the whole is then asked of this one.
 *
 * <p>Thread contract: one thread; the HTTP client's threads write while it waits.
 */
final class JarDownload {
    /** How often a connection that broke after some octets is resumed at once. */
    private static final int MAX_RESUMPTIONS = 2;

    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\\*)");

    private final CodeClient client;
    private final CodeSource source;
    private final Manifest manifest;
    private final Path file;
    private final long deadlineNs;
    /** Octets before those of this source: good only if the digest says so. */
    private volatile long others;

    private volatile @Nullable String etag;

    JarDownload(CodeClient client, CodeSource source, Manifest manifest, Path file, long deadlineNs) {
        this.client = client;
        this.source = source;
        this.manifest = manifest;
        this.file = file;
        this.deadlineNs = deadlineNs;
    }

    /** Returns when the file is whole and has the manifest's digest. What a source sent that broke off stays. */
    void run() throws SourceException, CodeRefusedException, LocalException, InterruptedException {
        others = length();
        if (others > manifest.jarOctets()) {
            truncate(0);
        }
        int broken = 0;
        for (; ; ) {
            long before = length();
            try {
                if (before < manifest.jarOctets()) {
                    receive(before);
                }
            } catch (SourceException e) {
                if (e.isResumable() && length() > before && broken++ < MAX_RESUMPTIONS && !isLate()) {
                    continue;
                }
                throw e;
            }
            if (digest().equals(manifest.jarSha256())) {
                return;
            }
            boolean mixed = others > 0;
            truncate(0);
            if (!mixed) {
                throw new CodeRefusedException(
                        Refusal.WRONG_DIGEST,
                        manifest.id() + ": the jar is not the one with SHA-256 " + manifest.jarSha256()
                                + " that its manifest names; get it from another source, or publish a new version");
            }
        }
    }

    private boolean isLate() {
        return System.nanoTime() - deadlineNs >= 0;
    }

    private void receive(long offset)
            throws SourceException, CodeRefusedException, LocalException, InterruptedException {
        String path = manifest.id().path() + "/" + manifest.id().jarName();
        Map<String, String> headers = new LinkedHashMap<>();
        if (offset > 0) {
            headers.put("Range", "bytes=" + offset + "-");
            String known = etag;
            if (known != null) {
                headers.put("If-Range", known);
            }
        }
        CodeClient.Answer answer;
        try (Target target = new Target(offset)) {
            answer = client.get(source.at(path), headers, deadlineNs, target::begin);
            target.check(answer, path);
        } catch (IOException e) {
            throw new LocalException(e);
        }
    }

    private long length() throws LocalException {
        try {
            return Files.exists(file) ? Files.size(file) : 0;
        } catch (IOException e) {
            throw new LocalException(e);
        }
    }

    private void truncate(long octets) throws LocalException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.truncate(octets);
            others = octets;
        } catch (IOException e) {
            throw new LocalException(e);
        }
    }

    private String digest() throws LocalException {
        try {
            return CacheFolder.sha256(file);
        } catch (IOException e) {
            throw new LocalException(e);
        }
    }

    /** The file, from the place on where one answer goes. */
    private final class Target implements BoundedBody.Sink, AutoCloseable {
        private final FileChannel channel;
        private final long offset;
        private volatile long position;
        /** The jar's size as a range's head says it; negative where it says none. */
        private volatile long saidOctets = -1;

        private volatile boolean misplaced;

        Target(long offset) throws IOException {
            this.offset = offset;
            this.position = offset;
            this.channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        }

        CodeClient.Expected begin(HttpResponse.ResponseInfo head) {
            if (head.statusCode() == 200) {
                position = 0;
                others = 0;
            } else if (head.statusCode() != 206 || !continues(head)) {
                return new CodeClient.Expected(0, null);
            }
            etag = head.headers()
                    .firstValue("ETag")
                    .filter(tag -> tag.startsWith("\""))
                    .orElse(null);
            return new CodeClient.Expected(manifest.jarOctets() - position, this);
        }

        private boolean continues(HttpResponse.ResponseInfo head) {
            Matcher range = CONTENT_RANGE.matcher(
                    head.headers().firstValue("Content-Range").orElse(""));
            misplaced = !range.matches() || Long.parseLong(range.group(1)) != offset;
            if (!misplaced && !range.group(2).equals("*")) {
                saidOctets = Long.parseLong(range.group(2));
            }
            return !misplaced && (saidOctets < 0 || saidOctets == manifest.jarOctets());
        }

        @Override
        public void write(ByteBuffer octets) throws IOException {
            if (channel.size() > position) {
                channel.truncate(position); // The source begins again.
            }
            while (octets.hasRemaining()) {
                position += channel.write(octets, position);
            }
        }

        void check(CodeClient.Answer answer, String path) throws SourceException, CodeRefusedException, LocalException {
            int status = answer.status();
            if (status == 416 || misplaced) {
                truncate(0); // The next attempt asks for all of it.
                throw new SourceException("does not continue " + path + " at octet " + offset, false);
            }
            if (status == 404 || status == 410) {
                throw new SourceException("has the manifest of " + manifest.id() + ", but not its jar", false);
            }
            if (status != 200 && status != 206) {
                throw CodeClient.unexpected(status, path);
            }
            if (saidOctets >= 0 && saidOctets != manifest.jarOctets()) {
                throw wrongSize("its size is given as " + saidOctets);
            }
            if (answer.end() == BoundedBody.End.TOO_LONG) {
                truncate(others);
                throw wrongSize("more came");
            }
            if (position != manifest.jarOctets()) {
                truncate(Math.min(others, length()));
                throw wrongSize(position + " came");
            }
        }

        private CodeRefusedException wrongSize(String what) {
            return new CodeRefusedException(
                    Refusal.WRONG_SIZE,
                    manifest.id() + ": its manifest says " + manifest.jarOctets() + " octets for the jar, " + what
                            + "; get it from another source");
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
