package org.tamanoir.services.extra.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Objects that were answered, until their time is over or others are worth more: Caffeine (W-TinyLFU; Einziger, Friedman
 * and Manes, 2017) says which ones stay, by their blocks of memory.
 *
 * <pre>
 *   used blocks ≤ memory / 256, and those of one object more while it is put in
 * </pre>
 *
 * <p>Thread contract: the service's thread, on which Caffeine does all its work too; {@link #objects} and {@link
 * #usedBytes} any.
 */
final class ObjectStore {
    /** An object: where its value lies. */
    record Entry(int firstBlock, int bytes, boolean isNothing, long ttlNs, long untilNs) {
        int blocks() {
            return BlockMemory.blocks(bytes);
        }
    }

    private final BlockMemory memory;
    private final Cache<CacheKey, Entry> entries;
    private final LongSupplier clockNs;
    private final int maxObjectBytes;

    /** @param maxObjectBytes a longer value is not kept */
    ObjectStore(long memoryBytes, int maxObjectBytes, LongSupplier clockNs) {
        int maxBlocks = (int) (memoryBytes / BlockMemory.BLOCK_BYTES);
        this.maxObjectBytes = maxObjectBytes;
        this.clockNs = clockNs;
        memory = new BlockMemory(maxBlocks + BlockMemory.blocks(maxObjectBytes));
        entries = Caffeine.newBuilder()
                .executor(Runnable::run)
                .ticker(clockNs::getAsLong)
                .maximumWeight(maxBlocks)
                .<CacheKey, Entry>weigher((key, entry) -> entry.blocks())
                .expireAfter(Expiry.<CacheKey, Entry>writing((key, entry) -> Duration.ofNanos(entry.ttlNs)))
                .removalListener((key, entry, cause) -> {
                    if (entry != null) {
                        memory.free(entry.firstBlock);
                    }
                })
                .build();
    }

    /** Returns the object of this key; null if there is none. Valid until something is put in or removed. */
    @Nullable
    Entry find(CacheKey key) {
        return entries.getIfPresent(key);
    }

    /**
     * Keeps an object, or leaves it to Caffeine not to.
     *
     * @param key stays as it is from now on
     * @param value from position to limit
     * @return false if it is longer than may be
     */
    boolean put(CacheKey key, boolean isNothing, long ttlNs, ByteBuffer value) {
        int bytes = value.remaining();
        if (bytes > maxObjectBytes) {
            return false;
        }
        if (memory.freeBlocks() < BlockMemory.blocks(bytes)) {
            entries.cleanUp();
        }
        entries.put(key, new Entry(memory.put(value), bytes, isNothing, ttlNs, clockNs.getAsLong() + ttlNs));
        return true;
    }

    /** Copies an object's value to {@code target}, from its position on. */
    void read(Entry entry, ByteBuffer target) {
        memory.get(entry.firstBlock, entry.bytes, target);
    }

    /** Returns whether there was one. */
    boolean remove(CacheKey key) {
        return entries.asMap().remove(key) != null;
    }

    /** Forgets all objects. Returns how many there were. */
    long clear() {
        long before = entries.estimatedSize();
        entries.invalidateAll();
        return before;
    }

    long objects() {
        return entries.estimatedSize();
    }

    long usedBytes() {
        return (long) memory.usedBlocks() * BlockMemory.BLOCK_BYTES;
    }
}
