package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;

/**
 * The classes of traffic before processing, in the order of the configuration that holds.
 *
 * <p>Thread contract: inside the scheduler's lock.
 */
final class TurnClasses {
    private final List<TurnClass> classes = new ArrayList<>(List.of(new TurnClass("")));
    private TurnClass byDefault = classes.get(0);
    private QosConfig config = QosConfig.OFF;

    List<TurnClass> all() {
        return classes;
    }

    TurnClass byDefault() {
        return byDefault;
    }

    /** What these classes are now: those that keep their names stay, and what was of others is the default class's. */
    void change(QosConfig next) {
        Map<String, TurnClass> before = new HashMap<>();
        classes.forEach(each -> before.put(each.name, each));
        classes.clear();
        for (TrafficClass each : next.classes()) {
            TurnClass kept = before.remove(each.name());
            TurnClass now = kept == null ? new TurnClass(each.name()) : kept;
            now.index = classes.size();
            now.counts.configurationChanged(true);
            classes.add(now);
            if (each.name().equals(next.defaultClass())) {
                byDefault = now;
            }
        }
        for (TurnClass gone : before.values()) {
            gone.successor = byDefault;
            byDefault.packetsWaiting += gone.packetsWaiting;
            byDefault.octetsWaiting += gone.octetsWaiting;
        }
        config = next;
    }

    /**
     * The class that an index meant.
     *
     * @param from the configuration that it comes from, which may have been replaced since
     */
    TurnClass of(QosConfig from, int index) {
        if (from == config) {
            return classes.get(index);
        }
        String name = from.classes().get(index).name();
        for (TurnClass each : classes) {
            if (each.name.equals(name)) {
                return each;
            }
        }
        return byDefault;
    }

    QosStatus.Point status(String discipline) {
        long total = 0;
        for (TurnClass each : classes) {
            total += each.counts.sinceChange(true);
        }
        List<QosStatus.ClassStatus> all = new ArrayList<>();
        for (TurnClass each : classes) {
            double share = total == 0 ? 0 : (double) each.counts.sinceChange(true) / total;
            all.add(each.counts.status(each.name, each.packetsWaiting, each.octetsWaiting, each.turnsWaiting, share));
        }
        return new QosStatus.Point("pre", discipline, all);
    }
}
