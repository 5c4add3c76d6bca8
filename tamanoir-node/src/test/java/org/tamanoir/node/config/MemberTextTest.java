package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.cluster.reflect.Direction;
import org.tamanoir.cluster.reflect.Terms;

class MemberTextTest {
    @Test
    void wordsMayStandInAnyOrder() {
        assertThat(MemberText.member("127.0.0.1:9").terms()).isEqualTo(Terms.OPEN);
        assertThat(MemberText.member("[::1]:9,class=2,10Mbit/s,receive").terms())
                .isEqualTo(new Terms(Direction.RECEIVE, 1_250_000, 2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"both", "send", "receive,10Mbit/s", "both,1kbit/s,class=0", "receive,class=7"})
    void whatIsWrittenIsReadAsTheSame(String text) {
        assertThat(MemberText.of(MemberText.terms(text))).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.1:9,", "127.0.0.1:9,fast", "127.0.0.1:9,class=256", "127.0.0.1:9,0"})
    void whatIsNoMemberIsRefusedInOneLine(String text) {
        assertThatThrownBy(() -> MemberText.member(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("\n");
    }
}
