package org.tamanoir.sched;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;

/**
 * The counts of one scheduling point, by class. A class keeps its counts as long as each configuration has one of its
 * name; one that is gone is shown while something waits in it.
 *
 * <p>Thread contract: inside the point's lock.
 */
final class PointCounts {
    private final boolean sharesProcessors;
    /** Those of the configuration that holds, in its order; then those that are gone and were not empty. */
    private final Map<String, ClassCounts> byName = new LinkedHashMap<>();

    private int current;

    /**
     * @param sharesProcessors true: shares are those of processor time; false: of bytes
     */
    PointCounts(boolean sharesProcessors) {
        this.sharesProcessors = sharesProcessors;
    }

    /** Counts by the classes of this configuration from now on; shares count from here. */
    void change(QosConfig next) {
        Map<String, ClassCounts> before = new LinkedHashMap<>(byName);
        byName.clear();
        for (TrafficClass each : next.classes()) {
            ClassCounts kept = before.remove(each.name());
            ClassCounts counts = kept == null ? new ClassCounts() : kept;
            counts.configurationChanged(sharesProcessors);
            byName.put(each.name(), counts);
        }
        current = byName.size();
        before.values().removeIf(ClassCounts::isIdle);
        before.values().forEach(each -> each.configurationChanged(sharesProcessors));
        byName.putAll(before);
    }

    /** Returns the counts of a class of the configuration that holds. */
    ClassCounts of(String className) {
        ClassCounts known = byName.get(className);
        if (known == null) {
            throw new IllegalArgumentException("class '" + className + "': the configuration has none of this name");
        }
        return known;
    }

    QosStatus.Point status(String point, String discipline) {
        long total = 0;
        for (ClassCounts each : byName.values()) {
            total += each.sinceChange(sharesProcessors);
        }
        List<QosStatus.ClassStatus> all = new ArrayList<>();
        for (Map.Entry<String, ClassCounts> each : byName.entrySet()) {
            ClassCounts counts = each.getValue();
            if (all.size() < current || !counts.isIdle()) {
                double share = total == 0 ? 0 : (double) counts.sinceChange(sharesProcessors) / total;
                all.add(counts.status(each.getKey(), share));
            }
        }
        return new QosStatus.Point(point, discipline, all);
    }
}
