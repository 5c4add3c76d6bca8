package org.tamanoir.deploy;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;

/**
 * What a {@link CodeCache} holds, by key, by version, and by last use.
 *
 * <p>Thread contract: one thread at a time.
 */
final class CacheIndex {
    /**
     * One version.
     *
     * @param folder where its files are
     */
    record Held(ServiceId id, String sha256, long bytes, CacheFolder folder) {
        Path jar() {
            return folder.jar(sha256);
        }
    }

    private static final Comparator<ServiceId> BY_NAME_AND_VERSION =
            Comparator.comparing(ServiceId::name).thenComparing(ServiceId::version, ServiceId.VERSION_ORDER);

    private final Map<ServiceId, Held> versions = new HashMap<>();
    private final Map<Long, ServiceId> keys = new HashMap<>();
    private final Map<String, String> newest = new HashMap<>();
    private final Map<Long, String> nameKeys = new HashMap<>();
    private final Multiset<ServiceId> pins = HashMultiset.create();
    /** Bytes of each jar; the one used least recently comes first. */
    private final Map<String, Long> jars = new LinkedHashMap<>(16, 0.75f, true);

    private long bytes;

    void put(Held held) {
        versions.put(held.id, held);
        keys.put(held.id.key(), held.id);
        nameKeys.put(held.id.nameKey(), held.id.name());
        if (jars.put(held.sha256, held.bytes) == null) {
            bytes += held.bytes;
        }
    }

    /** Returns whether the jar is now nobody's. */
    boolean remove(ServiceId id) {
        Held held = versions.remove(id);
        if (held == null) {
            return false;
        }
        keys.remove(id.key());
        if (versions.values().stream().anyMatch(other -> other.sha256.equals(held.sha256))) {
            return false;
        }
        jars.remove(held.sha256);
        bytes -= held.bytes;
        return true;
    }

    @Nullable
    Held held(ServiceId id) {
        return versions.get(id);
    }

    /** Returns what a key means, newest versions included. */
    @Nullable
    Held byKey(long key) {
        ServiceId id = keys.get(key);
        String name = id == null ? nameKeys.get(key) : null;
        String version = name == null ? null : newest.get(name);
        if (name != null && version != null) {
            id = new ServiceId(name, version);
        }
        return id == null ? null : versions.get(id);
    }

    /** Returns the version of a key, or the versions of a bare name's key, the highest first. */
    List<Held> candidates(long key) {
        ServiceId id = keys.get(key);
        if (id != null) {
            return List.of(Objects.requireNonNull(versions.get(id)));
        }
        String name = nameKeys.get(key);
        Comparator<Held> ascending = Comparator.comparing(held -> held.id.version(), ServiceId.VERSION_ORDER);
        return versions.values().stream()
                .filter(held -> held.id.name().equals(name))
                .sorted(ascending.reversed())
                .toList();
    }

    @Nullable
    Held withJar(String sha256) {
        return versions.values().stream()
                .filter(held -> held.sha256.equals(sha256))
                .findAny()
                .orElse(null);
    }

    List<ServiceId> contents() {
        return versions.keySet().stream().sorted(BY_NAME_AND_VERSION).toList();
    }

    @Nullable
    String newest(String name) {
        return newest.get(name);
    }

    void setNewest(String name, String version) {
        newest.put(name, version);
        nameKeys.put(ServiceKey.of(name), name);
    }

    void used(Held held) {
        jars.get(held.sha256); // The map orders by access.
    }

    void pin(ServiceId id) {
        pins.add(id);
    }

    void unpin(ServiceId id) {
        pins.remove(id);
    }

    long bytes() {
        return bytes;
    }

    /**
     * Returns the versions that must go, least recently used first, before so many bytes more are within the limit;
     * null when what is pinned alone leaves too little room.
     */
    @Nullable
    List<Held> toEvict(long moreBytes, long limitBytes) {
        List<Held> evicted = new ArrayList<>();
        long bytesLeft = bytes;
        for (Map.Entry<String, Long> jar : jars.entrySet()) {
            if (bytesLeft + moreBytes <= limitBytes) {
                break;
            }
            List<Held> users = versions.values().stream()
                    .filter(held -> held.sha256.equals(jar.getKey()))
                    .toList();
            if (users.stream().noneMatch(held -> pins.contains(held.id))) {
                evicted.addAll(users);
                bytesLeft -= jar.getValue();
            }
        }
        return bytesLeft + moreBytes <= limitBytes ? evicted : null;
    }
}
