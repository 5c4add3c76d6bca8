package org.tamanoir.node.config;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.manager.DeploymentConfig.ServiceSettings;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;

/** The settings of a service. */
final class ServiceTable {
    static final Records<ServiceLimits> LIMIT = new Records<>("services.limits");
    private static final Setting<Double> PROCESSORS = LIMIT.add(
            "processors",
            Kind.of("0.01 to 1024", Quantity::processors, number -> number),
            null,
            "no limit",
            limits -> limits.processors() == 0 ? null : (Double) limits.processors());
    private static final Setting<Long> ALLOCATION = LIMIT.add(
            "allocation",
            Kind.size(1 << 20, 1L << 40),
            null,
            "no limit",
            limits -> limits.allocationBytesPerSecond() == 0 ? null : (Long) limits.allocationBytesPerSecond());
    private static final Setting<Duration> PACKET_BUDGET = LIMIT.add(
            "packet-budget",
            Kind.duration(Duration.ofMillis(1), Duration.ofMinutes(1)),
            null,
            "no limit",
            limits -> limits.packetBudgetNs() == 0 ? null : Duration.ofNanos(limits.packetBudgetNs()));

    private static final Setting.Table TABLE = new Setting.Table("services");
    static final Setting<String> NAME = TABLE.require(
            "name", Kind.text("`package.Name`, `package.Name:version`", NodeConfigBuilder::serviceName), "Monitor");
    static final Setting<String> CLASS =
            TABLE.add("class", Kind.text("class name", text -> text), null, "the name without its version");
    private static final Setting<FailurePolicy> FAILURE_POLICY =
            TABLE.add("failure-policy", Kind.choice(Choice.POLICIES), FailurePolicy.DROP);
    static final Setting<Map<String, String>> CONFIG = TABLE.add(
            "config",
            Kind.structured(
                    "mapping of texts", (service, key) -> service.section(key).texts(), TreeMap::new),
            Map.of(),
            "empty");
    private static final Setting<ServiceLimits> LIMITS = TABLE.add(
            "limits",
            Kind.structured("mapping", (service, key) -> limits(LIMIT.read(service.section(key))), LIMIT::data),
            ServiceLimits.NONE,
            "none");
    static final Setting<Placement.Wanted> LEVEL = TABLE.add(
            "level",
            Kind.of("`jvm`, `module`, `tc`, `xdp`, `auto`", Placement.Wanted::of, Placement.Wanted::label),
            Placement.Wanted.JVM);
    private static final Setting<Boolean> DISPATCH =
            TABLE.add("dispatch", Kind.choice(Map.of("stream", false, "packet", true)), false);
    private static final Setting<Boolean> ORDER =
            TABLE.add("order", Kind.choice(Map.of("stream", true, "none", false)), true);
    private static final Setting<Integer> JOBS =
            TABLE.add("jobs", Kind.number("", Dispatch.MIN_JOBS, Dispatch.MAX_JOBS), Dispatch.DEFAULT_JOBS);
    static final List<Setting<?>> ALL = TABLE.settings();

    private ServiceTable() {}

    private static ServiceLimits limits(Values given) {
        return new ServiceLimits(
                given.find(PROCESSORS, 0.0),
                given.find(ALLOCATION, 0L),
                given.find(PACKET_BUDGET, Duration.ZERO).toNanos());
    }

    /** Puts settings of a service over those that it has; those of its own it has together. */
    static Values merged(@Nullable Values before, Values given) {
        Values merged = before == null ? new Values() : before.copy();
        Map<String, String> config = new HashMap<>(merged.get(CONFIG));
        config.putAll(given.get(CONFIG));
        merged.putAll(given);
        merged.put(CONFIG, config, given.where(CONFIG));
        return merged;
    }

    /** Returns in one line what of these settings does not go together; of those that are given for workers alone, too. */
    static Optional<String> misfit(Values service) {
        if (service.get(DISPATCH)) {
            String noLevel = settings(service).dispatch().whyNot(service.get(LEVEL));
            return noLevel.isEmpty() ? Optional.empty() : Optional.of(noLevel);
        }
        return Stream.of(ORDER, JOBS)
                .filter(setting -> service.isGiven(setting) && service.differs(setting))
                .map(setting -> setting.path()
                        + " without dispatch packet: it counts for workers alone; add dispatch: packet, or remove it")
                .findFirst();
    }

    static ServiceSettings settings(Values service) {
        return new ServiceSettings(
                new ServiceConfig(service.get(CONFIG)),
                service.get(FAILURE_POLICY),
                service.get(LIMITS),
                service.get(LEVEL),
                new Dispatch(service.get(DISPATCH), service.get(ORDER), service.get(JOBS)));
    }

    /** Reads a service of the command line: {@code NAME[,KEY=VALUE...]}. */
    static Values parse(String text, String where) {
        String[] words = text.split(",", -1);
        Map<String, String> config = new HashMap<>();
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("'" + words[i] + "' is no setting: KEY=VALUE is wanted");
            }
            if (config.put(words[i].substring(0, equals), words[i].substring(equals + 1)) != null) {
                throw new IllegalArgumentException("'" + words[i] + "' sets its key a second time; remove one");
            }
        }
        Values service = new Values();
        service.put(NAME, NodeConfigBuilder.serviceName(words[0]), where);
        service.put(CONFIG, config, where);
        return service;
    }
}
