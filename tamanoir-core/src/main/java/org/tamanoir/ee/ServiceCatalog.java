package org.tamanoir.ee;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The services that a node has, by key. Any thread may call. */
public final class ServiceCatalog {
    private final ConcurrentHashMap<Long, ServiceDefinition> byKey = new ConcurrentHashMap<>();

    /** Adds a service, or replaces it for streams to come. */
    public void add(ServiceDefinition definition) {
        byKey.put(definition.key(), definition);
    }

    /** The service of this key, null when the node does not have it. */
    public @Nullable ServiceDefinition find(long key) {
        return byKey.get(key);
    }

    /** All services. */
    public Collection<ServiceDefinition> all() {
        return byKey.values();
    }
}
