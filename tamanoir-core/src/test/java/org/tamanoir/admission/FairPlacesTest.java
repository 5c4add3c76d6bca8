package org.tamanoir.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class FairPlacesTest {
    private static final int PLACES = 32;
    private final FairPlaces<String> places = new FairPlaces<>(PLACES);
    private final InetAddress one = address("192.0.2.1");
    private final InetAddress other = address("192.0.2.2");

    private static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private void add(String... entries) {
        for (String entry : entries) {
            places.add(entry);
        }
    }

    @Test
    void theOneThatHasBeenQuietLongestGivesWay() {
        assertThat(places.givesWay()).isNull();
        add("a", "b", "c");
        assertThat(places.givesWay()).isEqualTo("a");
        places.used("a");
        assertThat(places.givesWay()).isEqualTo("b");
        places.remove("b");
        assertThat(places.givesWay()).isEqualTo("c");
    }

    @Test
    void whoKeepsHisPlaceGivesWayToNobody() {
        add("a", "b");
        assertThat(places.keep("a", one)).isTrue();
        assertThat(places.givesWay()).isEqualTo("b");
        assertThat(places.quietest()).isEqualTo("a");
        places.remove("b");
        assertThat(places.givesWay()).isNull();
        places.release("a");
        assertThat(places.givesWay()).isEqualTo("a");
        assertThat(places.quietest()).isNull();
    }

    @Test
    void aNetworkKeepsItsShare() {
        add("a", "b", "c", "d");
        assertThat(FairPlaces.share(PLACES)).isEqualTo(2);
        assertThat(places.keep("a", one)).isTrue();
        assertThat(places.keep("b", one)).isTrue();
        assertThat(places.keep("c", one)).isFalse();
        assertThat(places.keep("d", other)).isTrue();
        places.remove("a");
        assertThat(places.keep("c", one)).isTrue();
    }

    @Test
    void anIpv6NetworkIsOne() {
        add("a", "b", "c");
        places.keep("a", address("2001:db8::1"));
        places.keep("b", address("2001:db8::2"));
        assertThat(places.keep("c", address("2001:db8::3"))).isFalse();
        assertThat(places.keep("c", address("2001:db8:0:1::3"))).isTrue();
    }

    @Test
    void allAreTakenWithThoseThatAreKept() {
        for (int i = 0; i < PLACES; i++) {
            assertThat(places.isFull()).isFalse();
            add("entry " + i);
        }
        places.keep("entry 3", one);
        assertThat(places.isFull()).isTrue();
        places.remove("entry 3");
        assertThat(places.isFull()).isFalse();
    }

    @Test
    void whoHasNoPlaceKeepsNone() {
        assertThat(places.keep("a", one)).isFalse();
        add("b");
        places.used("a");
        places.release("a");
        places.remove("a");
        assertThat(places.givesWay()).isEqualTo("b");
        assertThat(places.quietest()).isNull();
    }
}
