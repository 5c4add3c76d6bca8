package org.tamanoir.offload;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostAddressesTest {
    private final HostAddresses host = new HostAddresses();

    @Test
    void hasTheAddressesOfAllInterfaces() throws Exception {
        List<InetAddress> all = NetworkInterface.networkInterfaces()
                .flatMap(each -> each.getInterfaceAddresses().stream())
                .map(InterfaceAddress::getAddress)
                .toList();
        assertThat(all).isNotEmpty().allMatch(host::has);
        host.refresh();
        assertThat(all).allMatch(host::has);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "127.200.1.1",
                "0.0.0.0",
                "224.0.0.1",
                "255.255.255.255",
                "169.254.1.1",
                "::1",
                "::",
                "ff02::1",
                "fe80::1",
                "febf::1"
            })
    void hasWhatNoRouterPassesOn(String address) throws Exception {
        assertThat(host.has(InetAddress.getByName(address))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"203.0.113.1", "198.51.100.77", "2001:db8::", "2001:db8::1", "fec0::1", "::2", "1.0.0.0"})
    void hasNoOthers(String address) throws Exception {
        assertThat(host.has(InetAddress.getByName(address))).isFalse();
    }
}
