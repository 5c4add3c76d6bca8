package org.tamanoir.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("namespace")
class NamespacesTest {
    @BeforeAll
    static void needsRoot() {
        Namespaces.require("namespace");
    }

    @ParameterizedTest
    @ValueSource(strings = {TestNet.SERVER4, TestNet.SERVER6})
    void aRouterForwardsBetweenClientAndServer(String address) throws Exception {
        try (TestNet net = new TestNet("ns")) {
            InetAddress server = InetAddress.getByName(address);
            DatagramSocket receiver =
                    net.namespaces().in(net.server(), () -> new DatagramSocket(new InetSocketAddress(server, 0)));
            try (receiver) {
                receiver.setSoTimeout(40_000);
                net.namespaces().in(net.client(), () -> {
                    try (DatagramSocket sender = new DatagramSocket()) {
                        byte[] hello = "hello".getBytes(StandardCharsets.US_ASCII);
                        sender.send(new DatagramPacket(hello, hello.length, receiver.getLocalSocketAddress()));
                        return null;
                    }
                });
                DatagramPacket received = new DatagramPacket(new byte[100], 100);
                receiver.receive(received);
                assertThat(new String(received.getData(), 0, received.getLength(), StandardCharsets.US_ASCII))
                        .isEqualTo("hello");
                assertThat(received.getAddress().getHostAddress())
                        .isEqualTo(InetAddress.getByName(address.contains(":") ? TestNet.CLIENT6 : TestNet.CLIENT4)
                                .getHostAddress());
            }
        }
    }

    @Test
    void threadsThatAreStartedInsideStayInside() throws Exception {
        try (TestNet net = new TestNet("ns")) {
            NetworkInterface[] found = new NetworkInterface[1];
            net.namespaces().in(net.router(), () -> {
                Thread inner = new Thread(() -> {
                    try {
                        found[0] = NetworkInterface.getByName(TestNet.ROUTER_CLIENT_DEVICE);
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                });
                inner.start();
                inner.join();
                return null;
            });
            assertThat(found[0]).isNotNull();
            assertThat(NetworkInterface.getByName(TestNet.ROUTER_CLIENT_DEVICE)).isNull();
            assertThat(Namespaces.inode(net.router())).isNotEqualTo(Namespaces.inode(net.server()));
        }
    }

    @Test
    void whatCodeInsideThrowsComesOut() throws Exception {
        try (Namespaces namespaces = new Namespaces("ns")) {
            String name = namespaces.add("a");
            assertThatThrownBy(() -> namespaces.in(name, () -> {
                        throw new IOException("inside");
                    }))
                    .isInstanceOf(IOException.class)
                    .hasMessage("inside");
        }
    }

    @Test
    void thoseOfAKilledTestAreRemoved() throws Exception {
        Process dead = new ProcessBuilder(List.of("true")).start();
        dead.waitFor();
        String left = "tmn-ns-" + dead.pid() + "-0-a";
        Namespaces.shell("ip netns add " + left);
        String mine;
        try (Namespaces namespaces = new Namespaces("ns")) {
            mine = namespaces.add("a");
            assertThat(Namespaces.shell("ip netns list")).contains(mine).doesNotContain(left);
        }
        assertThat(Namespaces.shell("ip netns list")).doesNotContain(mine);
    }
}
