package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GatewayLineTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "8080=10.0.0.9:80,octets|127.0.0.1:8080=10.0.0.9:80,octets",
                "*:0=[::1]:80,length-prefixed,Monitor|0.0.0.0:0=[::1]:80,length-prefixed,org.tamanoir.services.Monitor",
                "[::1]:1=127.0.0.1:2,octets,org.example.A:1.2,class=7|[::1]:1=127.0.0.1:2,octets,org.example.A:1.2,class=7",
                "udp:1=127.0.0.1:2,datagrams,Monitor|udp:127.0.0.1:1=127.0.0.1:2,datagrams,org.tamanoir.services.Monitor",
                "udp:1=127.0.0.1:2,rtp/48000|udp:127.0.0.1:1=127.0.0.1:2,rtp/48000",
                "1=127.0.0.1:2,octets,class=255|127.0.0.1:1=127.0.0.1:2,octets,class=255"
            })
    void isReadAndWritten(String text, String whole) {
        GatewayLine line = GatewayLine.parse(text);
        assertThat(line.text()).isEqualTo(whole);
        assertThat(GatewayLine.parse(whole)).isEqualTo(line);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "=", "x", "1=127.0.0.1:2", "1,octets", "1=127.0.0.1:2,octets,A,class=1,more"})
    void whatIsNoneIsToldWhatIsWanted(String text) {
        assertThatThrownBy(() -> GatewayLine.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("LISTEN=TO,FORMAT[,SERVICE][,class=N] is wanted");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "127.0.0.1=127.0.0.1:2,octets|both of its addresses need a port",
                "1=127.0.0.1,octets|both of its addresses need a port",
                "1=0.0.0.0:2,octets|name the one that the far side has",
                "udp:1=239.1.1.1:2,datagrams|leads to many hosts",
                "udp:1=[ff02::1]:2,datagrams|leads to many hosts",
                "udp:1=255.255.255.255:2,datagrams|leads to many hosts",
                "1=127.0.0.1:2,words|gateways have no format 'words': there are length-prefixed, ",
                "1=127.0.0.1:2,rtp|and TCP the others",
                "udp:1=127.0.0.1:2,rtp/8|CLOCK is 1000 to 999999 Hz",
                "udp:1=127.0.0.1:2,octets|UDP, with 'udp:' in front, has the formats 'datagrams', 'rtp' and 'rtp/CLOCK'",
                "1=127.0.0.1:2,datagrams|and TCP the others",
                "1=127.0.0.1:2,octets,A,class=256|a number from 0 to 255 is wanted",
                "1=127.0.0.1:2,octets,A,B|LISTEN=TO,FORMAT",
                "1=127.0.0.1:2,octets,-|is no service name",
                "99999=127.0.0.1:2,octets|a number from 0 to 65535 is wanted"
            })
    void aWrongPartIsNamed(String text, String error) {
        assertThatThrownBy(() -> GatewayLine.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(error);
    }

    @Test
    void makesAGatewayWithTheServicesKey() {
        assertThat(GatewayLine.parse("1=127.0.0.1:2,octets,Monitor").gateway(9).serviceKey())
                .isNotZero();
        assertThat(GatewayLine.parse("udp:1=127.0.0.1:2,rtp,Monitor")
                        .udpGateway(9)
                        .rtpClockHz())
                .isEqualTo(90_000);
        assertThat(GatewayLine.parse("1=127.0.0.1:2,octets").gateway(9).serviceKey())
                .isZero();
        assertThat(GatewayLine.parse("udp:1=127.0.0.1:2,rtp").udpGateway(9).isStrict())
                .isFalse();
        for (String format : java.util.List.of("rtp/strict", "rtp/48000/strict")) {
            GatewayLine strict = GatewayLine.parse("udp:1=127.0.0.1:2," + format);
            assertThat(strict.udpGateway(9).isStrict()).isTrue();
            assertThat(strict.udpGateway(9).rtpClockHz()).isEqualTo(format.equals("rtp/strict") ? 90_000 : 48_000);
            assertThat(GatewayLine.parse(strict.text())).isEqualTo(strict);
        }
    }
}
