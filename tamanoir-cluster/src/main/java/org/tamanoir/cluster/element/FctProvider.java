package org.tamanoir.cluster.element;

import org.tamanoir.qdisc.DisciplineConfig;
import org.tamanoir.qdisc.DisciplineProvider;
import org.tamanoir.qdisc.Drops;
import org.tamanoir.qdisc.QueueingDiscipline;

/** Makes {@code fct}: packets of a distributed element leave by the token of its ring. Thread contract: any thread. */
public final class FctProvider implements DisciplineProvider {
    @Override
    public String name() {
        return FctDiscipline.NAME;
    }

    @Override
    public QueueingDiscipline create(DisciplineConfig config, Drops drops) {
        return new FctDiscipline(config, drops);
    }
}
