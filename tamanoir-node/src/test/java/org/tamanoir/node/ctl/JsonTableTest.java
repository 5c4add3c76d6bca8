package org.tamanoir.node.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

@Tag("once")
class JsonTableTest {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    @Test
    void numbersAreThoseOfTheJson() {
        List<String> lines = new ArrayList<>();
        JsonTable.print(
                MAPPER.readTree(
                        "[{\"n\":1.875},{\"n\":0.9},{\"n\":7},{\"n\":18446744073709551615},{\"n\":null},{\"n\":-0.001}]"),
                lines::add,
                JsonTable.number("N", "n"));

        assertThat(lines.stream().map(String::strip))
                .containsExactly("N", "1.875", "0.9", "7", "18446744073709551615", "-", "-0.001");
    }

    @Test
    void jitterOfRtpKeepsItsFraction() {
        List<String> lines = new ArrayList<>();
        CtlRtp.rtp(
                MAPPER.readTree(
                        "{\"sources\":[{\"ssrc\":\"0000000a\",\"sender\":\"127.0.0.1:1\",\"receiver\":\"127.0.0.1:2\","
                                + "\"payloadType\":0,\"received\":9,\"lost\":0,\"misordered\":0,\"jitterMs\":0.9,\"ended\":false,"
                                + "\"report\":null}],\"companions\":{}}"),
                lines::add);

        assertThat(lines.get(1)).contains(" 0.9 ");
    }
}
