package org.tamanoir.node.config;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.FctSettings;
import org.tamanoir.cluster.element.ring.RingPlan;
import org.tamanoir.cluster.element.ring.RingSettings;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;

/** The section {@code element}: the distributed element that the node is a unit of. One thread. */
final class ElementSettings {
    /** Where units and distributors have their control addresses unless these say otherwise. */
    static final int CONTROL_PORT = 3328;

    /** The discipline of the link that holds packets for the token. */
    private static final String DISCIPLINE = "fct";

    /**
     * Packets that may be on their way at once: as many as one system call sends. The token waits until they have left.
     */
    private static final int AT_ONCE = 64;

    private final Values values;

    ElementSettings(Values values) {
        this.values = values;
    }

    boolean isConfigured() {
        return !values.get(NodeSettings.UNITS).isEmpty();
    }

    /** A file that holds a key; what is wrong with it is known before the process starts. */
    static Path keyFile(String text) {
        Path file = Path.of(text);
        RingKey.read(file);
        return file;
    }

    /** Looks at what only shows when file and command line have been read. */
    void check(Problems problems, QosConfig qos, String whereLinks) {
        List<Link> links = qos.links().stream()
                .filter(link -> link.discipline().equals(DISCIPLINE))
                .toList();
        if (!isConfigured()) {
            if (NodeSettings.of("element").stream().anyMatch(values::differs)) {
                problems.add("element", "no unit; list the control addresses of all of them with element.units");
            } else if (!links.isEmpty()) {
                problems.add(
                        whereLinks,
                        "link '" + links.get(0).name()
                                + "': discipline fct waits for the token of a ring; say in section "
                                + "element which one, or choose another discipline");
            }
            return;
        }
        String where = values.where(NodeSettings.UNITS);
        Integer unit = values.find(NodeSettings.UNIT);
        int units = values.get(NodeSettings.UNITS).size();
        if (unit == null || unit >= units) {
            problems.add(
                    where,
                    (unit == null ? "no unit is this node's" : "unit " + unit + " is none of them")
                            + "; give element.unit, 0 to " + (units - 1));
        }
        if (units > RingPlan.MAX_UNITS) {
            problems.add(where, units + " units: a ring has " + RingPlan.MAX_UNITS + " at most; list fewer");
        }
        InetSocketAddress distributor = values.find(NodeSettings.DISTRIBUTOR);
        if (distributor != null && values.get(NodeSettings.UNITS).contains(distributor)) {
            problems.add(
                    values.where(NodeSettings.DISTRIBUTOR),
                    "distributor " + Endpoint.toString(distributor) + " is one of the units; give it its own address");
        }
        if (values.find(NodeSettings.RING_KEY) == null) {
            problems.add(where, "units know each other by a key; name its file with element.key-file");
        }
        if (links.size() != 1) {
            problems.add(
                    where,
                    "links with the discipline fct: there are " + links.size()
                            + ", must be 1, over which processed packets leave; see qos.links");
        }
        links.stream()
                .filter(Link::police)
                .forEach(link -> problems.add(
                        whereLinks,
                        "link '" + link.name()
                                + "': excess drop would drop what waits for the token of the ring; choose"
                                + " excess wait with discipline fct"));
        if (values.get(NodeSettings.IDLE_MAX).compareTo(values.get(NodeSettings.HOLD_MAX)) < 0) {
            problems.add(
                    values.where(NodeSettings.IDLE_MAX),
                    "idle-max " + Quantity.shortText(values.get(NodeSettings.IDLE_MAX)) + ": must be hold-max, "
                            + Quantity.shortText(values.get(NodeSettings.HOLD_MAX)) + ", or more");
        }
    }

    /** All of it; null when the node is no unit. To be used only when no problem was found. */
    @Nullable
    ElementConfig build() {
        Integer unit = values.find(NodeSettings.UNIT);
        Path keyFile = values.find(NodeSettings.RING_KEY);
        if (!isConfigured() || unit == null || keyFile == null) {
            return null;
        }
        Duration idleMax = values.get(NodeSettings.IDLE_MAX);
        Map<Integer, InetSocketAddress> units = new HashMap<>();
        values.get(NodeSettings.UNITS).forEach(address -> units.put(units.size(), address));
        InetSocketAddress distributor = values.find(NodeSettings.DISTRIBUTOR);
        RingPlan plan = RingPlan.of(units.keySet(), distributor != null);
        Duration barrier = values.get(NodeSettings.BARRIER);
        long t1Ns = Math.max(plan.t1Ns(), 2 * units.size() * barrier.toNanos()); // Units may keep the token so long.
        return new ElementConfig(
                new FctSettings(
                        unit,
                        values.get(NodeSettings.DISCARD),
                        values.get(NodeSettings.HOLD_BUDGET),
                        barrier.toNanos(),
                        values.get(NodeSettings.HOLD_MAX).toNanos(),
                        idleMax.toNanos(),
                        AT_ONCE),
                new RingSettings(
                        values.get(NodeSettings.RING_ID),
                        RingKey.read(keyFile),
                        units,
                        distributor,
                        new RingPlan(plan.units(), plan.distributor(), idleMax.toNanos(), t1Ns)),
                values.get(NodeSettings.GROUP));
    }
}
