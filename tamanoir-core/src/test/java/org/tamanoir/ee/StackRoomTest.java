package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whether a stack has room. */
class StackRoomTest {
    private final List<Boolean> answers = new ArrayList<>();

    private int descend() {
        boolean isThere = StackRoom.isThere();
        if (answers.isEmpty() || answers.get(answers.size() - 1) != isThere) {
            answers.add(isThere);
        }
        return answers.size() > 100 ? 0 : descend() + 1;
    }

    @Test
    void isThereUntilTheStackIsNearlyUsedUp() {
        assertThatThrownBy(this::descend).isInstanceOf(StackOverflowError.class);
        assertThat(answers).startsWith(true).contains(false);
    }
}
