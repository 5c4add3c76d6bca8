package org.tamanoir.cluster.lvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LvsTextTest {
    @ParameterizedTest
    @ValueSource(
            strings = { // as ipvsadm 1.31 printed them
                "10.0.0.1:80",
                "255.255.255.255:0",
                "[fd00::2]:80",
                "[fd00:1111:2222:3333:4444:5555:6666:7777]:65535",
                "[fe80::1]:80",
                "[::1]:80",
                "[::0.1.0.2]:80",
                "[::1.2.3.4]:80",
                "[::ffff:1.2.3.4]:80",
                "[1:0:0:2::3]:80",
                "[1::2:3:0:0:4]:80",
                "[1:2:3:4:5:6:0:8]:80"
            })
    void whatIpvsadmPrintsIsReadAndWrittenAlike(String text) {
        InetAddress address = LvsText.addressOf(text);
        assertThat(LvsText.endpoint(address, LvsText.portOf(text))).isEqualTo(text);
        assertThat(address instanceof Inet6Address).isEqualTo(text.startsWith("["));
    }

    @Test
    void aZoneIsNotWritten() throws Exception {
        byte[] bytes = InetAddress.getByName("fe80::1").getAddress();
        assertThat(LvsText.host(Inet6Address.getByAddress(null, bytes, 3))).isEqualTo("fe80::1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost:80",
                "10.0.0:80",
                "10.0.0.256:80",
                "10.0.0.0/8:80",
                "fd00::1:80",
                "[fd00::1:80",
                "[10.0.0.1]:80",
                "[fd00::1%eth0]:80",
                "[a.example]:80",
                ":80",
                "10.0.0.1",
                ""
            })
    void noNameAndNothingHalfIsTakenForAnAddress(String text) {
        assertThatThrownBy(() -> LvsText.addressOf(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:http", "10.0.0.1:"})
    void aPortIsANumberOf16Bits(String text) {
        assertThatThrownBy(() -> LvsText.portOf(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "24, false, 255.255.255.0",
        "32, false, 255.255.255.255",
        "1, false, 128.0.0.0",
        "31, false, 255.255.255.254",
        "64, true, 64",
        "128, true, 128"
    })
    void masksAndPrefixesSayTheSame(int prefix, boolean ipv6, String mask) {
        assertThat(LvsText.mask(prefix, ipv6)).isEqualTo(mask);
        assertThat(LvsText.prefix(mask)).isEqualTo(prefix);
    }
}
