package org.tamanoir.catalog;

import java.util.Arrays;
import org.tamanoir.anep.ServiceKey;

/**
 * The keys by which packets name one instance's service: the first one it was found by, and others, as with a version
 * and without one, that have come to mean the same.
 *
 * <p>Thread contract: the service's thread.
 */
public final class ServiceKeys {
    /** Stands for no key; that a name has it by chance is as likely as that two names have the same. */
    private static final long NO_KEY = -1;
    /** Keys beside the first that are remembered: a service has one with its version, and one without. */
    private static final int MAX_ALIASES = 4;

    private final ServiceCatalog catalog;
    private final ServiceDefinition definition;
    private long first;
    private long[] aliases = new long[0];
    private int catalogGeneration;

    public ServiceKeys(ServiceCatalog catalog, ServiceDefinition definition) {
        this.catalog = catalog;
        this.definition = definition;
        this.first = definition == Transit.DEFINITION ? ServiceKey.NONE : definition.key();
    }

    /** Makes packets that name this key the instance's, whatever the catalog says. Before its start. */
    public void begin(long wanted) {
        first = wanted;
    }

    public boolean isFirst(long wanted) {
        return wanted == first;
    }

    public boolean isAlias(long wanted) {
        for (long alias : aliases) {
            if (wanted == alias) {
                return true;
            }
        }
        return false;
    }

    /** Remembers a key that means the service in the catalog. */
    public void adopt(long wanted) {
        if (first == NO_KEY) {
            first = wanted;
        } else if (aliases.length < MAX_ALIASES) {
            aliases = Arrays.copyOf(aliases, aliases.length + 1);
            aliases[aliases.length - 1] = wanted;
        }
    }

    /** Forgets keys that have come to mean another service, or none, in the catalog. */
    public void refresh() {
        int generation = catalog.generation();
        if (generation != catalogGeneration && definition != Transit.DEFINITION) {
            catalogGeneration = generation;
            if (catalog.find(first) != definition) {
                first = NO_KEY;
            }
            aliases = Arrays.stream(aliases)
                    .filter(alias -> catalog.find(alias) == definition)
                    .toArray();
        }
    }
}
