package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:3322, 127.0.0.1, 3322",
        "[::1]:80, ::1, 80",
        "[::1], ::1, -1",
        "2001:db8::1, 2001:db8::1, -1",
        "example.org:1, example.org, 1",
        "example.org, example.org, -1",
        "4000, '', 4000"
    })
    void hostAndPortAreSplit(String text, String host, int port) {
        assertThat(Endpoint.parse(text, 1)).isEqualTo(new Endpoint(host, port));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":80",
                "host:",
                "host:x",
                "host:0",
                "host:65536",
                "host:-1",
                "[::1",
                "[::1]80",
                "[]:1",
                "a b:1"
            })
    void whatIsNoAddressIsRefused(String text) {
        assertThatThrownBy(() -> Endpoint.parse(text, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(text);
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:3322, 127.0.0.1:3322",
        "4000, 127.0.0.1:4000",
        "127.0.0.2, 127.0.0.2:3322",
        "*:0, 0.0.0.0:0",
        "[::1]:5, [::1]:5",
        "localhost:9, 127.0.0.1:9"
    })
    void listeningIsOnLoopbackUnlessSaidOtherwise(String text, String address) {
        assertThat(Endpoint.toString(Endpoint.listening(text, 3322))).isEqualTo(address);
    }

    @ParameterizedTest
    @CsvSource({
        "127.1:1, 2 of 4 octets; 2 lack",
        "2130706433:1, 1 of 4 octets; 3 lack",
        "10.0.1:3322, 3 of 4 octets; 1 lacks",
        "10.0.1, 3 of 4 octets; 1 lacks",
        "0x7f.1:80, 2 of 4 octets; 2 lack",
        "127.0.0.01:1, without zeros in front",
        "[22:22], 2 of 8 groups; 6 lack",
        "[22:22]:1, 2 of 8 groups; 6 lack",
        "22:22:22, 3 of 8 groups; 5 lack",
        "[127.0.0.1]:1, [v6]:port is wanted",
        "[localhost]:1, [v6]:port is wanted",
        "127.0.0.1:+1, a number from"
    })
    void whatResolversTakeForAnotherAddressIsRefused(String text, String why) {
        assertThatThrownBy(() -> Endpoint.listening(text, 3322))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why.replace(';', ','));
        assertThatThrownBy(() -> Endpoint.parse(text, 1)).hasMessageContaining(why.replace(';', ','));
    }

    @ParameterizedTest
    @CsvSource({"239.1.1.1:5", "[ff02::1]:5", "255.255.255.255:5", "224.0.0.1"})
    void nothingListensWhereNothingJoins(String text) {
        assertThatThrownBy(() -> Endpoint.listening(text, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("nothing here joins a group");
        assertThatThrownBy(
                        () -> GatewayLine.parse("udp:" + text + (text.contains(":") ? "" : ":1") + "=10.0.0.9:1,rtp"))
                .hasMessageContaining("nothing here joins a group");
        assertThat(Endpoint.ofAny(text, 1)).isNotNull();
    }

    @Test
    void namesThatDoNotResolveAreNamed() {
        assertThatThrownBy(() -> Endpoint.listening("no-such-host.invalid:1", 3322))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("host 'no-such-host.invalid' is unknown");
    }
}
