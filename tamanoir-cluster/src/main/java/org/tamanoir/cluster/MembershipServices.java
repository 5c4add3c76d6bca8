package org.tamanoir.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.BackOff;

/**
 * Which services the directors want deployed, which of them are, and when those that failed are tried again.
 *
 * <p>Thread contract: any thread.
 */
final class MembershipServices {
    static final long MIN_BACK_OFF_NS = Duration.ofSeconds(1).toNanos();
    static final long MAX_BACK_OFF_NS = Duration.ofMinutes(1).toNanos();

    private static final class Entry {
        @Nullable
        String deployed;

        @Nullable
        String problem;

        long backOffNs;
        long dueNs;
    }

    private final Map<String, Entry> entries = new TreeMap<>();

    /** Wants these and no others; what is new is due at once. Returns whether something is new. */
    synchronized boolean want(Collection<String> services, long nowNs) {
        entries.keySet().retainAll(services);
        boolean isNew = false;
        for (String service : services) {
            if (!entries.containsKey(service)) {
                Entry entry = new Entry();
                entry.dueNs = nowNs;
                entries.put(service, entry);
                isNew = true;
            }
        }
        return isNew;
    }

    /** Returns one that is to be deployed now; null when none is. */
    synchronized @Nullable String next(long nowNs) {
        for (Map.Entry<String, Entry> each : entries.entrySet()) {
            if (each.getValue().deployed == null && each.getValue().dueNs - nowNs <= 0) {
                return each.getKey();
            }
        }
        return null;
    }

    /** @param version {@code name:version}, or a name alone for one of the class path */
    synchronized void deployed(String service, String version) {
        Entry entry = entries.get(service);
        if (entry != null) {
            entry.deployed = version;
            entry.problem = null;
        }
    }

    synchronized void failed(String service, String problem, long nowNs) {
        Entry entry = entries.get(service);
        if (entry != null) {
            entry.problem = problem;
            entry.backOffNs = BackOff.doubled(entry.backOffNs, MIN_BACK_OFF_NS, MAX_BACK_OFF_NS);
            entry.dueNs = nowNs + entry.backOffNs;
        }
    }

    /** Versions that are deployed. */
    synchronized List<String> deployed() {
        List<String> versions = new ArrayList<>();
        for (Entry entry : entries.values()) {
            if (entry.deployed != null) {
                versions.add(entry.deployed);
            }
        }
        return versions;
    }

    synchronized List<MembershipStatus.Wanted> status() {
        List<MembershipStatus.Wanted> all = new ArrayList<>();
        entries.forEach(
                (service, entry) -> all.add(new MembershipStatus.Wanted(service, entry.deployed, entry.problem)));
        return all;
    }
}
