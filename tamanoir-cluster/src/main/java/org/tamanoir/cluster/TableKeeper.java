package org.tamanoir.cluster;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.cluster.lvs.LvsTable;
import org.tamanoir.cluster.lvs.Ownership;
import org.tamanoir.cluster.lvs.Plan;
import org.tamanoir.cluster.lvs.Planner;
import org.tamanoir.cluster.lvs.VirtualAddress;

/**
 * Makes the kernel's table and settings what is wanted. What it will make is written down as its own before it is made,
 * so that a director that is killed in between leaves nothing that its successor does not know.
 *
 * <p>Thread contract: one thread at a time.
 */
final class TableKeeper {
    private final Ipvs ipvs;
    private final Ownership ownership;
    private LvsTable actual = LvsTable.of(Set.of());

    TableKeeper(Ipvs ipvs, Ownership ownership) {
        this.ipvs = ipvs;
        this.ownership = ownership;
    }

    /** Returns the table as it was after the last look or change. */
    LvsTable actual() {
        return actual;
    }

    /** Returns which virtual services are its own, whether or not they are in the table. */
    Set<VirtualAddress> ownedServices() {
        return Set.copyOf(ownership.owned());
    }

    /** Returns those of the table's services that are its own. */
    LvsTable owned() throws ClusterException {
        actual = ipvs.read();
        Set<VirtualAddress> owned = ownership.owned();
        return LvsTable.of(actual.services().values().stream()
                .filter(service -> owned.contains(service.at()))
                .toList());
    }

    /** Returns what would change. */
    Plan plan(LvsTable wanted) throws ClusterException {
        actual = ipvs.read();
        return Planner.plan(wanted, actual, ownership.owned());
    }

    /** Changes it; what is right already is not touched. */
    Plan bring(LvsTable wanted) throws ClusterException {
        Plan plan = plan(wanted);
        Set<VirtualAddress> before = Set.copyOf(ownership.owned());
        Set<VirtualAddress> both = new HashSet<>(before);
        both.addAll(wanted.services().keySet());
        own(both);
        if (!plan.isEmpty()) {
            try {
                ipvs.apply(plan);
            } catch (ClusterException e) {
                own(before); // Nothing was made; a wanted service that is there now is another's.
                throw e;
            }
            actual = ipvs.read();
        }
        own(wanted.services().keySet());
        return plan;
    }

    private void own(Set<VirtualAddress> services) throws ClusterException {
        if (!services.equals(ownership.owned())) {
            ownership.own(services);
        }
    }

    /**
     * Settings of the kernel that are not as they are to be.
     *
     * @return the values that they have
     */
    Map<String, String> differing(Map<String, String> settings) throws ClusterException {
        Map<String, String> found = new TreeMap<>(ipvs.settings(settings.keySet()));
        found.entrySet().removeIf(each -> {
            String wanted = settings.get(each.getKey());
            return wanted == null || words(wanted).equals(words(each.getValue()));
        });
        return found;
    }

    /** Returns the words of a value: the kernel parts the numbers of one setting by a tab. */
    private static List<String> words(String value) {
        return List.of(value.strip().split("\\s+"));
    }

    /** Sets those that differ. */
    void set(Map<String, String> settings) throws ClusterException {
        Map<String, String> differing = differing(settings);
        for (Map.Entry<String, String> each : settings.entrySet()) {
            if (differing.containsKey(each.getKey())) {
                ipvs.set(each.getKey(), each.getValue());
            }
        }
    }
}
