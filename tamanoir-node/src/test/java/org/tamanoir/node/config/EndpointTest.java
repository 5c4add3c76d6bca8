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
        "[::1]:5, [0:0:0:0:0:0:0:1]:5",
        "localhost:9, 127.0.0.1:9"
    })
    void listeningIsOnLoopbackUnlessSaidOtherwise(String text, String address) {
        assertThat(Endpoint.toString(Endpoint.listening(text, 3322))).isEqualTo(address);
    }

    @Test
    void namesThatDoNotResolveAreNamed() {
        assertThatThrownBy(() -> Endpoint.listening("no-such-host.invalid:1", 3322))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("host 'no-such-host.invalid' is unknown");
    }
}
