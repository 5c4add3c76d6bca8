package org.tamanoir.kernel;

import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.routing.RouteFeed;

/** The levels below the JVM that this host has, for one node. */
public final class KernelBridge {
    private static final List<Level> BELOW = List.of(Level.MODULE, Level.TC, Level.XDP);

    private static final String TOO_MANY =
            Abi.MAX_INSTANCES + " nodes use levels or plain IP in this network namespace already: stop one";

    private KernelBridge() {}

    /**
     * Looks at what is there; changes nothing yet but what a node that was killed has left behind, which it removes.
     *
     * @return {@link NodeOs#NONE} when no interface is configured
     */
    public static NodeOs open(KernelConfig config) {
        if (config.interfaces().isEmpty()) {
            return NodeOs.NONE;
        }
        return open(config, HostFacts.look(config));
    }

    /**
     * Looks whether plain datagrams can come up here, as {@link #open(KernelConfig)} looks for levels.
     *
     * @return {@link PlainTraffic#NONE} when there are no rules, and no interface by which there could be any later
     */
    public static PlainTraffic plain(PlainConfig config) {
        if (config.rules().isEmpty() && config.interfaces().isEmpty()) {
            return PlainTraffic.NONE;
        }
        KernelConfig wanted = new KernelConfig(Set.of(Level.TC), config.interfaces(), false);
        String whyNot = config.interfaces().isEmpty()
                ? "no interface is named: name those that packets come in through, in plain-interfaces"
                : LevelReasons.unavailable(Level.TC, wanted.levels(), HostFacts.look(wanted));
        InstanceLock instance = whyNot == null ? takeInstance() : null;
        String none = whyNot == null ? TOO_MANY : whyNot;
        return new KernelPlain(config, instance, instance == null ? none : "not attached");
    }

    /**
     * Has a feed follow the kernel's routes until it is closed; they are all there when it returns.
     *
     * @param table of the kernel, as {@code ip route show table} takes it
     * @param protocols numbers of those who put routes there, as in /etc/iproute2/rt_protos
     * @param events takes a line on what an operator may want to know; the feed's thread calls it
     * @throws IOException in one line, if the kernel's routes cannot be read
     */
    public static AutoCloseable follow(int table, Set<Integer> protocols, RouteFeed feed, Consumer<String> events)
            throws IOException {
        return KernelRoutes.start(table, protocols, feed, events);
    }

    /** Returns the same on a host of which this is known. */
    static NodeOs open(KernelConfig config, HostFacts facts) {
        Map<Level, String> reasons = new EnumMap<>(Level.class);
        for (Level level : BELOW) {
            String reason = LevelReasons.unavailable(level, config.levels(), facts);
            if (reason != null) {
                reasons.put(level, reason);
            }
        }
        InstanceLock instance = null;
        if (facts.noNative() == null && facts.mayAdministerNetwork()) {
            instance = takeInstance();
            if (instance == null) {
                BELOW.forEach(level -> reasons.putIfAbsent(level, TOO_MANY));
            }
        }
        return new KernelLevels(config, instance, reasons);
    }

    /** Takes the first number that is free, and cleans up behind nodes that had one and were killed. */
    private static @Nullable InstanceLock takeInstance() {
        InstanceLock taken = null;
        for (int number = 0; number < Abi.MAX_INSTANCES; number++) {
            InstanceLock lock = InstanceLock.tryTake(number);
            if (lock == null) {
                continue;
            }
            LeftBehind.remove(number);
            if (taken == null) {
                taken = lock;
            } else {
                lock.close();
            }
        }
        return taken;
    }
}
