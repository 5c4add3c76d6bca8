package org.tamanoir.services.extra.transcode;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;

/**
 * What all instances of a {@link Transcode} share: memory for pictures that are not whole, decoders, and child processes.
 *
 * <p>{@link #view} shows {@code processes}, {@code max-processes}, {@code picture-bytes}; there are no operations.
 *
 * <p>Thread contract: any threads.
 */
public final class TranscodeControl implements ServiceControl {
    /** For processes that have left their parents. */
    private static final int CLOSE_PATIENCE_MS = 2000;

    private final AtomicLong pictureBytes = new AtomicLong();
    /** Those of which something may be left. */
    private final Set<CodecProcess> processes = ConcurrentHashMap.newKeySet();

    private final AtomicLong places = new AtomicLong();
    private Semaphore decoders = new Semaphore(0);
    private long maxPictureBytes;
    private int maxProcesses;

    /** For the node; {@link #init} follows. */
    public TranscodeControl() {}

    @Override
    public void init(ServiceConfig config, ControlHost host) {
        maxPictureBytes = config.number("memory", 64 << 20, 1 << 20, 4L << 30);
        decoders = new Semaphore((int) config.number("decoders", 2, 1, 64), true);
        maxProcesses = (int) config.number("processes", 8, 1, 1024);
    }

    Semaphore decoders() {
        return decoders;
    }

    /** Takes memory for parts of pictures; false if that would be too much. */
    boolean take(long bytes) {
        if (pictureBytes.addAndGet(bytes) <= maxPictureBytes) {
            return true;
        }
        pictureBytes.addAndGet(-bytes);
        return false;
    }

    void give(long bytes) {
        pictureBytes.addAndGet(-bytes);
    }

    /** Takes a place for a process; false if all are taken. */
    boolean takePlace() {
        if (places.incrementAndGet() <= maxProcesses) {
            return true;
        }
        places.decrementAndGet();
        return false;
    }

    void givePlace() {
        places.decrementAndGet();
    }

    void begun(CodecProcess process) {
        processes.add(process);
    }

    void ended(CodecProcess process) {
        processes.remove(process);
    }

    @Override
    public Map<String, Object> view() {
        return Map.of(
                "processes", processes.size(), "max-processes", maxProcesses, "picture-bytes", pictureBytes.get());
    }

    @Override
    public Map<String, Object> change(String operation, Map<String, Object> arguments) {
        throw new IllegalArgumentException("operation: " + operation + ": there is none; change the configuration");
    }

    /** Kills what instances may have left, and waits until nothing is: the JVM may end next. */
    @Override
    public void close() {
        CompletableFuture.allOf(processes.stream().map(CodecProcess::kill).toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, CLOSE_PATIENCE_MS, TimeUnit.MILLISECONDS)
                .join();
    }
}
