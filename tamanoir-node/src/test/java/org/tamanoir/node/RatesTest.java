package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RatesTest {
    @Test
    void quantitiesHaveDecimalPrefixesAndTimesUnits() {
        assertThat(Rates.parseNumber("100M")).isEqualTo(1e8);
        assertThat(Rates.parseNumber("2.5k")).isEqualTo(2_500);
        assertThat(Rates.parseNumber("7")).isEqualTo(7);
        assertThat(Rates.parseTime("500ms")).isEqualTo(Duration.ofMillis(500));
        assertThat(Rates.parseTime("1.5m")).isEqualTo(Duration.ofSeconds(90));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k", "-1", "1T", "1e3", "1 M"})
    void whatIsNoNumberIsRefused(String text) {
        assertThatThrownBy(() -> Rates.parseNumber(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:4000", "[::1]:0", "localhost:65535"})
    void addressesHaveAPort(String text) {
        assertThat(Rates.parseHostPort(text).getPort()).isBetween(0, 65_535);
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "::1:4000", ":4000", "host:", "host:65536", "host:-1"})
    void whatIsNoAddressIsRefused(String text) {
        assertThatThrownBy(() -> Rates.parseHostPort(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void ratesReadLikePeopleWriteThem() {
        assertThat(Rates.octetRate(3.21e9, 1)).isEqualTo("3.21 GB/s");
        assertThat(Rates.packetRate(30_000, 1)).isEqualTo("30.0 kpackets/s");
        assertThat(Rates.octetRate(1, 0)).isEqualTo("0 B/s");
    }
}
