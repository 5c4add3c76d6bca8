package org.tamanoir.manager;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.deploy.LoadedService;
import org.tamanoir.deploy.ServiceId;

/** One loaded version of a service. Its owner's lock guards what is not final. */
final class DeployedVersion {
    final ServiceId id;
    final LoadedService loaded;
    final ServiceHealth life;
    final Placement placement;
    final Instant since = Instant.now();
    /** Someone asked for exactly this version: it stays when the bare name comes to mean another. */
    boolean pinned;
    /** Streams to come do not get it. */
    boolean leaving;

    /** Leads to its classes, so it goes when they should; null from then on. */
    private volatile @Nullable ServiceDefinition definition;

    DeployedVersion(ServiceId id, LoadedService loaded, ServiceDefinition definition) {
        this.id = id;
        this.loaded = loaded;
        this.definition = definition;
        this.life = definition.health();
        this.placement = definition.placement();
    }

    String source() {
        return loaded.code().source();
    }

    @Nullable
    String publisherId() {
        return loaded.code().publisherId();
    }

    String jarSha256() {
        return loaded.code().manifest().jarSha256();
    }

    /** Returns what the environment runs; null once it is closed. */
    @Nullable
    ServiceDefinition definition() {
        return definition;
    }

    /** Lets its classes go. */
    void close() {
        loaded.close();
        definition = null;
    }

    boolean closed() {
        return definition == null;
    }

    /** Returns what keeps its classes in memory although they should have gone. */
    List<String> holders() {
        return closed() ? loaded.holders() : List.of();
    }
}
