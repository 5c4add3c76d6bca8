package org.tamanoir.gateway.udp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.admission.FairPlaces;
import org.tamanoir.support.Waiting;

/** Who has a place among the senders of a gateway, without sockets. */
class GatewayFlowsTest {
    /** 10.0.0.0. */
    private static final long LOW = 0xFFFF_0A00_0000L;

    private final GatewayFlows flows = new GatewayFlows();
    private long nowNs = 1_000_000_000_000L;

    private @Nullable GatewayFlow flow(int host, int port) {
        return flows.of(0, LOW + host, port, 0, 0, 0, nowNs);
    }

    private GatewayFlow sends(int host, int port) {
        GatewayFlow flow = requireNonNull(flow(host, port));
        if (flow.sent(300)) {
            flows.prove(flow);
        }
        return flow;
    }

    private GatewayFlow proves(int host, int port) {
        sends(host, port).answered();
        return sends(host, port);
    }

    /** All was used a while ago. */
    private void rest(long ns) {
        flows.sweep(nowNs);
        flows.beginRound();
        nowNs += ns;
        flows.sweep(nowNs);
    }

    @Test
    void answersLeaveByTheInterfaceThatTheSenderCameByLast() {
        GatewayFlow flow = requireNonNull(flows.of(0, LOW, 5004, 0, LOW, 2, nowNs));
        assertThat(flow.ownDevice()).isEqualTo(2);
        assertThat(flows.of(0, LOW, 5004, 0, LOW, 3, nowNs)).isSameAs(flow);
        flow.comesBy(3);
        assertThat(flow.ownDevice()).isEqualTo(3);
    }

    @Test
    void whoIsProvenIsNotAskedAgainForEachDatagram() {
        GatewayFlow flow = proves(1, 5004);
        flow.answered();
        assertThat(flow.sent(300)).isFalse();
        flows.sweep(nowNs);
        assertThat(flow.sent(300))
                .as("once a sweep, since it may have lost its place")
                .isTrue();
    }

    @Test
    void anAnswerFromBeforeHisPlaceWasLostProvesNobody() {
        GatewayFlow flow = proves(1, 5004);
        flow.answered();
        rest(GatewayFlows.KEPT_NS);
        assertThat(flow.sent(300)).isFalse();
    }

    @Test
    void whereAllAreProvenThereIsNoRoom() {
        for (int host = 0; host < GatewayFlows.MAX_FLOWS; host++) {
            proves(host, 5004);
        }
        rest(GatewayFlows.KEPT_NS - 1);
        assertThat(flow(GatewayFlows.MAX_FLOWS, 5004)).isNull();
        rest(1);
        assertThat(flow(GatewayFlows.MAX_FLOWS, 5004))
                .as("who has not sent for a while gives way")
                .isNotNull();
    }

    /** Others hold the lock: who is answered waits for them no more than for a place. */
    @Test
    void whereAllPlacesAreTakenAnswersToOthersTakeNoLock() {
        for (int host = 0; host < GatewayFlows.MAX_FLOWS; host++) {
            sends(host, 5004);
        }
        synchronized (flows) {
            Waiting.async(() -> {
                        assertThat(flows.answered(0, LOW + GatewayFlows.MAX_FLOWS, 5004, 0, 0, 0, nowNs))
                                .isNull();
                        assertThat(flows.answered(0, LOW + 1, 5004, 0, 0, 0, nowNs))
                                .isNotNull();
                    })
                    .orTimeout(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .join();
        }
        assertThat(flows.count()).isEqualTo(GatewayFlows.MAX_FLOWS);
    }

    @Test
    void oneHostKeepsNoMorePlacesThanItsShare() {
        GatewayFlow other = proves(1, 5004);
        int ports = 0;
        for (int port = 1; port < GatewayFlows.MAX_FLOWS; port++) {
            if (!proves(0, port).isClosed()) {
                ports++;
            }
        }
        assertThat(ports).isEqualTo(GatewayFlows.MAX_FLOWS - 1);
        rest(1);
        int kept = FairPlaces.share(GatewayFlows.MAX_FLOWS);
        for (int newcomer = 1; newcomer <= GatewayFlows.MAX_FLOWS - 1 - kept; newcomer++) {
            proves(1 + newcomer, 5004);
            flows.beginRound();
        }
        assertThat(other.isClosed()).isFalse();
        assertThat(flow(3_000, 5004)).as("all others keep theirs").isNull();
    }

    @Test
    void theFlowThatIsUsedOutlivesThoseThatAreNot() {
        GatewayFlow used = sends(0, 5004);
        GatewayFlow quiet = sends(1, 5004);
        for (int host = 2; host < GatewayFlows.MAX_FLOWS; host++) {
            sends(host, 5004);
        }
        rest(1);
        used.answered();
        for (int newcomer = 1; newcomer < GatewayFlows.MAX_FLOWS; newcomer++) {
            assertThat(flow(5_000 + newcomer, 5004)).isNotNull();
            flows.beginRound();
        }
        assertThat(quiet.isClosed()).isTrue();
        assertThat(used.isClosed()).isFalse();
    }

    @Test
    void anIdleFlowEnds() {
        GatewayFlow proven = proves(0, 5004);
        GatewayFlow used = proves(1, 5004);
        rest(GatewayFlows.IDLE_NS - 1);
        assertThat(proven.isClosed()).isFalse();
        used.answered();
        rest(1);
        assertThat(proven.isClosed()).isTrue();
        assertThat(used.isClosed()).isFalse();
        assertThat(flow(0, 5004)).isNotSameAs(proven);
        assertThat(flow(1, 5004)).isSameAs(used);
    }

    @Test
    void noMoreGiveWayInARoundThanTheSystemCloses() {
        for (int host = 0; host < GatewayFlows.MAX_FLOWS; host++) {
            sends(host, 5004);
        }
        rest(1);
        int made = 0;
        while (flow(5_000 + made, 5004) != null) {
            made++;
        }
        assertThat(made).isEqualTo(256);
        flows.beginRound();
        assertThat(flow(5_000 + made, 5004)).isNotNull();
    }

    @Test
    void thereAreNoneAfterTheEnd() {
        GatewayFlow flow = sends(0, 5004);
        flows.close();
        assertThat(flow.isClosed()).isTrue();
        assertThat(flow(0, 5004)).isNull();
        assertThat(flows.isClosed()).isTrue();
    }

    @Test
    void whatGoesBackIsTakenFromWhatWasSent() {
        GatewayFlow flow = sends(0, 5004);
        assertThat(flow.takeAnswer(301)).isFalse();
        assertThat(flow.takeAnswer(300)).isTrue();
        assertThat(flow.takeAnswer(1)).isFalse();
    }
}
