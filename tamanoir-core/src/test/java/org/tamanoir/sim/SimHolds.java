package org.tamanoir.sim;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;

/**
 * Packets that services hold, and what was said of them: what {@link Suspension#resume} has taken becomes of the packet,
 * one of which it has taken nothing never leaves, and those of an instance leave in the order in which they were resumed.
 */
final class SimHolds {
    private static final Verdict[] VERDICTS = {
        Verdict.FORWARD, Verdict.FORWARD, Verdict.FORWARD, Verdict.REPLY, Verdict.DROP, Verdict.CONSUME
    };

    private final Simulation simulation;
    /** By the packet's {@link Content#number}; {@link Verdict#HELD} = nothing has been taken. */
    private final Map<Long, Verdict> taken = new HashMap<>();

    /** The packets of each instance, in the order in which they were resumed. */
    private final Map<SimService, List<Long>> resumed = new LinkedHashMap<>();

    /** What says of packets of each instance what becomes of them, which may have been said. */
    private final Map<SimService, List<Runnable>> open = new HashMap<>();

    SimHolds(Simulation simulation) {
        this.simulation = simulation;
    }

    /** Returns whether a service is to hold this packet. Draws nothing: what other seeds play stays as it was. */
    static boolean isOf(long seed, Content content) {
        return seed % 3 == 1
                && switch (content.action()) {
                    case SLOW, CONSUME, GROW -> true;
                    case FORWARD -> content.argument() < 16;
                    default -> false;
                };
    }

    /**
     * Holds a packet, and says what becomes of it: at once, later, twice, too late, never, or together with others of the
     * instance, in any order.
     */
    Verdict hold(SimService by, Content content, Function<Duration, Suspension> holding) {
        Suspension held = holding.apply(Duration.ofMillis(1 + simulation.random.nextInt(300)));
        taken.put(content.number(), Verdict.HELD);
        open.computeIfAbsent(by, any -> new ArrayList<>()).add(() -> say(by, content, held));
        int lot = simulation.random.nextInt(12);
        if (lot == 0 || lot == 5) {
            say(by, content, held);
        } else if (lot == 11) {
            simulation.at(simulation.random.nextInt(20_000_000), () -> sayAll(by));
        } else if (lot > 1) {
            simulation.at(simulation.random.nextInt(lot < 4 ? 400_000_000 : 20_000_000), () -> say(by, content, held));
        }
        if (lot % 4 == 2) {
            simulation.at(simulation.random.nextInt(20_000_000), () -> say(by, content, held));
        }
        return lot == 5 ? Verdict.DROP : Verdict.HELD; // What was said first counts.
    }

    private void sayAll(SimService by) {
        List<Runnable> says = open.getOrDefault(by, List.of());
        while (!says.isEmpty()) {
            says.remove(simulation.random.nextInt(says.size())).run();
        }
    }

    private void say(SimService by, Content content, Suspension held) {
        Verdict verdict = VERDICTS[simulation.random.nextInt(VERDICTS.length)];
        if (held.resume(verdict)) {
            resumed.computeIfAbsent(by, any -> new ArrayList<>()).add(content.number());
            Verdict before = taken.put(content.number(), verdict);
            if (before != Verdict.HELD) {
                simulation.fail(new AssertionError(content + ": resumed with " + before + ", and with " + verdict));
            }
        }
    }

    /** Returns whether a packet that has left may have: its service has not held it, or let it go. */
    boolean mayLeave(Content content) {
        Verdict verdict = taken.get(content.number());
        return verdict == null || leaves(verdict);
    }

    /** Returns whether a packet has to leave, by what was said of it. */
    boolean mustLeave(Content content) {
        Verdict verdict = taken.get(content.number());
        return verdict != null && leaves(verdict);
    }

    /** Returns the place of a packet among those that were resumed of the instance that held it; null of any other. */
    @Nullable
    Place place(Content content) {
        int instance = 0;
        for (List<Long> each : resumed.values()) {
            int place = each.indexOf(content.number());
            if (place >= 0) {
                return new Place(instance, place);
            }
            instance++;
        }
        return null;
    }

    /** What an instance has resumed, and when among the others that it has. */
    record Place(int instance, int place) {}

    private static boolean leaves(Verdict verdict) {
        return verdict == Verdict.FORWARD || verdict == Verdict.REPLY;
    }
}
