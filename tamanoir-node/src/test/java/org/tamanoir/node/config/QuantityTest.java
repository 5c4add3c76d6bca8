package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {
    private static final Duration MAX = Duration.ofHours(24);

    @ParameterizedTest
    @CsvSource({"500ms,500", "10s,10000", "5m,300000", "5min,300000", "2h,7200000", "0s,0", "1500 ms,1500"})
    void durationsHaveUnits(String text, long millis) {
        assertThat(Quantity.duration(text, Duration.ZERO, MAX)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s", "-5s", "1.5s", "10", "10 years", "5S"})
    void whatIsNoDurationIsRefused(String text) {
        assertThatThrownBy(() -> Quantity.duration(text, Duration.ZERO, MAX))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'" + text + "' is no duration");
    }

    @Test
    void durationsOutOfBoundsNameTheBounds() {
        assertThatThrownBy(() -> Quantity.duration("2s", Duration.ofMillis(1), Duration.ofSeconds(1)))
                .hasMessage("2s is out of bounds: 1ms to 1s are allowed");
        assertThatThrownBy(() -> Quantity.duration("999999999999999999h", Duration.ZERO, MAX))
                .hasMessageContaining("out of bounds");
    }

    @ParameterizedTest
    @CsvSource({"100M,100000000", "2.5k,2500", "7,7", "0.5,0.5", "1G,1000000000"})
    void ratesHaveDecimalPrefixes(String text, double rate) {
        assertThat(Quantity.rate(text)).isEqualTo(rate);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k", "-1", "0", "1T", "1e3", "1 M", "1K", "1KiB"})
    void whatIsNoRateIsRefused(String text) {
        assertThatThrownBy(() -> Quantity.rate(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'" + text + "' is no number");
    }

    @Test
    void countsAreWhole() {
        assertThat(Quantity.count("1.5k")).isEqualTo(1_500);
        assertThatThrownBy(() -> Quantity.count("1.5")).hasMessage("'1.5' is no whole number of 1 or more");
    }

    @ParameterizedTest
    @CsvSource({"4k,4096", "64KiB,65536", "1MiB,1048576", "2M,2097152", "1G,1073741824", "1GiB,1073741824", "17,17"})
    void sizesArePowersOf1024(String text, long bytes) {
        assertThat(Quantity.bytes(text, 0, Long.MAX_VALUE)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "MiB", "-1", "1.5MiB", "1kB", "1 mile"})
    void whatIsNoSizeIsRefused(String text) {
        assertThatThrownBy(() -> Quantity.bytes(text, 0, Long.MAX_VALUE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'" + text + "' is no size");
    }

    @ParameterizedTest
    @CsvSource({"0x544D,21581", "1,1", "65535,65535"})
    void numbersAreDecimalOrHexadecimal(String text, int number) {
        assertThat(Quantity.number(text, 1, 65_535)).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0",
                "65536",
                "-1",
                "99999999999",
                "0x",
                "0x-1",
                "x",
                "",
                "1.0",
                "010",
                "00",
                "#10",
                "+1",
                "٧",
                "0x٧"
            })
    void numbersOutOfBoundsAreRefused(String text) {
        assertThatThrownBy(() -> Quantity.number(text, 1, 65_535))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 to 65535");
    }

    @Test
    void quantitiesReadWhatTheyWrite() {
        for (long millis : new long[] {0, 1, 999, 1_000, 60_000, 90_000, 3_600_000}) {
            Duration duration = Duration.ofMillis(millis);
            assertThat(Quantity.duration(Quantity.toString(duration), Duration.ZERO, MAX))
                    .isEqualTo(duration);
        }
        assertThat(Quantity.toString(1L << 20)).isEqualTo("1MiB");
        assertThat(Quantity.toString(128L << 10)).isEqualTo("128KiB");
    }

    @ParameterizedTest
    @CsvSource({
        "10Mbit/s,1250000,10Mbit/s",
        "1.25MB/s,1250000,10Mbit/s",
        "1250000,1250000,10Mbit/s",
        "1kbit/s,125,1kbit/s",
        "33.3kbit/s,4163,4163B/s",
        "8bit/s,1,1B/s",
        "1GB/s,1000000000,8Gbit/s",
        "10 Mbit/s,1250000,10Mbit/s",
        "8000Gbit/s,1000000000000,8000Gbit/s"
    })
    void byteRatesAreInBitsOrBytesASecond(String text, long bytes, String shortest) {
        assertThat(Quantity.byteRate(text, 1, 1_000_000_000_000L)).isEqualTo(bytes);
        assertThat(Quantity.rateText(bytes)).isEqualTo(shortest);
        assertThat(Quantity.byteRate(shortest, 1, 1_000_000_000_000L)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "10Mbps", "10M", "-1", "1e6", "10mbit/s", "fast", "10KiB/s", "1.B/s"})
    void whatIsNoByteRateIsRefused(String text) {
        assertThatThrownBy(() -> Quantity.byteRate(text, 1, 1000))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'" + text + "' is no rate");
    }

    @Test
    void byteRatesOutOfBoundsNameTheBounds() {
        for (String text : new String[] {"0", "1bit/s", "9kbit/s", "999999999999999999GB/s"}) {
            assertThatThrownBy(() -> Quantity.byteRate(text, 1, 1000))
                    .hasMessage(text + " is out of bounds: 1B/s to 8kbit/s are allowed");
        }
    }

    @ParameterizedTest
    @CsvSource({"250us,250000", "1ms,1000000", "1s,1000000000", "1500us,1500000", "17ns,17", "0s,0"})
    void shortDurationsGoDownToNanoseconds(String text, long nanos) {
        assertThat(Quantity.shortDuration(text, Duration.ZERO, MAX)).isEqualTo(Duration.ofNanos(nanos));
        assertThat(Quantity.shortText(Duration.ofNanos(nanos))).isEqualTo(text);
        assertThatThrownBy(() -> Quantity.shortDuration("1m", Duration.ZERO, MAX))
                .hasMessageStartingWith("'1m' is no duration");
    }
}
