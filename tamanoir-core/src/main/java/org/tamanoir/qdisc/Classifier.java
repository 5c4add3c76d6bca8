package org.tamanoir.qdisc;

import java.util.Arrays;
import java.util.UUID;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.routing.Prefix;

/**
 * Finds the class of a packet: by its class-of-service option, else by the first rule that fits, else the default
 * class. It looks at each packet by itself, since the packets of one stream may be of different classes.
 *
 * <p>Thread contract: immutable.
 */
public final class Classifier {
    private static final int NO_CLASS = -1;
    /** Of this process, so that senders cannot choose streams that share a queue. */
    private static final long SALT = UUID.randomUUID().getLeastSignificantBits();

    private static final Prefix ANY = new Prefix(0, 0, 0);

    /** By value of the class-of-service option. */
    private final int[] byClassOfService = new int[256];

    private final Rule[] rules;
    private final int defaultClass;

    /**
     * @param config without problems
     */
    public Classifier(QosConfig config) {
        Arrays.fill(byClassOfService, NO_CLASS);
        for (int i = 0; i < config.classes().size(); i++) {
            for (int value : config.classes().get(i).classesOfService()) {
                byClassOfService[value] = i;
            }
        }
        rules = config.rules().stream().map(rule -> new Rule(rule, config)).toArray(Rule[]::new);
        defaultClass = indexOf(config, config.defaultClass());
    }

    private static int indexOf(QosConfig config, String name) {
        for (int i = 0; i < config.classes().size(); i++) {
            if (config.classes().get(i).name().equals(name)) {
                return i;
            }
        }
        throw new IllegalArgumentException("class '" + name + "': there is none of this name");
    }

    /** Index of the packet's class in the configuration. Allocates nothing. */
    public int classOf(Packet packet) {
        int value = packet.classOfService();
        if (value >= 0 && byClassOfService[value] != NO_CLASS) {
            return byClassOfService[value];
        }
        for (Rule rule : rules) {
            if (rule.fits(packet)) {
                return rule.trafficClass;
            }
        }
        return defaultClass;
    }

    /** Returns in words what {@link #classOf} goes by. Allocates. */
    public String why(Packet packet) {
        int value = packet.classOfService();
        if (value >= 0 && byClassOfService[value] != NO_CLASS) {
            return "class of service " + value;
        }
        String beyond = value < 0 ? "" : "class of service " + value + " is of no class; ";
        for (int i = 0; i < rules.length; i++) {
            if (rules[i].fits(packet)) {
                return beyond + "rule " + (i + 1) + " fits";
            }
        }
        return beyond + (rules.length == 0 ? "no rules: " : "no rule fits: ") + "the default class";
    }

    /** A hash of the packet's stream: of its stream identifier and its ends. Differs from process to process. */
    public static long streamHash(Packet packet) {
        long hash = SALT ^ packet.streamId();
        if (packet.hasInternetSource()) {
            hash = mix(hash ^ packet.sourceHigh()) ^ packet.sourceLow();
        }
        if (packet.hasInternetDestination()) {
            hash = mix(mix(hash) ^ packet.destinationHigh()) ^ packet.destinationLow();
        }
        return mix(hash ^ packet.destinationPort());
    }

    /** Spreads the bits; the multipliers are those of the SplitMix64 generator (Steele, Lea, Flood 2014). */
    private static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ mixed >>> 31;
    }

    /** A rule as it is compared. */
    private static final class Rule {
        final boolean anyService;
        final long serviceKey;
        final boolean anySource;
        final Prefix source;
        final boolean anyDestination;
        final Prefix destination;
        final boolean anyStream;
        final long firstStream;
        final long lastStream;
        final int trafficClass;

        Rule(ClassRule rule, QosConfig config) {
            anyService = rule.service() == null;
            serviceKey = rule.service() == null ? ServiceKey.NONE : ServiceKey.of(rule.service());
            anySource = rule.source() == null;
            source = rule.source() == null ? ANY : rule.source();
            anyDestination = rule.destination() == null;
            destination = rule.destination() == null ? ANY : rule.destination();
            anyStream = rule.firstStream() == null;
            firstStream = rule.firstStream() == null ? 0 : rule.firstStream();
            lastStream = rule.lastStream() == null ? 0 : rule.lastStream();
            trafficClass = indexOf(config, rule.trafficClass());
        }

        boolean fits(Packet packet) {
            return (anyService || packet.serviceKey() == serviceKey)
                    && (anySource
                            || (packet.hasInternetSource() && source.contains(packet.sourceHigh(), packet.sourceLow())))
                    && (anyDestination
                            || (packet.hasInternetDestination()
                                    && destination.contains(packet.destinationHigh(), packet.destinationLow())))
                    && (anyStream || (packet.has(Option.STREAM) && hasStream(packet.streamId())));
        }

        private boolean hasStream(int id) {
            long stream = Integer.toUnsignedLong(id);
            return stream >= firstStream && stream <= lastStream;
        }
    }
}
