package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.transport.LocalSocket;

@Timeout(120)
class AnsweringTest {
    private int tried;
    private int paused;

    /** Counts pauses in place of waiting. */
    private final class Closing extends CountDownLatch {
        Closing() {
            super(1);
        }

        @Override
        public boolean await(long time, TimeUnit unit) {
            paused++;
            return getCount() == 0;
        }
    }

    @Test
    void eachFailureIsFollowedByAPause() {
        Queue<String> causes = new ArrayDeque<>(List.of("no descriptors", "no descriptors", "no memory"));
        Closing closed = new Closing();
        new Answering(() -> fail(causes, closed), LocalSocket::close, closed).run();
        assertThat(tried).isEqualTo(3);
        assertThat(paused).isEqualTo(3);
    }

    private LocalSocket fail(Queue<String> causes, CountDownLatch closed) throws IOException {
        tried++;
        String cause = causes.remove();
        if (causes.isEmpty()) {
            closed.countDown();
        }
        throw new IOException(cause);
    }
}
