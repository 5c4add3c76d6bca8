package org.tamanoir.node.admin;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;

/** Metrics of levels below the JVM. Any thread may call. */
final class LevelFigures {
    private LevelFigures() {}

    static void add(Figures figures, NodeOs levels, List<ServiceStatus> services) {
        Map<Level, LevelCounters> byLevel = new EnumMap<>(Level.class);
        Map<Level, Integer> policies = new EnumMap<>(Level.class);
        for (Offload offload : levels.offloads()) {
            byLevel.merge(offload.level(), offload.counters(), LevelCounters::plus);
            policies.merge(offload.level(), 1, Integer::sum);
        }
        for (LevelStatus status : levels.levels()) {
            String level = status.level().label();
            figures.gauge(
                    "tamanoir_level_there",
                    "Whether packets can be handled at this level: 1 or 0.",
                    status.isThere() ? 1 : 0,
                    "level",
                    level);
            if (status.level() != Level.JVM && status.isThere()) {
                figures.gauge(
                        "tamanoir_level_policies",
                        "Policies at work now.",
                        policies.getOrDefault(status.level(), 0),
                        "level",
                        level);
                work(figures, byLevel.getOrDefault(status.level(), LevelCounters.ZERO), level);
                status.met()
                        .forEach((name, packets) -> figures.counter(
                                "tamanoir_level_met",
                                "What a level has met, as docs/levels.md says.",
                                packets,
                                "level",
                                level,
                                "met",
                                name));
            }
        }
        services.forEach(service -> placement(figures, service));
    }

    private static void work(Figures figures, LevelCounters counters, String level) {
        packets(figures, counters.up(), level, "up");
        packets(figures, counters.on(), level, "on");
        packets(figures, counters.dropped(), level, "dropped");
        figures.gauge(
                "tamanoir_level_octets",
                "Octets of packets that the policies at work now have handled without the JVM.",
                counters.octets(),
                "level",
                level);
    }

    private static void packets(Figures figures, long packets, String level, String outcome) {
        figures.gauge(
                "tamanoir_level_packets",
                "Packets that the policies at work now have decided about.",
                packets,
                "level",
                level,
                "outcome",
                outcome);
    }

    private static void placement(Figures figures, ServiceStatus service) {
        figures.gauge(
                "tamanoir_service_level",
                "Where its UDP packets are handled; always 1.",
                1,
                "service",
                service.name(),
                "version",
                service.version(),
                "level",
                service.placement().actual().label(),
                "wanted",
                service.placement().wanted());
    }
}
