package org.tamanoir.qdisc;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The quality of service of a node: its classes of traffic, and where they are scheduled. Anything may stand in here;
 * {@link #problems} tells what is wrong with it.
 *
 * @param classes in the order of their priority; 1 to 64 of them, unless all is off
 * @param defaultClass name of the class of packets that nothing else says anything about
 * @param rules for packets without a class-of-service option, or with one that no class has
 * @param pre null = services process packets as they come
 * @param links empty = packets depart as they come
 * @param points which of these two count
 */
public record QosConfig(
        List<TrafficClass> classes,
        String defaultClass,
        List<ClassRule> rules,
        @Nullable PreProcessing pre,
        List<Link> links,
        QosPoints points) {
    /** No quality of service. */
    public static final QosConfig OFF = new QosConfig(List.of(), "", List.of(), null, List.of());

    public QosConfig {
        classes = List.copyOf(classes);
        rules = List.copyOf(rules);
        links = List.copyOf(links);
    }

    /** All points that are given count. */
    public QosConfig(
            List<TrafficClass> classes,
            String defaultClass,
            List<ClassRule> rules,
            @Nullable PreProcessing pre,
            List<Link> links) {
        this(classes, defaultClass, rules, pre, links, QosPoints.GIVEN);
    }

    /** Returns the same with the point before processing alone. */
    public QosConfig before() {
        return new QosConfig(classes, defaultClass, rules, pre, List.of());
    }

    /** Returns the same with the points after processing alone. */
    public QosConfig after() {
        return new QosConfig(classes, defaultClass, rules, null, links);
    }

    /** Whether nothing is scheduled, and no packet marked. */
    public boolean isOff() {
        return pre == null && links.isEmpty() && trafficOctets().length == 0;
    }

    /** Returns what packets of each class leave with as their IPv4 TOS or IPv6 traffic class; empty if all are 0. */
    public int[] trafficOctets() {
        int[] octets = classes.stream().mapToInt(each -> each.dscp() << 2).toArray();
        return Arrays.stream(octets).allMatch(octet -> octet == 0) ? new int[0] : octets;
    }

    /**
     * All that is wrong, each in one line that says where, what, the bound and the remedy; empty when it can be used.
     */
    public List<String> problems() {
        return QosProblems.of(this);
    }

    /** Returns the weights by which classes share turns; empty where turns go by order, or are not scheduled. */
    public long[] turnWeights() {
        return pre == null ? new long[0] : Disciplines.turnWeights(pre.discipline(), flows());
    }

    /**
     * The classes as disciplines see them.
     *
     * @throws IllegalArgumentException if one is out of its bounds
     */
    public List<FlowConfig> flows() {
        return classes.stream()
                .map(each -> new FlowConfig(each.weight(), each.limitPackets(), each.limitBytes()))
                .toList();
    }

    /**
     * Returns how many chunks of memory the packets of one thread may take up while they wait: twice what the limits of
     * all classes come to, since those that leave first leave gaps.
     */
    public int maxChunks(int chunkBytes) {
        long limit = classes.stream().mapToLong(TrafficClass::limitBytes).sum();
        return (int) Math.min(Integer.MAX_VALUE, 2 * (limit / chunkBytes + classes.size()));
    }
}
