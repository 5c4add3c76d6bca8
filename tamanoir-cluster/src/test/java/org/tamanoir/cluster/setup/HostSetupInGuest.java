package org.tamanoir.cluster.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.cluster.setup.Configs.served;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Namespaces;

/**
 * Tunnels, whose modules the virtual machine has: a client's packets come to the back-end inside those of a director.
 *
 * <pre>
 *   director 10.74.1.1, fd74:1::1 e0 ------ f0 10.74.1.11, fd74:1::11 back-end; virtual: 10.74.0.1, fd74::1
 * </pre>
 */
class HostSetupInGuest {
    private static final int PATIENCE_MS = 60_000;

    @TempDir
    private Path folder;

    @Test
    void tunnelsTakeWhatIsSentToTheVirtualAddressesAndAreTakenBack() throws Exception {
        Namespaces.require("namespace");
        try (Namespaces namespaces = new Namespaces("tunnel")) {
            String director = namespaces.add("d");
            String backEnd = namespaces.add("b");
            // Strict for devices that come later, such as tunnels, which makes the filter of reverse paths matter.
            Namespaces.shell("""
                    ip netns exec %2$s sysctl -qw net.ipv4.conf.default.rp_filter=1
                    d='ip -n %1$s'; b='ip -n %2$s'
                    $d link add e0 type veth peer name f0 netns %2$s
                    $d address add 10.74.1.1/24 dev e0; $d address add fd74:1::1/64 dev e0 nodad; $d link set e0 up
                    $b address add 10.74.1.11/24 dev f0; $b address add fd74:1::11/64 dev f0 nodad; $b link set f0 up
                    $d link add t4 type ipip local 10.74.1.1 remote 10.74.1.11; $d link set t4 up
                    $d link add t6 type ip6tnl mode ip6ip6 local fd74:1::1 remote fd74:1::11; $d link set t6 up
                    $d route add 10.74.0.1 dev t4 src 10.74.1.1; $d route add fd74::1 dev t6 src fd74:1::1
                    """.formatted(director, backEnd));
            HostSetup setup = HostSetup.backEnd(
                    List.of(served("10.74.0.1", "tunnel"), served("fd74::1", "tunnel")),
                    "f0",
                    folder.resolve("setup.json"),
                    List.of());

            namespaces.in(backEnd, () -> {
                setup.apply();
                assertThat(setup.findings()).isEmpty();
                return true;
            });

            assertThat(connects(namespaces, director, backEnd, "10.74.0.1")).isTrue();
            assertThat(connects(namespaces, director, backEnd, "fd74::1")).isTrue();

            namespaces.in(backEnd, () -> {
                setup.undo();
                return true;
            });

            assertThat(namespaces.run(
                            backEnd,
                            "ip -brief address show up;"
                                    + " sysctl -n net.ipv4.conf.tunl0.rp_filter net.ipv4.conf.f0.arp_ignore"))
                    .doesNotContain("tunl0", "tnl0", "74.0.1", "fd74::1/128")
                    .endsWith("\n1\n0\n");
        }
    }

    private static boolean connects(Namespaces namespaces, String from, String to, String address) throws Exception {
        InetAddress virtual = Configs.address(address);
        try (ServerSocket server = namespaces.in(to, () -> new ServerSocket(0, 1, virtual));
                Socket client = namespaces.in(from, () -> {
                    Socket socket = new Socket();
                    socket.connect(server.getLocalSocketAddress(), PATIENCE_MS);
                    return socket;
                })) {
            return client.isConnected();
        }
    }
}
