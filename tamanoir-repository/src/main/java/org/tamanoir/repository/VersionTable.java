package org.tamanoir.repository;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.ServiceId;

/**
 * The versions of a repository, in memory, with the keys that they have taken.
 *
 * <p>Thread contract: any thread reads; one at a time writes.
 */
final class VersionTable {
    /** By name, then by version in its order. */
    private final NavigableMap<String, NavigableMap<String, IndexEntry>> versions = new ConcurrentSkipListMap<>();
    /** Counted here: the maps would count their entries one by one. */
    private final AtomicInteger size = new AtomicInteger();
    /** Which text each key was made from, so that no second one takes it. */
    private final Map<Long, String> keys = new ConcurrentHashMap<>();

    /** Adds a version, or replaces it. */
    void put(IndexEntry entry) {
        IndexEntry before = versions.computeIfAbsent(
                        entry.name(), name -> new ConcurrentSkipListMap<>(ServiceId.VERSION_ORDER))
                .put(entry.version(), entry);
        if (before == null) {
            size.incrementAndGet();
        }
        keys.put(entry.id().key(), entry.id().toString());
        keys.put(entry.id().nameKey(), entry.name());
    }

    /** Returns all versions, by name and version. */
    List<IndexEntry> entries() {
        List<IndexEntry> entries = new ArrayList<>();
        versions.values().forEach(each -> entries.addAll(each.values()));
        return entries;
    }

    /** Returns the names that have versions. */
    Set<String> names() {
        return versions.keySet();
    }

    /** Returns one version; null = not here. */
    @Nullable
    IndexEntry find(ServiceId id) {
        NavigableMap<String, IndexEntry> all = versions.get(id.name());
        return all == null ? null : all.get(id.version());
    }

    /** Returns the newest version that is not yanked; null = none. */
    @Nullable
    IndexEntry newest(String name) {
        NavigableMap<String, IndexEntry> all = versions.get(name);
        return all == null
                ? null
                : all.descendingMap().values().stream()
                        .filter(entry -> entry.yanked() == null)
                        .findFirst()
                        .orElse(null);
    }

    int size() {
        return size.get();
    }

    /** Returns the text that a key was made from; null = nobody has it. */
    @Nullable
    String owner(long key) {
        return keys.get(key);
    }
}
