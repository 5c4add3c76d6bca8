package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.routing.Prefix;

/** What resolvers take for another address than it says. */
class AddressTextTest {
    @ParameterizedTest
    @CsvSource({
        "127.1, has 2 of 4 octets; 2 lack",
        "10.0.1, has 3 of 4 octets; 1 lacks",
        "2130706433, has 1 of 4 octets; 3 lack",
        "0x7f000001, has 1 of 4 octets; 3 lack",
        "0x7f.1, has 2 of 4 octets; 2 lack",
        "127.0.0.0x1, from 0 to 255",
        "127.0.0.0x, from 0 to 255",
        "1.2.3.4.5, has 5 octets; of 4",
        "127.0.0.256, from 0 to 255",
        "127.0.0.010, without zeros in front",
        "00.0.0.1, without zeros in front",
        "127.0.0.1., has 5 octets",
        "1., has 2 of 4 octets",
        "host.1, has 2 of 4 octets",
        "\u0661\u0662\u0667.\u0660.\u0660.\u0661, from 0 to 255",
        "22:22, has 2 of 8 groups; 6 lack",
        "1:2:3:4:5:6:7, has 7 of 8 groups; 1 lacks",
        "1:2:3:4:5:6:7:8:9, is no IPv6 address",
        "1::2::3, is no IPv6 address",
        "::12345, is no IPv6 address",
        "::ffff:127.1, is no IPv6 address",
        "fe80::1%, is no IPv6 address",
        ":, has 0 of 8 groups",
    })
    void whatIsNotWholeIsRefusedWithWhatItLacks(String host, String why) {
        assertThat(AddressText.problem(host)).contains(why.replace(';', ',')).contains("'" + host + "'");
        assertThatThrownBy(() -> AddressText.literal(host))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(AddressText.problem(host));
        assertThatThrownBy(() -> Prefix.parse(host)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "node1", "1.example.org", "10.in-addr.arpa", "0x7g", "x0x7f", "", "*"})
    void aNameIsNone(String host) {
        assertThat(AddressText.problem(host)).isNull();
        assertThatThrownBy(() -> AddressText.literal(host)).hasMessageContaining("is no address");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1", "2001:DB8::1", "::ffff:10.0.0.1"})
    void aWholeOneIsTaken(String host) {
        assertThat(AddressText.problem(host)).isNull();
        assertThat(AddressText.literal(host)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"fe80::1%eth0", "fe80::1%2"})
    void aZoneMayFollow(String host) {
        assertThat(AddressText.problem(host)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"10.0.0.8:1, /10.0.0.8:1", "[2001:db8::8]:65535, '/[2001:db8:0:0:0:0:0:8]:65535'"})
    void aPortMayFollow(String text, String address) {
        assertThat(AddressText.withPort(text)).hasToString(address);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0.0.8 | '10.0.0.8' must be an address and a port",
                "2001:db8::8:80 | must be an address and a port",
                "[10.0.0.8]:80 | '[10.0.0.8]' is no address",
                "10.0.0.8:٣ | must be an address and a port",
                "10.0.0.8:00080 | must be an address and a port",
                "10.0.0.8:00 | must be an address and a port",
                "10.0.0.8:0 | 10.0.0.8:0: the port must be 1 to 65535",
                "10.0.0.8:65536 | the port must be 1 to 65535",
                "localhost:80 | 'localhost' is no address: write one as 10.0.0.1",
                ":80 | is no address",
                "10.0.8:80 | 3 of 4 octets",
                "[2001:db8::8%eth0]:80 | is no address"
            })
    void whatIsNoAddressWithAPortIsRefused(String text, String problem) {
        assertThatThrownBy(() -> AddressText.withPort(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
    }
}
