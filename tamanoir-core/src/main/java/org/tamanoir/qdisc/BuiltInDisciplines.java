package org.tamanoir.qdisc;

import java.util.List;
import java.util.function.BiFunction;

/** The disciplines of this package. */
final class BuiltInDisciplines {
    private BuiltInDisciplines() {}

    /** A provider of each. */
    static List<DisciplineProvider> all() {
        return List.of(
                new BuiltIn(Fifo.NAME, true, Fifo::new),
                new BuiltIn(PriorityQueueing.NAME, true, PriorityQueueing::new),
                new BuiltIn(DeficitRoundRobin.NAME, true, DeficitRoundRobin::forPackets, DeficitRoundRobin::forTurns),
                new BuiltIn(CoDel.NAME, false, CoDel::new),
                new BuiltIn(FqCoDel.NAME, false, FqCoDel::new),
                new BuiltIn(WeightedFairQueueing.NAME, false, WeightedFairQueueing::wfq),
                new BuiltIn(WeightedFairQueueing.NAME_EQUAL, false, WeightedFairQueueing::fq),
                new BuiltIn(SelfClockedQueueing.SCFQ, true, SelfClockedQueueing::scfq),
                new BuiltIn(SelfClockedQueueing.STFQ, true, SelfClockedQueueing::stfq),
                new BuiltIn(WorstCaseFairQueueing.NAME, true, WorstCaseFairQueueing::new));
    }

    /**
     * Makes a discipline by its constructor.
     *
     * @param makerForTurns the same where it orders turns: sizes are nanoseconds, and {@code charge} follows
     */
    record BuiltIn(
            String name,
            boolean ordersTurns,
            BiFunction<DisciplineConfig, Drops, QueueingDiscipline> maker,
            BiFunction<DisciplineConfig, Drops, QueueingDiscipline> makerForTurns)
            implements DisciplineProvider {
        /** For packets alone, or the same for both. */
        BuiltIn(String name, boolean ordersTurns, BiFunction<DisciplineConfig, Drops, QueueingDiscipline> maker) {
            this(name, ordersTurns, maker, maker);
        }

        @Override
        public QueueingDiscipline create(DisciplineConfig config, Drops drops) {
            return maker.apply(config, drops);
        }
    }
}
