package org.tamanoir.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TrafficTest {
    /** Threads are read one after another: the one that took a packet may be seen before the one that handed it on. */
    @Test
    void aPacketThatIsSeenWhereItWasTakenAloneIsHeldByNobody() {
        Tap tap = new Tap();
        Traffic reception = new Traffic(tap, "reception");
        Traffic service = new Traffic(tap, "service");
        Traffic.Sum sum = new Traffic.Sum();
        reception.addTo(sum);
        reception.in(100);
        reception.handed();
        reception.publish();
        service.taken();
        service.out(1, 100);
        service.publish();
        service.addTo(sum);
        TrafficSnapshot moving = sum.ofNode();
        assertThat(moving.held()).isZero();
        assertThat(moving.packetsIn()).isOne();

        Traffic.Sum rest = new Traffic.Sum();
        reception.addTo(rest);
        service.addTo(rest);
        assertThat(rest.ofNode().held()).isZero();
        assertThat(rest.ofNode().packetsIn()).isOne();
    }
}
