package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

/** Addresses that a start could not listen at together. */
class ListenAddressesTest {
    private static List<String> problems(String text) {
        Problems problems = new Problems();
        NodeConfigBuilder read = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", text, read);
        read.check();
        return problems.lines();
    }

    private static String udp(String one, String other, String transport) {
        return "transport: " + transport + "\nlisten: {tcp: [], udp: ['" + one + "', '" + other + "']}\n";
    }

    @ParameterizedTest
    @CsvSource({
        "*:3322, 127.0.0.1:3322",
        "127.0.0.1:3322, *:3322",
        "*:3322, [::1]:3322",
        "*:3322, [::]:3322",
        "[::]:3322, 127.0.0.1:3322",
        "[::1]:3322, [::]:3322"
    })
    void aWildcardOfTcpTakesThePortOfBothFamilies(String one, String other) {
        String second = other.replace("*", "0.0.0.0");
        assertThat(problems("listen: {tcp: ['" + one + "', '" + other + "'], udp: []}\n"))
                .containsExactly("f:1: listen.tcp: " + second + " cannot be had beside " + one.replace("*", "0.0.0.0")
                        + " of listen.tcp: a wildcard takes this port of all addresses; remove one, or give it another"
                        + " port");
    }

    @ParameterizedTest
    @CsvSource({
        "*:3322, 127.0.0.1:3322, true",
        "*:3322, [::1]:3322, false",
        "*:3322, [::]:3322, true",
        "127.0.0.1:3322, [::]:3322, true",
        "[::1]:3322, [::]:3322, true",
        "127.0.0.1:3322, [::1]:3322, false",
        "*:3322, 127.0.0.1:3323, false",
        "*:0, 127.0.0.1:0, false"
    })
    void aWildcardOfUdpTakesThatOfItsFamilyAndTheOneOfIpv6ThatOfBothWithoutNativeSockets(
            String one, String other, boolean isProblem) {
        assertThat(problems(udp(one, other, "nio"))).hasSize(isProblem ? 1 : 0);
    }

    @ParameterizedTest
    @CsvSource({
        "*:3322, 127.0.0.1:3322, true",
        "*:3322, [::1]:3322, false",
        "*:3322, [::]:3322, false",
        "127.0.0.1:3322, [::]:3322, false",
        "[::1]:3322, [::]:3322, true"
    })
    void nativeSocketsOfTheTwoFamiliesHaveOnePortEach(String one, String other, boolean isProblem) {
        assumeTrue(UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE);
        assertThat(problems(udp(one, other, "native"))).hasSize(isProblem ? 1 : 0);
    }

    @Test
    void serversAndGatewaysCountAndTheProtocolsDoNotMeet() {
        assertThat(problems("""
                        listen:
                          tcp: ["*:3322"]
                          udp: ["127.0.0.1:3322"]
                          gateways: ["127.0.0.1:3322=10.0.0.9:80,octets"]
                        admin: {listen: "127.0.0.1:3322"}
                        """))
                .hasSize(2)
                .allMatch(line -> line.contains("127.0.0.1:3322 cannot be had beside 0.0.0.0:3322 of listen.tcp"));
    }
}
