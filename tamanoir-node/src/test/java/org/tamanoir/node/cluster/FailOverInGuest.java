package org.tamanoir.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.node.cluster.ClusterBed.eventually;
import static org.tamanoir.node.cluster.ClusterBed.virtual;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.support.Tiers;

/** Two directors and keepalived, all processes: the active one's machine falls off the network. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
class FailOverInGuest {
    private static final int PACKETS = 5;

    private ClusterBed bed;
    private DirectorMachine active;
    private DirectorMachine standBy;

    @BeforeAll
    @Timeout(600)
    void open() {
        bed = ClusterBed.get();
        Tiers.require("keepalived", bed.director.hasKeepalived(), "no keepalived: install the package");
        active = bed.director;
        standBy = bed.second;
        start(active, "vrrp: {interface: eth0, router-id: 51, priority: 150, source: 10.88.0.2, peers: [10.88.0.3]}");
        start(standBy, "vrrp: {interface: eth0, router-id: 51, priority: 100, source: 10.88.0.3, peers: [10.88.0.2]}");
        active.awaitStarted();
        standBy.awaitStarted();
        bed.startNodes();
        active.awaitUp(3);
        standBy.awaitUp(3);
        active.startKeepalived();
        eventually().until(() -> active.status().get("active").asBoolean());
        standBy.startKeepalived();
        // The kernel tells of a connection once, and again some packets later: who does not listen yet misses it.
        eventually()
                .untilAsserted(() -> assertThat(standBy.sync())
                        .as("the sync daemon of the stand-by")
                        .contains("backup sync daemon"));
    }

    private static void start(DirectorMachine director, String vrrp) {
        director.config(ClusterBed.SERVICES + "settings: {sync_threshold: 3 10}\n" + vrrp + "\n");
        director.start();
    }

    @AfterEach
    void end() {
        bed.endStreams();
    }

    @AfterAll
    void close() {
        List.of(bed.director, bed.second).forEach(DirectorMachine::killAll);
    }

    @Test
    void establishedStreamsSurviveTheLossOfTheActiveDirector() {
        List<Stream> streams = bed.streams(3, "tcp", virtual("direct"), PACKETS);
        eventually()
                .untilAsserted(
                        () -> { // the kernel tells the other of a connection at its packets 3, 13, 23, ...
                            streams.forEach(stream -> stream.send(1));
                            bed.awaitAll(streams);
                            assertThat(standBy.established(virtual("direct")))
                                    .as("connections that the stand-by knows")
                                    .isEqualTo(streams.size());
                        });
        active.machine.run("ip link set eth0 down");
        eventually().until(() -> standBy.status().get("active").asBoolean());
        streams.forEach(stream -> stream.send(PACKETS));
        List<Stream> next = bed.streams(3, "tcp", virtual("direct"), PACKETS);
        bed.awaitAll(streams);
        bed.awaitAll(next);
        assertThat(bed.division(streams)).containsExactly(1, 1, 1);
        assertThat(bed.division(next)).containsExactly(1, 1, 1);
    }
}
