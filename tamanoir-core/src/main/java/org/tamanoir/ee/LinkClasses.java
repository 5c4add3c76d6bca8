package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;

/**
 * The classes of traffic at one link, under the configuration that holds. A class keeps its counts as long as each
 * configuration has one of its name.
 *
 * <p>Thread contract: inside the link's lock.
 */
final class LinkClasses {
    private @Nullable QosConfig config;
    private LinkClass[] classes = new LinkClass[0];
    private Map<String, LinkClass> byName = Map.of();
    private int defaultClass;

    /** Takes a configuration, while nothing stands in the discipline; returns the classes that are no more. */
    List<LinkClass> change(QosConfig next) {
        config = next;
        Map<String, LinkClass> before = byName;
        Map<String, LinkClass> now = new HashMap<>();
        classes = new LinkClass[next.classes().size()];
        for (int i = 0; i < classes.length; i++) {
            TrafficClass each = next.classes().get(i);
            LinkClass old = before.get(each.name());
            classes[i] = old == null ? new LinkClass(each, i) : old;
            classes[i].change(each, i);
            now.put(each.name(), classes[i]);
            if (each.name().equals(next.defaultClass())) {
                defaultClass = i;
            }
        }
        byName = Map.copyOf(now);
        return before.values().stream()
                .filter(old -> now.get(old.name()) != old)
                .toList();
    }

    /** What waits is of a class of this configuration from now on, and counted there. */
    void reclassify(LinkItem item) {
        LinkClass now = of(item.currentClass().name());
        item.trafficClass = now;
        now.begins(item.octets);
    }

    private LinkClass of(String className) {
        LinkClass known = byName.get(className);
        return known != null ? known : classes[defaultClass];
    }

    /** An index means what it meant in the configuration that it comes from. */
    LinkClass of(QosConfig seen, int index) {
        return seen == config ? classes[index] : of(seen.classes().get(index).name());
    }

    Map<String, LinkClass> byName() {
        return byName;
    }

    int count() {
        return classes.length;
    }

    /** Whether one that was full has room again. */
    boolean haveRoomAgain() {
        boolean any = false;
        for (LinkClass each : classes) {
            any |= each.hasRoomAgain();
        }
        return any;
    }

    void awaitRoomNoMore(LinkQueue queue) {
        for (LinkClass each : classes) {
            each.awaitsNoMore(queue);
        }
    }

    /** Nobody has to wait for room any more. */
    void dissolve() {
        for (LinkClass each : classes) {
            each.dissolve();
        }
    }

    List<QosStatus.ClassStatus> status() {
        long sum = 0;
        for (LinkClass each : classes) {
            sum += each.counts.sinceChange(false);
        }
        List<QosStatus.ClassStatus> all = new ArrayList<>();
        for (LinkClass each : classes) {
            all.add(each.status(sum == 0 ? 0 : (double) each.counts.sinceChange(false) / sum));
        }
        return all;
    }
}
