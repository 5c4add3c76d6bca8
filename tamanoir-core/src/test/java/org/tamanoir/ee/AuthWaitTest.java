package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.AuthTcpTest.BETWEEN;
import static org.tamanoir.ee.AuthTcpTest.LAST;
import static org.tamanoir.ee.AuthTcpTest.SENDER;
import static org.tamanoir.ee.AuthTcpTest.guard;
import static org.tamanoir.ee.AuthTcpTest.holder;
import static org.tamanoir.ee.AuthTcpTest.signer;
import static org.tamanoir.sched.TurnTesting.config;
import static org.tamanoir.sched.TurnTesting.named;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.auth.PacketSigner;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Datagrams that wait, wherever that is, while rules of authentication come. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class AuthWaitTest {
    private static final TransportKind KIND = TransportKind.AUTO;
    private static final String NAME = "org.example.Late";
    private static final String OTHER = "org.example.Other";
    private static final int BYTES = 200;
    /** Of a packet that keeps its service's thread until the test lets it go. */
    private static final int BLOCKS = 9;

    private final TestSource source = new TestSource();
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger blocked = new AtomicInteger();

    /** Where packets wait, and how they go on. */
    private enum Place {
        CODE,
        REFUSED_CODE,
        INBOX,
        JOBS,
        TURN
    }

    @AfterEach
    void release() {
        released.countDown();
    }

    /** Forwards packets. */
    private class Forwarding extends Service {
        @Override
        public Verdict process(Packet packet) throws InterruptedException {
            if (packet.classOfService() == BLOCKS) {
                blocked.incrementAndGet();
                released.await();
                return Verdict.CONSUME;
            }
            return Verdict.FORWARD;
        }
    }

    @PerPacket
    private final class Shared extends Forwarding {}

    private ServiceDefinition definition(String name, boolean perPacket) {
        return new ServiceDefinition(
                name,
                "",
                perPacket ? Shared::new : Forwarding::new,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(),
                DefinedControl.NONE,
                new Dispatch(perPacket, true, 1024),
                ServiceTraits.of(perPacket ? Shared.class : Forwarding.class));
    }

    private UdpTestNode node() {
        EeConfig config = UdpTestNode.config(KIND, FailurePolicy.PASS, 1 << 20, 32);
        return UdpTestNode.start(config, source).deliver("127.0.0.0/8", Transport.UDP);
    }

    private static PacketBuilder builder(UdpFarEnd end, String service, int stream) {
        return UdpTestNode.builder(end.address(), service, stream)
                .classOfService(0, 0)
                .authentication();
    }

    private static byte[] plain(UdpFarEnd end, int stream) {
        return UdpTestNode.packet(builder(end, NAME, stream), BYTES);
    }

    private static byte[] signed(UdpFarEnd end, int stream, AuthKey key) {
        byte[] bytes = plain(end, stream);
        new PacketSigner(key).sign(UdpTestNode.parsed(bytes));
        return bytes;
    }

    private static void send(AnepSender sender, String service, int classOfService) throws IOException {
        sender.send(TestServices.packets(service).classOfService(classOfService, 0), TestServices.number(1));
        sender.flush();
    }

    /** Sends packets that wait there until the node gets its rules, and then go on; returns how many others it sent. */
    private int wait(Place place, UdpTestNode node, UdpFarEnd end, List<byte[]> packets, Runnable rules)
            throws IOException {
        switch (place) {
            case CODE, REFUSED_CODE -> {
                end.send(node.udp(), packets);
                eventually().until(() -> node.environment.waitingForCode() == packets.size());
                rules.run();
                if (place == Place.CODE) {
                    source.answer(node.services, definition(NAME, false));
                } else {
                    source.refuse(NAME, DropReason.DEPLOYMENT_FAILED);
                }
                return 0;
            }
            case INBOX, JOBS -> {
                if (place == Place.JOBS) { // One processor, one worker.
                    node.environment.qos(config("pq", 1, Duration.ofSeconds(1), named("rest", 0, 1)));
                }
                node.services.add(definition(NAME, place == Place.JOBS));
                node.services.add(definition(OTHER, false));
                for (String name : List.of(NAME, OTHER)) { // The reception reads a port that services share.
                    end.send(node.udp(), UdpTestNode.packet(builder(end, name, 9), BYTES));
                    end.next();
                }
                end.send(node.udp(), UdpTestNode.packet(builder(end, NAME, 8).classOfService(BLOCKS, 0), BYTES));
                eventually().until(() -> blocked.get() == 1);
                end.send(node.udp(), packets);
                eventually().until(() -> node.environment.traffic().packetsIn() == packets.size() + 3);
                rules.run();
                released.countDown();
                return 3;
            }
            case TURN -> {
                node.services.add(definition(NAME, false));
                node.services.add(definition(OTHER, false));
                node.environment.qos(
                        config("pq", 1, Duration.ofSeconds(1), named("blocker", BLOCKS, 1), named("rest", 0, 1)));
                try (AnepSender blocker = AnepSender.tcp(node.tcp())) {
                    send(blocker, OTHER, BLOCKS);
                    eventually().until(() -> blocked.get() == 1);
                    end.send(node.udp(), packets);
                    eventually().until(() -> node.environment.traffic().held() == packets.size());
                    rules.run();
                    released.countDown();
                    blocker.finish();
                }
                return 1;
            }
        }
        throw new IllegalArgumentException(String.valueOf(place));
    }

    private static Map<DropReason, Long> drops(Place place, DropReason reason) {
        return place.ordinal() < Place.INBOX.ordinal()
                ? Map.of(reason, 1L)
                : Map.of(reason, 1L, DropReason.CONSUMED, 1L);
    }

    /** Nobody has authenticated what came before there were rules: it is judged when it goes on. */
    @ParameterizedTest
    @EnumSource(Place.class)
    void whatWaitsIsJudgedByTheRulesThatCame(Place place) throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(KIND, "127.0.0.1");
                UdpTestNode node = node()) {
            List<byte[]> packets = List.of(plain(end, 1), signed(end, 2, SENDER));
            int others = wait(place, node, end, packets, () -> guard(node.environment, signer(LAST), SENDER, LAST));
            Packet left = UdpTestNode.parsed(end.next());
            assertThat(left.streamId()).isEqualTo(2);
            assertThat(holder(LAST).check(left)).isNull();
            node.assertDrops(2 + others, drops(place, DropReason.AUTH_MISSING));
            assertThat(end.isQuiet()).isTrue();
            end.send(node.udp(), packets.get(1));
            node.assertDrops(
                    3 + others,
                    place.ordinal() < Place.INBOX.ordinal()
                            ? Map.of(DropReason.AUTH_MISSING, 1L, DropReason.AUTH_REPLAY, 1L)
                            : Map.of(DropReason.AUTH_MISSING, 1L, DropReason.AUTH_REPLAY, 1L, DropReason.CONSUMED, 1L));
        }
    }

    /** It is no replay of itself; but its key has to be there still. */
    @Test
    void whatWasAuthenticatedBeforeItWaitedNeedsItsKeyAndNoOtherNumber() throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(KIND, "127.0.0.1");
                UdpTestNode node = node()) {
            guard(node.environment, signer(LAST), SENDER, BETWEEN, LAST);
            PacketGuard far = holder(LAST);
            List<byte[]> packets = List.of(signed(end, 1, SENDER), signed(end, 2, BETWEEN));
            wait(
                    Place.CODE,
                    node,
                    end,
                    packets,
                    () -> node.environment.authentication().remove(BETWEEN.id()));
            Packet left = UdpTestNode.parsed(end.next());
            assertThat(left.streamId()).isEqualTo(1);
            assertThat(far.check(left)).isNull();
            node.assertDrops(2, Map.of(DropReason.AUTH_KEY, 1L));
        }
    }
}
