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
final class LevelMetrics {
    private LevelMetrics() {}

    static void add(Metrics all, NodeOs levels, List<ServiceStatus> services) {
        Map<Level, LevelCounters> byLevel = new EnumMap<>(Level.class);
        Map<Level, Integer> policies = new EnumMap<>(Level.class);
        for (Offload offload : levels.offloads()) {
            byLevel.merge(offload.level(), offload.counters(), LevelCounters::plus);
            policies.merge(offload.level(), 1, Integer::sum);
        }
        for (LevelStatus status : levels.levels()) {
            Metrics metrics = all.group("level_", "level", status.level().label());
            String there = "Whether packets can be handled at this level: 1 or 0.";
            metrics.gauge("there", there, status.isThere() ? 1 : 0);
            if (status.level() != Level.JVM && status.isThere()) {
                metrics.gauge("policies", "Policies at work now.", policies.getOrDefault(status.level(), 0));
                work(metrics, byLevel.getOrDefault(status.level(), LevelCounters.ZERO));
                String help = "What a level has met, as docs/levels.md says.";
                status.met()
                        .forEach((name, packets) -> metrics.with("met", name).counter("met", help, packets));
            }
        }
        services.forEach(service -> placement(all, service));
    }

    private static void work(Metrics metrics, LevelCounters counters) {
        String help = "Packets that the policies at work now have decided about.";
        metrics.with("outcome", "up").gauge("packets", help, counters.up());
        metrics.with("outcome", "on").gauge("packets", help, counters.on());
        metrics.with("outcome", "dropped").gauge("packets", help, counters.dropped());
        String bytes = "Bytes of packets that the policies at work now have handled without the JVM.";
        metrics.gauge("bytes", bytes, counters.bytes());
    }

    private static void placement(Metrics all, ServiceStatus service) {
        String actual = service.placement().actual().label();
        all.with("service", service.name(), "version", service.version())
                .with("level", actual, "wanted", service.placement().wanted())
                .gauge("service_level", "Where its UDP packets are handled; always 1.", 1);
    }
}
