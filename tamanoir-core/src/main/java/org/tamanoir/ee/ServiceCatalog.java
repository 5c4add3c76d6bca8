package org.tamanoir.ee;

import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The services that a node has, by key. Any thread may call. */
public final class ServiceCatalog {
    private final ConcurrentHashMap<Long, ServiceDefinition> byKey = new ConcurrentHashMap<>();

    /** Adds a service, or replaces it for streams to come. */
    public void add(ServiceDefinition definition) {
        byKey.put(definition.key(), definition);
    }

    /** Adds a service under a key of its own: that of {@code name:version}, or another name. */
    public void add(long key, ServiceDefinition definition) {
        byKey.put(key, definition);
    }

    /** Takes a service away from streams to come, under every key that means it. */
    public void remove(ServiceDefinition definition) {
        byKey.values().removeIf(other -> other == definition);
    }

    /** The service of this key, null when the node does not have it. */
    public @Nullable ServiceDefinition find(long key) {
        return byKey.get(key);
    }

    /** All services, each once. */
    public Collection<ServiceDefinition> all() {
        Set<ServiceDefinition> each = Collections.newSetFromMap(new IdentityHashMap<>());
        each.addAll(byKey.values());
        return each;
    }
}
