package org.tamanoir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;

/** Streams whose input has ended while answers wait for their sender, who is lost then, in virtual time. */
@Tag("once")
class LostSenderTest {
    private static final long SEED = Seeds.ofCommit(LostSenderTest.class);
    /** Far more than the sender's window takes. */
    private static final int PAYLOAD_BYTES = 1000;

    private static final int LOST_AFTER_MS = 50;

    /** Answers the first packet of a stream, and ends the stream at the second. */
    private static final class AnswersOnce extends Service {
        private boolean hasAnswered;

        @Override
        public Verdict process(Packet packet) {
            if (hasAnswered) {
                return closeStream("enough");
            }
            hasAnswered = true;
            return Verdict.REPLY;
        }
    }

    private static void endsWith(int packets, byte[] behind, DropReason reason) throws Exception {
        CalmNode.play(SEED, node -> {
            node.service("once", AnswersOnce::new);
            node.environment.start();
            node.lostSender(1, "once", packets, PAYLOAD_BYTES, behind, LOST_AFTER_MS);
            node.await(() -> node.ends.size() == 1);
            assertThat(node.settle()).isEqualTo(Map.of(reason, 1L, DropReason.PEER_GONE, 1L));
            assertThat(node.ends.get(0)).startsWith(reason == DropReason.SERVICE ? "SERVICE_CLOSED" : reason.name());
        });
    }

    @Test
    void aStreamThatItsServiceHasEndedEnds() throws Exception {
        endsWith(2, new byte[0], DropReason.SERVICE);
    }

    @Test
    void aStreamThatIsNoPacketsAnyMoreEnds() throws Exception {
        endsWith(1, new byte[8], DropReason.VERSION);
    }
}
