package org.tamanoir.qdisc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.qdisc.TestItem.Dropped;

class FifoTest {
    private final Dropped dropped = new Dropped();

    private Fifo fifo(Map<String, String> options) {
        List<FlowConfig> flows = List.of(new FlowConfig(1, 2, 1000), new FlowConfig(9, 1, 500));
        return new Fifo(new DisciplineConfig(flows, 0, options), dropped);
    }

    @Test
    void servesInTheOrderOfArrivalOverAllFlows() {
        Fifo fifo = fifo(Map.of());
        fifo.enqueue(TestItem.of("a", 1, 10), 0);
        fifo.enqueue(TestItem.of("b", 0, 10), 1);
        fifo.enqueue(TestItem.of("c", 1, 10), 2);
        assertThat(TestItem.drainByDequeue(fifo, 3)).isEqualTo("a b c");
    }

    @Test
    void dropsWhatArrivesWhenThePacketsOfAllFlowsAreThere() {
        Fifo fifo = fifo(Map.of());
        for (String name : List.of("a", "b", "c", "d")) {
            fifo.enqueue(TestItem.of(name, 0, 10), 0);
        }
        assertThat(dropped).hasToString("d:QUEUE_FULL");
        assertThat(TestItem.drainByDequeue(fifo, 0)).isEqualTo("a b c");
    }

    @Test
    void dropsWhatArrivesWhenTheBytesOfAllFlowsAreThere() {
        Fifo fifo = fifo(Map.of());
        fifo.enqueue(TestItem.of("a", 0, 1400), 0);
        fifo.enqueue(TestItem.of("b", 0, 101), 0);
        fifo.enqueue(TestItem.of("c", 0, 100), 0);
        assertThat(dropped).hasToString("b:QUEUE_FULL");
        assertThat(fifo.bytes()).isEqualTo(1500);
    }

    @Test
    void takesItsLimitsFromTheOptions() {
        Fifo fifo = fifo(Map.of("limit-packets", "1", "limit-bytes", "20"));
        fifo.enqueue(TestItem.of("a", 0, 21), 0);
        fifo.enqueue(TestItem.of("b", 0, 20), 0);
        fifo.enqueue(TestItem.of("c", 0, 0), 0);
        assertThat(dropped).hasToString("a:QUEUE_FULL c:QUEUE_FULL");
    }

    @Test
    void doesNotCareAboutTheFlow() {
        Fifo fifo = fifo(Map.of());
        fifo.enqueue(TestItem.of("a", -1, 10), 0);
        fifo.enqueue(TestItem.of("b", 1000, 10), 0);
        assertThat(TestItem.drainByDequeue(fifo, 0)).isEqualTo("a b");
    }

    @Test
    void whatMustNotBeDroppedFillsTheQueueForTheOthers() {
        Fifo fifo = fifo(Map.of());
        for (String name : List.of("a", "b", "c", "d")) {
            fifo.enqueue(TestItem.keep(name, 0, 10), 0);
        }
        fifo.enqueue(TestItem.of("e", 0, 10), 0);
        assertThat(dropped).hasToString("e:QUEUE_FULL");
        assertThat(fifo.packets()).isEqualTo(4);
    }
}
