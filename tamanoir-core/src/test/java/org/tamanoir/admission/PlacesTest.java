package org.tamanoir.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlacesTest {
    private static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void byDefaultOneAddressHasHalfOfThePlacesAndLoopbackAll() {
        Places places = new Places(10, 1000, StreamLimits.DEFAULT);
        for (int i = 0; i < 5; i++) {
            assertThat(places.take(address("192.0.2.1"))).isNull();
        }
        assertThat(places.take(address("192.0.2.1"))).isEqualTo(StreamRefusal.PEER);
        for (int i = 0; i < 5; i++) {
            assertThat(places.take(address("127.0.0.1"))).isNull();
        }
        assertThat(places.take(address("127.0.0.1"))).isEqualTo(StreamRefusal.MAX_STREAMS);
        places.give(address("192.0.2.1"));
        assertThat(places.take(address("192.0.2.1"))).isNull();
    }

    @Test
    void anIpv6HostHasOneSubnetAndSoOneShare() {
        Places places = new Places(10, 1000, new StreamLimits(2, 8, Duration.ZERO));
        assertThat(places.take(address("2001:db8:0:1::1"))).isNull();
        assertThat(places.take(address("2001:db8:0:1:ffff::2"))).isNull();
        assertThat(places.take(address("2001:db8:0:1::3"))).isEqualTo(StreamRefusal.PEER);
        assertThat(places.take(address("2001:db8:0:2::1"))).isNull();
    }

    @Test
    void aNumberThatWasGivenHoldsForLoopbackToo() {
        Places places = new Places(10, 1000, new StreamLimits(1, 8, Duration.ZERO));
        assertThat(places.take(address("127.0.0.1"))).isNull();
        assertThat(places.take(address("127.0.0.1"))).isEqualTo(StreamRefusal.PEER);
    }

    @Test
    void thereAreNoMoreThanThereIsMemoryFor() {
        Places places = new Places(4096, 2, StreamLimits.DEFAULT);
        assertThat(places.limit()).isEqualTo(2);
        assertThat(places.take(address("127.0.0.1"))).isNull();
        assertThat(places.takeBranch(address("127.0.0.1"), 0)).isNull();
        assertThat(places.take(address("127.0.0.1"))).isEqualTo(StreamRefusal.MEMORY);
        assertThat(places.takeBranch(address("127.0.0.1"), 8)).isEqualTo(StreamRefusal.BRANCHES);
        StreamPlaces status = places.status();
        assertThat(status.taken()).isEqualTo(2);
        assertThat(status.branches()).isEqualTo(1);
        assertThat(status.refused()).isEqualTo(Map.of(StreamRefusal.MEMORY, 1L, StreamRefusal.BRANCHES, 1L));
        assertThat(places.connections()).isEqualTo(new StreamCounts(1, 1, 1));
        places.giveBranch(address("127.0.0.1"));
        places.give(address("127.0.0.1"));
        assertThat(places.status().taken()).isZero();
    }
}
