package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Datagrams each for another destination of a large table: every one arrives where its route, or its service, says. */
@Timeout(240)
@ExtendWith(UdpTestNode.NoLeaks.class)
class SpreadDestinationsTest {
    static final int ENDS = 3;
    private static final int PREFIXES = 1 << 14;
    private static final int WINDOW = 100;
    private static final int WINDOWS = 15;

    /** Returns routes of 10.0.0.0/10 by /24s: number n leads to the end (n + turn) % 3. */
    static RouteSet routes(List<InetSocketAddress> ends, int turn, NextHop.Transport transport) {
        RouteSet set = new RouteSet();
        for (int i = 0; i < PREFIXES; i++) {
            InetSocketAddress end = ends.get((i + turn) % ENDS);
            set.put(
                    new Prefix(0, 0xFFFF_0A00_0000L | (long) i << 8, 120),
                    new NextHop(end.getAddress(), end.getPort(), transport, NextHop.Kind.HOST));
        }
        return set;
    }

    static InetSocketAddress address(int prefix, int host) {
        return new InetSocketAddress(Addresses.of(0, 0xFFFF_0A00_0000L | (long) prefix << 8 | host), 9);
    }

    static int prefix(Packet packet) {
        return (int) (packet.destinationLow() >>> 8) & PREFIXES - 1;
    }

    /** Sends every fifth packet to the prefix behind that of its destination. */
    private static Verdict stray(UdpTestNode.Scripted service, Packet packet) {
        int prefix = prefix(packet);
        return isStray(prefix) ? service.elsewhere(address((prefix + 1) % PREFIXES, 1)) : Verdict.FORWARD;
    }

    private static boolean isStray(int prefix) {
        return prefix % 5 == 0;
    }

    private static final class Ends implements AutoCloseable {
        final List<UdpFarEnd> ends = new ArrayList<>();
        final UdpFarEnd sender;
        final SplittableRandom random = new SplittableRandom(19);
        final Map<String, Integer> prefixes = new HashMap<>();
        int sent;

        Ends(TransportKind kind) throws Exception {
            sender = new UdpFarEnd(kind, "127.0.0.1");
            for (int i = 0; i < ENDS; i++) {
                ends.add(new UdpFarEnd(kind, "127.0.0.1"));
            }
        }

        RouteSet routes(int turn) {
            return SpreadDestinationsTest.routes(
                    ends.stream().map(UdpFarEnd::address).toList(), turn, NextHop.Transport.UDP);
        }

        /** Sends a window of packets for these services by turns. */
        void send(UdpTestNode node, String... services) {
            List<byte[]> window = new ArrayList<>();
            for (int i = 0; i < WINDOW; i++) {
                int prefix = random.nextInt(PREFIXES);
                byte[] packet = UdpTestNode.packet(
                        UdpTestNode.builder(
                                address(prefix, random.nextInt(256)), services[i % services.length], ++sent),
                        120);
                prefixes.put(HexFormat.of().formatHex(packet), prefix);
                window.add(packet);
            }
            sender.send(node.udp(), window);
            node.balanced(sent);
        }

        /** Returns the prefix of each packet that has come to an end, which was sent as it came, and once. */
        List<Integer> received(int end) throws Exception {
            List<Integer> received = new ArrayList<>();
            while (!ends.get(end).isQuiet()) {
                Integer prefix =
                        prefixes.remove(HexFormat.of().formatHex(ends.get(end).next()));
                assertThat(prefix)
                        .as("what came to end %s was sent, and came once", end)
                        .isNotNull();
                received.add(prefix);
            }
            return received;
        }

        @Override
        public void close() {
            sender.close();
            ends.forEach(UdpFarEnd::close);
        }
    }

    private static UdpTestNode start(TransportKind kind) {
        return UdpTestNode.start(kind)
                .service("forward", (service, packet) -> Verdict.FORWARD)
                .service("stray", SpreadDestinationsTest::stray);
    }

    private static void cross(TransportKind kind, String... services) throws Exception {
        try (Ends ends = new Ends(kind);
                UdpTestNode node = start(kind)) {
            for (int i = 0; i < WINDOWS; i++) {
                int turn = i % ENDS;
                if (i % 5 == 0) {
                    node.routes.replace(ends.routes(turn));
                }
                int now = (i - i % 5) % ENDS;
                ends.send(node, services);
                for (int end = 0; end < ENDS; end++) {
                    int here = end;
                    assertThat(ends.received(end))
                            .as("window %s, end %s", i, end)
                            .allMatch(prefix -> {
                                boolean isStray = services[0].equals("stray") && isStray(prefix);
                                return (prefix + (isStray ? 1 : 0)) % PREFIXES % ENDS
                                        == Math.floorMod(here - now, ENDS);
                            });
                }
            }
            assertThat(ends.prefixes).as("packets that never came").isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void eachArrivesWhereItsRouteLeads(TransportKind kind) throws Exception {
        cross(kind, "forward");
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void thoseThatTheServiceSendsElsewhereArriveThere(TransportKind kind) throws Exception {
        cross(kind, "stray");
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void thoseOfTwoServicesByTurnsArriveWhereTheirRoutesLead(TransportKind kind) throws Exception {
        try (UdpTestNode node = start(kind).service("other", (service, packet) -> Verdict.FORWARD);
                Ends ends = new Ends(kind)) {
            node.routes.replace(ends.routes(0));
            for (int i = 0; i < WINDOWS; i++) {
                ends.send(node, "forward", "other");
                for (int end = 0; end < ENDS; end++) {
                    int here = end;
                    assertThat(ends.received(end)).allMatch(prefix -> prefix % ENDS == here);
                }
            }
            assertThat(ends.prefixes).as("packets that never came").isEmpty();
        }
    }

    /** A table put in place of another, again and again: one of the two answers, never a third. */
    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void routesThatChangeMeanwhileCountOrDoNotYet(TransportKind kind) throws Exception {
        try (Ends ends = new Ends(kind);
                UdpTestNode node = start(kind)) {
            node.routes.replace(ends.routes(0));
            Thread changer = new Thread(() -> {
                for (int turn = 1; !Thread.currentThread().isInterrupted(); turn = 1 - turn) {
                    node.routes.replace(ends.routes(turn));
                }
            });
            changer.start();
            try {
                for (int i = 0; i < WINDOWS; i++) {
                    ends.send(node, "forward");
                    for (int end = 0; end < ENDS; end++) {
                        int here = end;
                        assertThat(ends.received(end))
                                .allMatch(prefix -> prefix % ENDS == here || (prefix + 1) % ENDS == here);
                    }
                }
            } finally {
                changer.interrupt();
                changer.join(40_000);
            }
            assertThat(ends.prefixes).as("packets that never came").isEmpty();
        }
    }
}
