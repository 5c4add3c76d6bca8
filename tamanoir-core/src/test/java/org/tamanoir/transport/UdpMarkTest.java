package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Tiers;

/** What the IP header says of datagrams that are marked, as the far end's kernel sees it. */
class UdpMarkTest {
    private static final int PART = 1000;

    /** A socket that is told the TOS, or traffic class, of what it receives; datagrams that were joined come apart. */
    private static final class Seeing implements AutoCloseable {
        final InetSocketAddress address;
        private final int fd;
        private final boolean v6;
        private final MessageArray messages = new MessageArray(1, 1);
        private final ByteBuffer memory = MessageArray.allocate(2048);

        Seeing(InetAddress host) {
            v6 = host.getAddress().length == 16;
            fd = LibC.socket(v6 ? LibC.AF_INET6 : LibC.AF_INET, LibC.SOCK_DGRAM, 0);
            ByteBuffer name = MessageArray.allocate(32);
            int bytes = MessageArray.putSockaddr(name, 0, v6, UdpAddress.high(host), UdpAddress.low(host), 0, 0);
            assertThat(LibC.bind(fd, MessageArray.addressOf(name), bytes)).isZero();
            ByteBuffer length = MessageArray.allocate(4).putInt(0, 32);
            LibC.getsockname(fd, MessageArray.addressOf(name), MessageArray.addressOf(length));
            int port = (name.get(2) & 0xFF) << 8 | name.get(3) & 0xFF;
            address = new InetSocketAddress(host, port);
            ByteBuffer one = MessageArray.allocate(4).putInt(0, 1);
            int level = v6 ? LibC.IPPROTO_IPV6 : LibC.IPPROTO_IP;
            int option = v6 ? LibC.IPV6_RECVTCLASS : LibC.IP_RECVTOS;
            assertThat(LibC.setsockopt(fd, level, option, MessageArray.addressOf(one), 4))
                    .isZero();
            messages.setIovec(0, MessageArray.addressOf(memory), memory.capacity());
            messages.setPayload(0, 0, 1);
        }

        /** Number in the payload, and what it came with. */
        String next() {
            eventually().until(() -> {
                messages.prepareToReceive(0);
                return LibC.recvmmsg(fd, messages.addressOfMessage(0), 1, LibC.MSG_DONTWAIT, 0) == 1;
            });
            int octet = v6
                    ? messages.controlInt(0, LibC.IPPROTO_IPV6, LibC.IPV6_TCLASS)
                    : messages.controlInt(0, LibC.IPPROTO_IP, LibC.IP_TOS);
            return memory.getInt(0) + " " + octet;
        }

        @Override
        public void close() {
            LibC.close(fd);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void datagramsLeaveWithTheirMarkAloneOrJoined(String host) throws Exception {
        UdpTesting.assumeNative();
        if (host.contains(":")) {
            Tiers.requireIpv6();
        }
        InetAddress address = InetAddress.getByName(host);
        ByteBuffer data = MessageArray.allocate(40 * PART);
        List<String> expected = new ArrayList<>();
        try (UdpSocket socket = NativeUdpSocket.bind(new InetSocketAddress(address, 0));
                Seeing far = new Seeing(address)) {
            UdpSender sender = socket.newSender();
            for (int i = 0; i < 40; i++) {
                data.putInt(i * PART, i);
                // One by itself, runs of one mark, and none at the end.
                int mark = i == 0 ? 46 << 2 : i < 20 ? 34 << 2 : i < 30 ? 8 << 2 : 0;
                sender.markAs(mark);
                sender.add(
                        data, i * PART, PART, UdpAddress.high(address), UdpAddress.low(address), far.address.getPort());
                expected.add(i + " " + mark);
            }
            sender.flush();
            assertThat(sender.lastError()).isEmpty();
            List<String> seen = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                seen.add(far.next());
            }
            assertThat(seen).isEqualTo(expected);
        }
    }

    /** Those of one mark keep their order, and each its mark, where marks alternate. */
    @Test
    void marksMayAlternate() throws Exception {
        UdpTesting.assumeNative();
        InetAddress address = InetAddress.getLoopbackAddress();
        ByteBuffer data = MessageArray.allocate(300 * PART);
        try (UdpSocket socket = NativeUdpSocket.bind(new InetSocketAddress(address, 0));
                Seeing far = new Seeing(address)) {
            UdpSender sender = socket.newSender();
            List<List<String>> expected = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
            for (int i = 0; i < 90; i++) {
                data.putInt(i * PART, i);
                sender.markAs(i % 3 << 2);
                sender.add(
                        data, i * PART, PART, UdpAddress.high(address), UdpAddress.low(address), far.address.getPort());
                expected.get(i % 3).add(i + " " + (i % 3 << 2));
            }
            sender.flush();
            List<List<String>> seen = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
            for (int i = 0; i < 90; i++) {
                String next = far.next();
                seen.get(Integer.parseInt(next.split(" ")[0]) % 3).add(next);
            }
            assertThat(seen).isEqualTo(expected);
        }
    }
}
