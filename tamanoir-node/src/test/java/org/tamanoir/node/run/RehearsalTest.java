package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.transport.TransportKind;

class RehearsalTest {
    @Test
    void packetsCrossTheNode() {
        assertThat(Rehearsal.run(TransportKind.AUTO, ThreadKind.PLATFORM, Duration.ofSeconds(1)))
                .isPositive();
    }

    @Test
    void packetsCrossANodeWithJavasSockets() {
        assertThat(Rehearsal.run(TransportKind.NIO, ThreadKind.PLATFORM, Duration.ofSeconds(1)))
                .isPositive();
    }
}
