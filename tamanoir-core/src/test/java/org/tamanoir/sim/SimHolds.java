package org.tamanoir.sim;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;

/**
 * Packets that services hold, and what was said of them: what {@link Suspension#resume} has taken becomes of the packet,
 * and one of which it has taken nothing never leaves.
 */
final class SimHolds {
    private static final Verdict[] VERDICTS = {
        Verdict.FORWARD, Verdict.FORWARD, Verdict.FORWARD, Verdict.REPLY, Verdict.DROP, Verdict.CONSUME
    };

    private final Simulation simulation;
    /** By the packet's {@link Content#number}; {@link Verdict#HELD} = nothing has been taken. */
    private final Map<Long, Verdict> taken = new HashMap<>();

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

    /** Holds a packet, and says what becomes of it: at once, later, twice, too late, or never. */
    Verdict hold(Content content, Function<Duration, Suspension> holding) {
        Suspension held = holding.apply(Duration.ofMillis(1 + simulation.random.nextInt(300)));
        taken.put(content.number(), Verdict.HELD);
        int lot = simulation.random.nextInt(12);
        if (lot == 0 || lot == 5) {
            say(content, held);
        } else if (lot > 1) {
            simulation.at(simulation.random.nextInt(lot < 4 ? 400_000_000 : 20_000_000), () -> say(content, held));
        }
        if (lot % 4 == 2) {
            simulation.at(simulation.random.nextInt(20_000_000), () -> say(content, held));
        }
        return lot == 5 ? Verdict.DROP : Verdict.HELD; // What was said first counts.
    }

    private void say(Content content, Suspension held) {
        Verdict verdict = VERDICTS[simulation.random.nextInt(VERDICTS.length)];
        if (held.resume(verdict)) {
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

    private static boolean leaves(Verdict verdict) {
        return verdict == Verdict.FORWARD || verdict == Verdict.REPLY;
    }
}
