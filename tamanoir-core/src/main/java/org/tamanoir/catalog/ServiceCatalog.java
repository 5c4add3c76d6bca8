package org.tamanoir.catalog;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The services that a node has, by key; one service can stand under several keys. TCP streams keep the service they
 * were opened with, whatever its key comes to mean; UDP packets follow the catalog. Any thread may call.
 */
public final class ServiceCatalog {
    private final ConcurrentHashMap<Long, ServiceDefinition> byKey = new ConcurrentHashMap<>();
    private final AtomicInteger generation = new AtomicInteger();

    /** Adds a service, or replaces it for streams to come. */
    public void add(ServiceDefinition definition) {
        add(definition.key(), definition);
    }

    /** Adds a service under a key of its own: that of {@code name:version}, or another name. */
    public void add(long key, ServiceDefinition definition) {
        byKey.put(key, definition);
        generation.incrementAndGet();
    }

    /**
     * Puts a service in place of another one under every key that means that; where there was none, under a key of its
     * own that is free. One change at a time.
     *
     * @param before null = there was none
     * @param fresh null = the other one goes
     */
    public void replace(@Nullable ServiceDefinition before, @Nullable ServiceDefinition fresh) {
        if (before == null) {
            if (fresh != null) {
                byKey.putIfAbsent(fresh.key(), fresh);
            }
        } else if (fresh == null) {
            byKey.values().removeIf(other -> other == before);
        } else {
            byKey.replaceAll((key, other) -> other == before ? fresh : other);
        }
        generation.incrementAndGet();
    }

    /** Takes a service away from streams to come, under every key that means it. */
    public void remove(ServiceDefinition definition) {
        byKey.values().removeIf(other -> other == definition);
        generation.incrementAndGet();
    }

    /** Returns the service of this key, null when the node does not have it. */
    public @Nullable ServiceDefinition find(long key) {
        return byKey.get(key);
    }

    /** Returns whether a key means this service. */
    public boolean has(ServiceDefinition definition) {
        return byKey.values().stream().anyMatch(other -> other == definition);
    }

    /** Returns the keys that mean this service, in a fixed order. */
    public List<Long> keys(ServiceDefinition definition) {
        List<Long> keys = new ArrayList<>();
        byKey.forEach((key, other) -> {
            if (other == definition) {
                keys.add(key);
            }
        });
        keys.sort(null);
        return keys;
    }

    /** Changes whenever a key comes to mean something else. */
    public int generation() {
        return generation.get();
    }

    /** Returns all services, each once. */
    public Collection<ServiceDefinition> all() {
        Set<ServiceDefinition> each = Collections.newSetFromMap(new IdentityHashMap<>());
        each.addAll(byKey.values());
        return each;
    }
}
