package org.tamanoir.format.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

class JsonFaultsTest {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    /** Checks itself, as records of files do. */
    record Leg(int gate, List<Leg> next) {
        Leg {
            if (gate < 0) {
                throw new IllegalArgumentException("gate " + gate + " is below 0");
            }
            next = List.copyOf(next);
        }
    }

    private static String why(String json, Class<?> type) {
        return JsonFaults.why(catchThrowableOfType(JacksonException.class, () -> MAPPER.readValue(json, type)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{} {} | something stands behind the value: remove it",
                "{\"a\":1,\"a\":2} | 'a' stands twice in one object: remove one",
                "{\"a\":+1} | a number is not written as in JSON: no + or 0 in front, digits on both sides of the point",
                "{'a':1} | ''' stands where it cannot: what is due before it?",
                "{\"a\":1 | it is cut off: its end lacks",
                "{\"a\": | it is cut off: its end lacks",
                "{\"a\":nan} | 'nan' is no value: texts stand in double quotes"
            })
    void whatIsNoJsonIsSaidInWords(String json, String why) {
        assertThat(why(json, Object.class)).isIn(why, "field 'a': " + why);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"gate\":{},\"next\":[]} | field 'gate': it is not what is due here",
                "{\"gate\":1,\"next\":[{\"gate\":\"x\"}]} | field 'next[0].gate': it is not what is due here",
                "{\"gate\":1,\"next\":[{\"gate\":99999999999}]} | field 'next[0].gate': 99999999999 is too large",
                "{\"gate\":-1,\"next\":[]} | gate -1 is below 0",
                "{\"gate\":1} | a field lacks",
                "{\"gate\":1,\"next\":[],\"port\":1} | field 'port': it is not what is due here",
                "[] | it is not what is due here"
            })
    void whatIsAnotherValueIsSaidInWords(String json, String why) {
        assertThat(why(json, Leg.class)).isEqualTo(why);
    }

    @Test
    void boundsAreSaid() {
        assertThat(why("[".repeat(10_000), Object.class)).matches("it nests to a depth of \\d+: at most \\d+ is read");
        assertThat(why("[" + "1".repeat(1_001) + "]", Object.class))
                .isEqualTo("a name, number or text has 1001 characters: at most 1000 are read");
    }
}
