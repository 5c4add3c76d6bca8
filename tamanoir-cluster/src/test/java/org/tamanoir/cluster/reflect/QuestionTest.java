package org.tamanoir.cluster.reflect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Waiting;

class QuestionTest {
    private final AtomicInteger changes = new AtomicInteger();
    private final Question<Integer> question = new Question<>(changes::incrementAndGet);

    @Test
    void aChangeThatWasGivenUpIsNotMadeLater() {
        assertThatThrownBy(() -> question.await(1)).isInstanceOf(TimeoutException.class);
        question.run();
        assertThat(changes).hasValue(0);
    }

    @Test
    void oneThatHasBegunIsWaitedFor() throws Exception {
        question.run();
        assertThat(question.await(Waiting.PATIENCE.toMillis())).isEqualTo(1);
    }
}
