package org.tamanoir.services.extra.transcode;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class G711Test {
    /** The first and the last value of each segment in tables 2a and 2b of ITU-T G.711, of 14 bits. */
    @ParameterizedTest
    @CsvSource({
        "0x80, 8031",
        "0x8F, 4191",
        "0x90, 3999",
        "0x9F, 2079",
        "0xA0, 1983",
        "0xAF, 1023",
        "0xB0, 975",
        "0xBF, 495",
        "0xC0, 471",
        "0xCF, 231",
        "0xD0, 219",
        "0xDF, 99",
        "0xE0, 93",
        "0xEF, 33",
        "0xF0, 30",
        "0xFE, 2",
        "0xFF, 0",
        "0x00, -8031",
        "0x10, -3999",
        "0x6F, -33",
        "0x7E, -2",
        "0x7F, 0"
    })
    void valuesOfMuLawAreThoseOfTheRecommendation(String code, int value) {
        assertThat(G711.fromUlaw(Integer.decode(code))).isEqualTo(value * 4);
    }

    /** The first and the last value of each segment in tables 1a and 1b, of 13 bits; every other bit is inverted. */
    @ParameterizedTest
    @CsvSource({
        "0xFF, 4032", "0xF0, 2112", "0xEF, 2016", "0xE0, 1056", "0xDF, 1008", "0xD0, 528", "0xCF, 504", "0xC0, 264",
        "0xBF, 252", "0xB0, 132", "0xAF, 126", "0xA0, 66", "0x9F, 63", "0x90, 33", "0x8F, 31", "0x80, 1",
        "0x7F, -4032", "0x70, -2112", "0x0F, -31", "0x00, -1"
    })
    void valuesOfALawAreThoseOfTheRecommendation(String plain, int value) {
        assertThat(G711.fromAlaw(Integer.decode(plain) ^ 0x55)).isEqualTo(value * 8);
    }

    /** Samples and codes that programs of others made of them. */
    @ParameterizedTest
    @CsvSource({
        "0, 0xD5, 0xFF",
        "128, 0xDD, 0xEF",
        "256, 0xC5, 0xE7",
        "512, 0xF5, 0xDB",
        "1024, 0xE5, 0xCD",
        "-128, 0x52, 0x6F",
        "-256, 0x5A, 0x67",
        "-512, 0x4A, 0x5B",
        "-1024, 0x7A, 0x4D",
        "32767, 0xAA, 0x80",
        "-32768, 0x2A, 0x00"
    })
    void codesAreThoseOfOthers(int sample, String alaw, String ulaw) {
        assertThat(G711.toAlaw(sample) & 0xFF).isEqualTo(Integer.decode(alaw));
        assertThat(G711.toUlaw(sample) & 0xFF).isEqualTo(Integer.decode(ulaw));
    }

    @Test
    void eachCodesValueGetsThisCodeAgain() {
        for (int code = 0; code < 256; code++) {
            assertThat(G711.toAlaw(G711.fromAlaw(code)) & 0xFF).isEqualTo(code);
            assertThat(G711.toUlaw(G711.fromUlaw(code)) & 0xFF).isEqualTo(code == 0x7F ? 0xFF : code);
        }
    }

    /** The value of a code stands in the middle of its samples, which are as many as its segment's steps are wide. */
    @Test
    void eachSampleGetsTheCodeWhoseStepItLiesIn() {
        for (int sample = Short.MIN_VALUE; sample <= Short.MAX_VALUE; sample++) {
            int ulaw = G711.toUlaw(sample) & 0xFF;
            int clipped = Math.max(-8159 * 4, Math.min(8159 * 4 - 1, sample));
            assertThat(Math.abs(G711.fromUlaw(ulaw) - clipped))
                    .as("μ-law of %d", sample)
                    .isLessThanOrEqualTo(4 << (~ulaw >> 4 & 7));
            int alaw = G711.toAlaw(sample) & 0xFF;
            int segment = (alaw ^ 0x55) >> 4 & 7;
            assertThat(Math.abs(G711.fromAlaw(alaw) - sample))
                    .as("A-law of %d", sample)
                    .isLessThanOrEqualTo(8 << Math.max(0, segment - 1));
        }
    }
}
