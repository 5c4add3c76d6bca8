package org.tamanoir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;

/** Streams that their service closes, whose sender is told to stop, in virtual time. */
@Tag("once")
class StoppedSenderTest {
    private static final long SEED = Seeds.ofCommit(StoppedSenderTest.class);

    private static final class Closes extends Service {
        @Override
        public Verdict process(Packet packet) {
            return closeStream("enough");
        }
    }

    /** Part of a basic header, a malformed one, and more than a buffer takes. */
    @ParameterizedTest
    @ValueSource(ints = {1, 9, 600_000})
    void bytesThatAreNoPacketsKeepNoStreamOpen(int bytes) throws Exception {
        byte[] behind = new byte[bytes];
        Arrays.fill(behind, (byte) 0xff);
        CalmNode.play(SEED, node -> {
            node.service("closes", Closes::new);
            node.environment.start();
            node.stoppedSender(1, "closes", behind);
            long beganNs = node.simulation.nanoTime();
            node.await(() -> node.ends.size() == 1);
            assertThat(node.simulation.nanoTime() - beganNs).isLessThan(CalmNode.LINGER_TIMEOUT.toNanos());
            assertThat(node.settle()).containsOnlyKeys(DropReason.SERVICE, DropReason.TRUNCATED);
        });
    }
}
