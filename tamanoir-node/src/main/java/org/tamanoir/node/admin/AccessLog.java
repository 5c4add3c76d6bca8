package org.tamanoir.node.admin;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Causes;
import org.tamanoir.traffic.StreamRecord;

/**
 * A line of JSON for each TCP stream that has ended. The file is continued where it exists; at
 * {@value #DEFAULT_MAX_BYTES} bytes it becomes {@code FILE.1}, in place of the one before, and a new one begins.
 *
 * <p>Thread contract: any number of threads call {@link #accept}, which does not block: what a thread of its own
 * cannot write in time, or at all, is missed and counted. One thread closes.
 */
public final class AccessLog implements Consumer<StreamRecord>, AutoCloseable {
    /** Of one file. */
    static final long DEFAULT_MAX_BYTES = 100L << 20;

    /** Lines that may wait, of some 400 bytes each. */
    private static final int MAX_WAITING = 4096;

    private static final int MAX_BATCH_BYTES = 64 * 1024;
    private static final Duration LOOK = Duration.ofMillis(250);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** Between complaints about missed lines. */
    private static final long COMPLAIN_NS = TimeUnit.MINUTES.toNanos(1);

    private static final Logger LOG = LoggerFactory.getLogger(AccessLog.class);

    private final Path file;
    private final long maxBytes;
    private final BlockingQueue<StreamRecord> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
    private final LongAdder missed = new LongAdder();
    private final Thread writer = new Thread(this::write, "access-log");
    private volatile boolean closing;

    // The writer's from its start on.
    private @Nullable FileChannel channel;
    private long bytes;
    /** A line was written in part: the next one has to begin on its own. */
    private boolean torn;

    private long complainedOf;
    private long complainedNs;

    private AccessLog(Path file, long maxBytes) throws IOException {
        this.file = file;
        this.maxBytes = maxBytes;
        openFile();
        complainedNs = System.nanoTime() - COMPLAIN_NS;
        writer.setDaemon(true);
        writer.start();
    }

    /**
     * Opens the file.
     *
     * @throws IOException in one line, if it cannot be written
     */
    public static AccessLog open(Path file) throws IOException {
        return open(file, DEFAULT_MAX_BYTES);
    }

    static AccessLog open(Path file, long maxBytes) throws IOException {
        try {
            return new AccessLog(file, maxBytes);
        } catch (IOException e) {
            throw new IOException(
                    "access log " + file + ": " + reason(e) + "; give a file that this user can write", e);
        }
    }

    private static String reason(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "its folder does not exist";
        }
        String text = e instanceof FileSystemException known && known.getReason() != null
                ? known.getReason()
                : e instanceof java.nio.file.AccessDeniedException ? "access denied" : e.getMessage();
        return String.valueOf(text);
    }

    /** Takes note of a stream that has ended. */
    @Override
    public void accept(StreamRecord record) {
        if (closing || !waiting.offer(record)) {
            missed.increment();
        }
    }

    /** Lines that were not written, because they came too fast or the file could not be written. */
    public long missed() {
        return missed.sum();
    }

    /** Writes what waits, {@code PATIENCE} long at most, and closes the file. */
    @Override
    public void close() {
        closing = true;
        try {
            writer.join(PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (writer.isAlive()) {
            LOG.warn("access log {}: not all written within {} s of the end", file, PATIENCE.toSeconds());
        }
    }

    // ---- the writer's thread ---------------------------------------------------------------------------------------

    private void write() {
        ByteBuffer batch = ByteBuffer.allocate(MAX_BATCH_BYTES);
        while (true) {
            try {
                boolean last = closing;
                StreamRecord record = last ? waiting.poll() : waiting.poll(LOOK.toMillis(), TimeUnit.MILLISECONDS);
                int lines = 0;
                while (record != null) {
                    byte[] line = Replies.json(Views.EndedStream.of(record));
                    if (line.length + 1 > batch.remaining() && lines > 0) {
                        write(batch, lines);
                        lines = 0;
                    }
                    if (line.length + 1 <= batch.remaining()) {
                        batch.put(line).put((byte) '\n');
                        lines++;
                    } else {
                        missed.increment();
                    }
                    record = waiting.poll();
                }
                if (lines > 0) {
                    write(batch, lines);
                }
                complain(last);
                if (last) {
                    closeFile();
                    return;
                }
            } catch (InterruptedException e) {
                LOG.debug("access log {}: interrupted, by a service perhaps: ignored", file);
            } catch (RuntimeException e) {
                missed.increment();
                batch.clear();
                LOG.error("access log {}: a line could not be made", file, e);
            }
        }
    }

    private void write(ByteBuffer batch, int lines) {
        try {
            if (bytes >= maxBytes) {
                rotate();
            }
            FileChannel to = channel == null ? openFile() : channel;
            if (torn) {
                to.write(ByteBuffer.wrap(new byte[] {'\n'}));
                torn = false;
            }
            batch.flip();
            while (batch.hasRemaining()) {
                bytes += to.write(batch);
            }
        } catch (IOException e) {
            missed.add(lines);
            torn = batch.position() > 0 && batch.hasRemaining();
            if (channel != null && !channel.isOpen()) {
                channel = null; // An interrupt has closed it; the next batch opens it again.
                boolean ignored = Thread.interrupted();
            }
            LOG.debug("access log {}: {}", file, e.toString());
        } finally {
            batch.clear();
        }
    }

    private void rotate() throws IOException {
        closeFile();
        Files.move(file, file.resolveSibling(file.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
        openFile();
    }

    private FileChannel openFile() throws IOException {
        FileChannel opened = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        channel = opened;
        bytes = opened.size();
        return opened;
    }

    private void closeFile() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            LOG.warn("access log {}: {}", file, Causes.text(e));
        }
        channel = null;
    }

    private void complain(boolean last) {
        long now = System.nanoTime();
        long count = missed();
        if (count > complainedOf && (last || now - complainedNs >= COMPLAIN_NS)) {
            LOG.warn("access log {}: {} lines missed so far; is the disk full or slow?", file, count);
            complainedOf = count;
            complainedNs = now;
        }
    }
}
