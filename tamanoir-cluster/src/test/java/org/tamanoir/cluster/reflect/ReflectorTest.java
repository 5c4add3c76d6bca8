package org.tamanoir.cluster.reflect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.async;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.routing.Prefix;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

class ReflectorTest {
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private Peer peer() throws IOException {
        Peer peer = new Peer();
        open.add(peer);
        return peer;
    }

    private Reflector start(TransportKind kind, SessionConfig config) throws IOException {
        Reflector reflector = new Reflector(List.of(config), kind);
        open.add(0, reflector);
        reflector.start();
        return reflector;
    }

    private static SessionConfig listed(Format format, Peer... members) {
        List<MemberConfig> all = new ArrayList<>();
        for (Peer member : members) {
            all.add(new MemberConfig(member.address(), Terms.OPEN));
        }
        return SessionConfig.of("test", Wire.at(0), format, all);
    }

    private static SessionConfig joinable(MemberConfig... members) {
        SessionConfig closed = listed(Format.UDP);
        return new SessionConfig(
                closed.name(),
                closed.input(),
                null,
                closed.format(),
                List.of(members),
                List.of(Prefix.parse("127.0.0.0/8")),
                List.of(),
                Terms.OPEN,
                SessionConfig.DEFAULT_TIMEOUT,
                2_000,
                SessionConfig.DEFAULT_PER_ADDRESS,
                SessionConfig.DEFAULT_CLOCK);
    }

    private static SessionStatus balanced(Reflector reflector) {
        SessionStatus status = reflector.status(10).get(0);
        assertThat(status.sent() + sum(status.dropped())).as("%s", status).isEqualTo(status.asked());
        assertThat(status.reflected() + status.control() + sum(status.refused()))
                .as("%s", status)
                .isEqualTo(status.datagramsIn());
        return status;
    }

    private static long sum(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** So few that all fit the receive buffers, whoever is slow. */
    @ParameterizedTest
    @EnumSource(names = {"AUTO", "NIO"})
    void eachOfManyGetsTheBytesOfAllOthers(TransportKind kind) throws Exception {
        Peer[] peers = {peer(), peer(), peer(), peer(), peer()};
        Reflector reflector = start(kind, listed(Format.UDP, peers));
        Random random = new Random(1);
        List<List<String>> sent = new ArrayList<>();
        for (Peer peer : peers) {
            List<String> own = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                byte[] bytes = new byte[1 + random.nextInt(1472)];
                random.nextBytes(bytes);
                own.add(Wire.text(bytes));
                peer.send(reflector.inputs().get(0), bytes);
            }
            sent.add(own);
        }
        for (int p = 0; p < peers.length; p++) {
            List<String> expected = new ArrayList<>();
            for (int other = 0; other < peers.length; other++) {
                expected.addAll(other == p ? List.of() : sent.get(other));
            }
            assertThat(peers[p].receive(40)).containsExactlyInAnyOrderElementsOf(expected);
        }
        SessionStatus status = balanced(reflector);
        assertThat(status.datagramsIn()).isEqualTo(50);
        assertThat(status.sent()).isEqualTo(200);
    }

    /** A connected socket takes nothing from another address than the one that it sends to. */
    @Test
    void membersAreAnsweredFromTheAddressThatTheySpeakTo() throws Exception {
        boolean works = UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE;
        Tiers.require("native", works, UdpSockets.explain(TransportKind.AUTO));
        SessionConfig closed = joinable();
        Reflector reflector = start(
                TransportKind.NATIVE,
                new SessionConfig(
                        closed.name(),
                        new InetSocketAddress("0.0.0.0", 0),
                        null,
                        closed.format(),
                        closed.members(),
                        closed.joinFrom(),
                        closed.sendFrom(),
                        closed.joined(),
                        closed.joinTimeout(),
                        closed.maxMembers(),
                        closed.maxPerAddress(),
                        closed.clockRate()));
        int port = reflector.inputs().get(0).getPort();
        InetSocketAddress second = new InetSocketAddress("127.0.0.2", port);
        InetSocketAddress third = new InetSocketAddress("127.0.0.3", port);
        Peer one = peer();
        Peer other = peer();
        one.connect(second);
        other.connect(third);
        one.join(reflector, second);
        other.join(reflector, third);
        one.send(second, "hello");
        assertThat(other.receive()).isEqualTo("hello");
        other.send(third, "hello to you");
        assertThat(one.receive()).isEqualTo("hello to you");
        balanced(reflector);
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "NIO"})
    void aThousandMembersComeAndGoUnderLoadAndOneThatStaysMissesNothing(TransportKind kind) throws Exception {
        Peer sender = peer();
        Peer stays = peer();
        Reflector reflector = start(kind, joinable(new MemberConfig(stays.address(), Terms.OPEN)));
        reflector.join("test", new MemberConfig(sender.address(), new Terms(Direction.SEND, 0, Terms.ALL)));
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Integer> load = async(() -> {
            int number = 0;
            while (!done.get() || number < 100) {
                sender.send(reflector.inputs().get(0), "number " + number);
                assertThat(stays.receive()).isEqualTo("number " + number);
                number++;
            }
            return number;
        });
        // One socket at all of these addresses; what it has no room for is the network's loss.
        DatagramSocket crowd = new DatagramSocket(0);
        open.add(crowd);
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            addresses.add(new InetSocketAddress("127.1." + i / 250 + "." + (1 + i % 250), crowd.getLocalPort()));
        }
        for (InetSocketAddress address : addresses) {
            reflector.join("test", new MemberConfig(address, Terms.OPEN));
        }
        assertThat(balanced(reflector).memberCount()).isEqualTo(1_002);
        for (InetSocketAddress address : addresses) {
            assertThat(reflector.leave("test", address)).isTrue();
        }
        done.set(true);
        int numbers = load.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        SessionStatus status = balanced(reflector);
        assertThat(status.memberCount()).isEqualTo(2);
        assertThat(status.reflected()).isEqualTo(numbers);
        assertThat(status.members())
                .filteredOn(member -> member.origin().equals("listed"))
                .singleElement()
                .satisfies(member -> assertThat(member.sent()).isEqualTo(numbers));
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "NIO"})
    void aClosedPortAndAStalledReceiverCostOthersNothing(TransportKind kind) throws Exception {
        Peer sender = peer();
        Peer reads = peer();
        Peer stalls = peer();
        Peer gone = peer();
        SessionConfig config = listed(Format.UDP, sender, gone, stalls, reads);
        gone.close();
        Reflector reflector = start(kind, config);
        // Much more than the one that stalls has room for.
        for (int i = 0; i < 1_000; i++) {
            String text = i + "x".repeat(1_000);
            sender.send(reflector.inputs().get(0), text);
            assertThat(reads.receive()).isEqualTo(text);
        }
        SessionStatus status = balanced(reflector);
        assertThat(status.members().get(3).sent()).isEqualTo(1_000);
        assertThat(status.asked()).isEqualTo(3_000);
    }

    @Test
    void rtpAndRtcpReachTheOthersAndTheirReportsAreShown() throws Exception {
        PortPair first = pair();
        PortPair second = pair();
        Reflector reflector = start(TransportKind.AUTO, listed(Format.RTP, first.media, second.media));
        InetSocketAddress media = reflector.inputs().get(0);
        InetSocketAddress control = new InetSocketAddress(media.getAddress(), media.getPort() + 1);
        byte[] voice = Sessions.rtp(0xABCD, 9, 160, "voice");
        first.media.send(media, voice);
        assertThat(second.media.receive()).isEqualTo(Wire.text(voice));
        byte[] report = Sessions.receiverReport(7, 0xABCD, 128, 3, 40);
        second.control.send(control, report);
        assertThat(first.control.receive()).isEqualTo(Wire.text(report));
        SessionStatus status = balanced(reflector);
        assertThat(status.sources()).singleElement().satisfies(source -> {
            assertThat(source.ssrc()).isEqualTo("0000abcd");
            assertThat(source.packets()).isEqualTo(1);
        });
        assertThat(status.members().get(1).report()).isEqualTo(new SessionStatus.ReceiverReport(50, 3, 40));
    }

    private record PortPair(Peer media, Peer control) {}

    private PortPair pair() throws IOException {
        for (int attempt = 0; ; attempt++) {
            Peer media = peer();
            try {
                Peer control = new Peer(media.address().getPort() + 1);
                open.add(control);
                return new PortPair(media, control);
            } catch (IOException | IllegalArgumentException e) {
                if (attempt == 20) {
                    throw e; // the port behind was taken each time
                }
            }
        }
    }

    /** Each is a member of both others, and has a receiver: without an end each packet would go round for ever. */
    @ParameterizedTest
    @EnumSource(names = {"RTP", "ANEP"})
    void aLoopOfReflectorsEnds(Format format) throws Exception {
        Peer sender = peer();
        List<Reflector> ring = new ArrayList<>();
        List<Peer> receivers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Peer receiver = peer();
            receivers.add(receiver);
            ring.add(start(TransportKind.AUTO, listed(format, receiver, sender)));
        }
        for (Reflector each : ring) {
            for (Reflector other : ring) {
                if (other != each) {
                    each.join("test", new MemberConfig(other.inputs().get(0), Terms.OPEN));
                }
            }
        }
        for (int i = 0; i < 20; i++) {
            boolean isRtp = format == Format.RTP;
            byte[] packet = isRtp ? Sessions.rtp(5, i, i * 160, "packet " + i) : SessionTest.anep(i, 1_000, 0);
            sender.send(ring.get(0).inputs().get(0), packet);
            for (Peer receiver : receivers) {
                String got = receiver.receive();
                if (isRtp) {
                    assertThat(got).isEqualTo(Wire.text(packet));
                } else {
                    assertThat(got).endsWith("payload 0"); // its hops are fewer at each
                }
            }
        }
        long reflected = 0;
        long loops = 0;
        for (Reflector each : ring) {
            SessionStatus status = balanced(each);
            reflected += status.reflected();
            loops += status.refused().getOrDefault("LOOP", 0L);
        }
        assertThat(reflected).as("once by each").isEqualTo(60);
        assertThat(loops).isPositive();
    }

    @Test
    void aStrangerGetsACookieAndNothingOfTheSession() throws Exception {
        Peer stranger = peer();
        Peer member = peer();
        Peer other = peer();
        Reflector reflector = start(TransportKind.AUTO, joinable());
        InetSocketAddress input = reflector.inputs().get(0);
        stranger.send(input, "tamanoir-join " + "0".repeat(32));
        assertThat(stranger.receive()).matches("tamanoir-take [0-9a-f]{32}");
        stranger.send(input, "not yet a member");
        member.join(reflector);
        other.join(reflector);
        other.send(input, "for members");
        assertThat(member.receive()).isEqualTo("for members");
        stranger.send(input, "tamanoir-join " + "1".repeat(32));
        assertThat(stranger.receive()).as("nothing came before this answer").startsWith("tamanoir-take ");
        assertThat(balanced(reflector).refused()).isEqualTo(Map.of("NOT_ALLOWED", 1L));
    }

    @Test
    void hostileDatagramsDoNotDisturb() throws Exception {
        Peer hostile = peer();
        Peer sender = peer();
        Peer receiver = peer();
        Reflector reflector = start(
                TransportKind.AUTO,
                SessionConfig.of(
                        "test",
                        Wire.at(0),
                        Format.ANEP,
                        List.of(
                                new MemberConfig(sender.address(), Terms.OPEN),
                                new MemberConfig(hostile.address(), new Terms(Direction.SEND, 0, Terms.ALL)),
                                new MemberConfig(receiver.address(), Terms.OPEN))));
        Random random = new Random(9);
        InetSocketAddress input = reflector.inputs().get(0);
        for (int i = 0; i < 500; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            if (bytes.length > 0) {
                bytes[0] = 2; // no version of ANEP
            }
            hostile.send(input, bytes);
            sender.send(input, SessionTest.anep(i, 9, 0));
            assertThat(receiver.receive()).isEqualTo(Wire.text(SessionTest.anep(i, 8, 0)));
        }
        SessionStatus status = balanced(reflector);
        assertThat(status.refused()).isEqualTo(Map.of("MALFORMED", 500L));
        assertThat(status.reflected()).isEqualTo(500);
    }

    @Test
    void whatCannotBeIsRefusedInOneLine() throws Exception {
        Peer member = peer();
        Reflector reflector = start(TransportKind.AUTO, listed(Format.UDP, member));
        InetSocketAddress input = reflector.inputs().get(0);
        assertThatThrownBy(() -> reflector.join("other", new MemberConfig(member.address(), Terms.OPEN)))
                .hasMessage("session other is not here; known: test");
        for (String own : List.of("127.0.0.1", "127.0.0.2", "0.0.0.0")) {
            MemberConfig itself = new MemberConfig(new InetSocketAddress(own, input.getPort()), Terms.OPEN);
            assertThatThrownBy(() -> reflector.join("test", itself))
                    .hasMessageContaining("is an address of this host at the session's own port");
        }
        SessionConfig again = SessionConfig.of("again", input, Format.UDP, List.of());
        assertThatThrownBy(() -> new Reflector(List.of(again), TransportKind.AUTO))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot bind UDP");
        reflector.close();
        new Reflector(List.of(again), TransportKind.AUTO).close();
        assertThatThrownBy(() -> reflector.status(0)).hasMessage("the reflector has ended");
    }
}
