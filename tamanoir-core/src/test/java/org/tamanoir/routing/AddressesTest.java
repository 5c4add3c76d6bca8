package org.tamanoir.routing;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressesTest {
    @ParameterizedTest
    @CsvSource({
        "0:0:0:0:0:0:0:1, ::1",
        "0:0:0:0:0:0:0:0, ::",
        "2001:db8:0:0:1:0:0:1, 2001:db8::1:0:0:1",
        "2001:DB8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1",
        "127.0.0.1, 127.0.0.1",
        "0.0.0.0, 0.0.0.0"
    })
    void addressesAreWrittenAsPeopleWriteThem(String given, String text) throws Exception {
        InetAddress address = InetAddress.getByName(given);
        assertThat(Addresses.host(address)).isEqualTo(text);
        String host = text.indexOf(':') < 0 ? text : "[" + text + "]";
        assertThat(Addresses.text(new InetSocketAddress(address, 3322))).isEqualTo(host + ":3322");
    }

    @Test
    void aZoneStays() throws Exception {
        InetAddress linkLocal =
                Inet6Address.getByAddress(null, InetAddress.getByName("fe80::1").getAddress(), 7);
        assertThat(Addresses.host(linkLocal)).isEqualTo("fe80::1%7");
        assertThat(Addresses.text(new InetSocketAddress(linkLocal, 1))).isEqualTo("[fe80::1%7]:1");
    }

    @Test
    void aNameThatWasNotResolvedStandsAsItIs() {
        assertThat(Addresses.text(InetSocketAddress.createUnresolved("node9", 3322)))
                .isEqualTo("node9:3322");
    }
}
