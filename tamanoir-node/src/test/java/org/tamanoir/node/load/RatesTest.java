package org.tamanoir.node.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RatesTest {
    @Test
    void ratesReadLikePeopleWriteThem() {
        assertThat(Rates.byteRate(3.21e9, 1)).isEqualTo("3.21 GB/s");
        assertThat(Rates.packetRate(30_000, 1)).isEqualTo("30.0 kpackets/s");
        assertThat(Rates.byteRate(1, 0)).isEqualTo("0 B/s");
    }
}
