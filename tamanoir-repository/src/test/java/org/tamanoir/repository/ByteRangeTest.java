package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteRangeTest {
    @ParameterizedTest
    @CsvSource({
        "bytes=0-0, 0, 0",
        "bytes=2-5, 2, 5",
        "bytes=2-, 2, 9",
        "bytes=9-9, 9, 9",
        "bytes=0-99, 0, 9",
        "bytes=-1, 9, 9",
        "bytes=-99, 0, 9",
        "bytes= 3-4 , 3, 4"
    })
    void oneRangeIsCutToTheFile(String header, long first, long last) {
        assertThat(ByteRange.of(header, 10)).isEqualTo(new ByteRange(first, last));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=10-", "bytes=99-100", "bytes=-0"})
    void octetsThatAreNotThereCannotBeHad(String header) {
        assertThat(ByteRange.of(header, 10)).isSameAs(ByteRange.UNSATISFIABLE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bytes=",
                "bytes=-",
                "bytes=5-2",
                "bytes=0-1,3-4",
                "octets=0-1",
                "bytes=a-b",
                "0-1",
                "bytes=99999999999999999999-",
                "bytes=-1-2"
            })
    void whatIsNoSingleRangeMeansTheWholeFile(String header) {
        assertThat(ByteRange.of(header, 10)).isNull();
    }

    @Test
    void withoutAHeaderItIsTheWholeFile() {
        @Nullable String none = null;
        assertThat(ByteRange.of(none, 10)).isNull();
    }
}
