package org.tamanoir.manager;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.ServiceId;

/**
 * The services that the configuration names, and why the last deployment of each was refused. What strangers have refused
 * is not kept.
 *
 * <p>Thread contract: any thread.
 */
final class WantedServices {
    private final Map<Long, String> refusals = new ConcurrentHashMap<>();
    private volatile Supplier<Map<String, String>> names = Map::of;

    void names(Supplier<Map<String, String>> wanted) {
        names = wanted;
    }

    /** Returns names, and those of versions, with what names each. */
    Map<String, String> names() {
        return names.get();
    }

    /** Records why the last deployment of a key was refused. */
    void refused(long key, String why) {
        refusals.put(key, why);
        refusals.keySet()
                .retainAll(names().keySet().stream().map(ServiceKey::of).collect(Collectors.toSet()));
    }

    /** Forgets what was refused of a name, and of this version. */
    void deployed(ServiceId id) {
        refusals.remove(id.nameKey());
        refusals.remove(id.key());
    }

    /** Returns why the last deployment was refused; null if it was not. */
    @Nullable
    String refusal(String name) {
        return refusals.get(ServiceKey.of(name));
    }
}
