package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.MovableClock;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;

/** UDP packets that ask for a service which the node does not have yet, or has no longer. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class DeployUdpTest {
    private static final String NAME = "org.example.Late";
    private static final int HOLD_BYTES = 1 << 16;

    private final TestSource source = new TestSource();

    /** Answers each packet with its version as the class. */
    private static ServiceDefinition version(int version) {
        return definition(NAME, version, () -> scripted(version));
    }

    private static Service scripted(int version) {
        return new UdpTestNode.Scripted((service, packet) -> {
            packet.setClassOfService(version);
            return Verdict.REPLY;
        });
    }

    private static ServiceDefinition definition(String name, int version, Supplier<Service> factory) {
        return new ServiceDefinition(
                name, String.valueOf(version), factory, ServiceConfig.EMPTY, FailurePolicy.DROP, new ServiceHealth());
    }

    private UdpTestNode node(TransportKind kind, FailurePolicy unknown, Duration deployTimeout) {
        EeConfig config = UdpTestNode.config(kind, unknown, 1 << 20, 32);
        return UdpTestNode.start(config.deploying(deployTimeout, Duration.ofSeconds(20), HOLD_BYTES), source);
    }

    private UdpTestNode node(TransportKind kind) {
        return node(kind, FailurePolicy.DROP, Duration.ofSeconds(20));
    }

    private static PacketBuilder builder(UdpFarEnd destination, String service) {
        return UdpTestNode.builder(destination.address(), service, 1).classOfService(0, 0);
    }

    private static List<byte[]> packets(PacketBuilder builder, int count) {
        List<byte[]> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(UdpTestNode.packet(builder, 100));
        }
        return packets;
    }

    /** The next packets have these sequence numbers and this class. */
    private static void assertNext(UdpFarEnd end, int from, int to, int version) throws IOException {
        for (int i = from; i < to; i++) {
            Packet packet = UdpTestNode.parsed(end.next());
            assertThat(packet.sequence()).isEqualTo(i);
            assertThat(packet.classOfService()).isEqualTo(version);
        }
    }

    private static void awaitWaiting(UdpTestNode node, long packets) {
        eventually().until(() -> node.environment.waitingForCode() == packets);
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsWaitAndKeepTheirOrder(TransportKind kind) throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            PacketBuilder builder = builder(end, NAME);
            end.send(node.udp(), packets(builder, 200));
            awaitWaiting(node, 200);
            assertThat(node.environment.traffic().held()).isEqualTo(200);
            UdpTestNode.assertBalance(node.environment.traffic());
            CompletableFuture<Void> answering = Waiting.async(() -> source.answer(node.services, version(1)));
            end.send(node.udp(), packets(builder, 200));
            assertNext(end, 0, 400, 1);
            answering.get(40, TimeUnit.SECONDS);
            node.assertDrops(400, Map.of());
            assertThat(node.environment.waitingForCode()).isZero();
            assertThat(source.requests()).hasSize(1);
            assertThat(source.requests().get(0).origin().peer())
                    .isEqualTo(end.address().getAddress());
        }
    }

    @Test
    void aServiceThatRunsGoesOnWhileAnotherIsFetched() throws Exception {
        TransportKind kind = TransportKind.AUTO;
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd other = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            node.service("org.example.Running", (service, packet) -> Verdict.REPLY);
            List<byte[]> running = packets(builder(other, "org.example.Running"), 20);
            assertThat(other.pump(node.udp(), running.subList(0, 10), other)).hasSize(10);
            PacketBuilder late = builder(end, NAME);
            end.send(node.udp(), packets(late, 100)); // read by the other service's thread
            awaitWaiting(node, 100);
            assertThat(other.pump(node.udp(), running.subList(10, 20), other)).hasSize(10);
            end.send(node.udp(), packets(late, 100));
            awaitWaiting(node, 200);
            source.answer(node.services, version(1));
            end.send(node.udp(), packets(late, 100));
            assertNext(end, 0, 300, 1);
            node.assertDrops(320, Map.of());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aFullStoreDropsWhatComesLast(TransportKind kind) throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            PacketBuilder builder = builder(end, NAME);
            int fit = HOLD_BYTES / 100;
            for (int i = 0; i < 10; i++) {
                end.send(node.udp(), packets(builder, 100));
                long sent = (i + 1) * 100L;
                eventually().until(() -> node.environment.traffic().packetsIn() == sent);
            }
            assertThat(node.environment.waitingForCode()).isEqualTo(fit);
            source.answer(node.services, version(1));
            assertNext(end, 0, fit, 1);
            node.assertDrops(1000, Map.of(DropReason.DEPLOYMENT_HOLD_FULL, 1000L - fit));
            // There is room again.
            end.send(node.udp(), packets(builder, 10));
            assertNext(end, 1000, 1010, 1);
        }
    }

    @Test
    void packetsAreHeldForSixtyFourKeysAtMost() throws Exception {
        TransportKind kind = TransportKind.AUTO;
        try (UdpTestNode node = node(kind)) {
            for (int i = 0; i < 70; i++) {
                // No source has more than its part.
                try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0." + (2 + i / ServiceFetches.MAX_KEYS_PER_PARTY))) {
                    end.send(node.udp(), packets(builder(end, NAME + i), 1));
                    long sent = i + 1;
                    eventually().until(() -> node.environment.traffic().packetsIn() == sent);
                }
            }
            awaitWaiting(node, 64);
            eventually().until(() -> node.environment.traffic().dropped() == 6);
            node.service(NAME, (service, packet) -> Verdict.CONSUME); // Its code is there, its instance is not.
            try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1")) {
                end.send(node.udp(), packets(builder(end, NAME), 1));
                eventually().until(() -> node.environment.traffic().dropped() == 7);
            }
            for (int i = 0; i < 64; i++) {
                source.refuse(NAME + i, DropReason.DEPLOYMENT_FAILED);
            }
            node.assertDrops(
                    71,
                    Map.of(
                            DropReason.DEPLOYMENT_HOLD_FULL,
                            6L,
                            DropReason.INBOX_FULL,
                            1L,
                            DropReason.DEPLOYMENT_FAILED,
                            64L));
        }
    }

    @Test
    void packetsOfOneSourceAreHeldForSixteenKeysAtMost() throws Exception {
        TransportKind kind = TransportKind.AUTO;
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            for (int i = 0; i < 20; i++) {
                end.send(node.udp(), packets(builder(end, NAME + i), 1));
            }
            awaitWaiting(node, 16);
            eventually().until(() -> node.environment.traffic().dropped() == 4);
            assertThat(source.requests()).hasSize(16);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = FailurePolicy.class,
            names = {"DROP", "PASS", "CLOSE"})
    void refusedPacketsFollowThePolicy(FailurePolicy policy) throws Exception {
        TransportKind kind = TransportKind.AUTO;
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind, policy, Duration.ofSeconds(20))) {
            node.deliver("127.0.0.1/32", Transport.SAME);
            PacketBuilder builder = builder(end, NAME);
            end.send(node.udp(), packets(builder, 50));
            awaitWaiting(node, 50);
            source.refuse(NAME, DropReason.DEPLOYMENT_FAILED);
            end.send(node.udp(), packets(builder, 1)); // refused without being asked for
            if (policy == FailurePolicy.PASS) {
                assertNext(end, 0, 51, 0);
                node.assertDrops(51, Map.of());
            } else {
                node.assertDrops(51, Map.of(DropReason.DEPLOYMENT_FAILED, 51L));
            }
            assertThat(node.environment.waitingForCode()).isZero();
        }
    }

    @Test
    void anAnswerThatDoesNotComeIsARefusal() throws Exception {
        TransportKind kind = TransportKind.AUTO;
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind, FailurePolicy.DROP, Duration.ofMillis(50))) {
            end.send(node.udp(), packets(builder(end, NAME), 5));
            node.assertDrops(5, Map.of(DropReason.DEPLOYMENT_FAILED, 5L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void whatWaitsWhenTheNodeStopsIsCounted(TransportKind kind) throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            end.send(node.udp(), packets(builder(end, NAME), 20));
            awaitWaiting(node, 20);
            node.environment.stop(UdpTestNode.PATIENCE);
            node.assertDrops(20, Map.of(DropReason.SHUTDOWN, 20L));
            source.answer(node.services, version(1));
            node.assertDrops(20, Map.of(DropReason.SHUTDOWN, 20L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsFollowTheCatalogAndRetireLosesNone(TransportKind kind) throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            PacketBuilder builder = builder(end, NAME);
            ServiceDefinition running = version(1);
            node.services.add(running);
            int sent = 0;
            for (int next = 2; next < 12; next++) {
                assertThat(end.pump(node.udp(), packets(builder, 50), end)).hasSize(50);
                ServiceDefinition old = running;
                ServiceDefinition young = version(next);
                running = young;
                CompletableFuture<Integer> replaced = Waiting.async(() -> {
                    node.services.add(young);
                    node.services.remove(old);
                    return node.environment.retire(old, UdpTestNode.PATIENCE);
                });
                sent += 50;
                do {
                    assertThat(end.pump(node.udp(), packets(builder, 20), end)).hasSize(20);
                    sent += 20;
                } while (!replaced.isDone());
                assertThat(replaced.get()).isZero();
                List<byte[]> now = end.pump(node.udp(), packets(builder, 1), end);
                sent++;
                assertThat(UdpTestNode.parsed(now.get(0)).classOfService()).isEqualTo(next);
                assertThat(node.environment.instances()).hasSize(1);
            }
            node.assertDrops(sent, Map.of());
        }
    }

    /** The earlier one is in its service's code, and packets wait for it. */
    @Test
    void packetsGoToTheNextVersionBehindThoseThatTheOneBeforeHas() throws Exception {
        TransportKind kind = TransportKind.AUTO;
        CountDownLatch released = new CountDownLatch(1);
        AtomicLong madeMeanwhile = new AtomicLong();
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd other = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            node.services.add(definition(
                    NAME,
                    1,
                    () -> new UdpTestNode.Scripted((service, packet) -> {
                        if (packet.sequence() == 1) {
                            Uninterruptibles.awaitUninterruptibly(released);
                        }
                        packet.setClassOfService(1);
                        return Verdict.REPLY;
                    })));
            node.services.add(definition("org.example.Other", 1, () -> scripted(1)));
            PacketBuilder builder = builder(end, NAME);
            PacketBuilder others = builder(other, "org.example.Other");
            end.pump(node.udp(), packets(builder, 1), end);
            other.pump(node.udp(), packets(others, 1), other); // Both use the port now, and the reception reads it.
            end.send(node.udp(), packets(builder, 10));
            other.pump(node.udp(), packets(others, 1), other); // Read behind those.
            node.services.add(definition(NAME, 2, () -> {
                madeMeanwhile.addAndGet(released.getCount());
                return scripted(2);
            }));
            end.send(node.udp(), packets(builder, 10));
            other.pump(node.udp(), packets(others, 1), other);
            released.countDown();
            assertNext(end, 1, 11, 1);
            assertNext(end, 11, 21, 2);
            assertThat(madeMeanwhile).hasValue(0);
            node.assertDrops(24, Map.of());
        } finally {
            released.countDown();
        }
    }

    @Test
    void nextVersionBeginsThoughTheOneBeforeDoesNotReturn() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        CountDownLatch inService = new CountDownLatch(1);
        MovableClock clock = new MovableClock();
        try (UdpFarEnd end = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd other = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.AUTO), clock)) {
            node.environment.start();
            node.services.add(definition(
                    NAME,
                    1,
                    () -> new UdpTestNode.Scripted((service, packet) -> {
                        if (packet.sequence() == 1) {
                            inService.countDown();
                            Uninterruptibles.awaitUninterruptibly(released);
                        }
                        return Verdict.REPLY;
                    })));
            PacketBuilder builder = builder(end, NAME);
            node.services.add(definition("org.example.Other", 1, () -> scripted(1)));
            PacketBuilder others = builder(other, "org.example.Other");
            end.pump(node.udp(), packets(builder, 1), end);
            other.pump(node.udp(), packets(others, 1), other); // Both use the port now, and the reception reads it.
            end.send(node.udp(), packets(builder, 1));
            other.pump(node.udp(), packets(others, 1), other); // Read behind that.
            AtomicLong made = new AtomicLong();
            node.services.add(definition(NAME, 2, () -> {
                made.incrementAndGet();
                return scripted(2);
            }));
            end.send(node.udp(), packets(builder, 1));
            assertThat(inService.await(40, TimeUnit.SECONDS)).isTrue();
            clock.hurryUntil(() -> made.get() > 0);
            assertNext(end, 2, 3, 2);
            released.countDown();
        } finally {
            released.countDown();
        }
    }

    @Test
    void packetsGoToTheNextVersionThoughNothingWasRetired() throws Exception {
        TransportKind kind = TransportKind.AUTO;
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            PacketBuilder builder = builder(end, NAME);
            node.services.add(version(1));
            end.pump(node.udp(), packets(builder, 10), end);
            node.services.add(version(2));
            List<byte[]> answers = end.pump(node.udp(), packets(builder, 10), end);
            assertThat(UdpTestNode.parsed(answers.get(9)).classOfService()).isEqualTo(2);
            node.assertDrops(20, Map.of());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsByNameAndByVersionRunInOneInstance(TransportKind kind) throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            ServiceDefinition one = version(1);
            node.services.add(one);
            node.services.add(ServiceKey.of(NAME + ":1"), one);
            PacketBuilder bare = builder(end, NAME);
            PacketBuilder versioned = builder(end, NAME + ":1");
            for (int i = 0; i < 100; i++) {
                byte[] packet = UdpTestNode.packet((i % 3 == 0 ? bare : versioned).nextSequence(i), 100);
                Packet answer = UdpTestNode.parsed(
                        end.pump(node.udp(), List.of(packet), end).get(0));
                assertThat(answer.sequence()).isEqualTo(i);
            }
            assertThat(node.environment.instances()).hasSize(1);
            node.assertDrops(100, Map.of());
        }
    }

    /** Sends packets that name the service without and with its version in turn, and waits until they are held. */
    private void sendByTwoNames(UdpFarEnd end, UdpTestNode node) throws IOException {
        PacketBuilder bare = builder(end, NAME);
        PacketBuilder versioned = builder(end, NAME + ":1");
        List<byte[]> packets = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            packets.add(UdpTestNode.packet((i % 3 == 0 ? bare : versioned).nextSequence(i), 100));
        }
        end.send(node.udp(), packets);
        awaitWaiting(node, 100);
    }

    @Test
    void packetsByNameAndByVersionReachANewInstanceInOrder() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        try (UdpFarEnd end = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpTestNode node = node(TransportKind.AUTO)) {
            ServiceDefinition one = definition(NAME, 1, () -> {
                Uninterruptibles.awaitUninterruptibly(released);
                return scripted(1);
            });
            node.services.add(one);
            node.services.add(ServiceKey.of(NAME + ":1"), one);
            sendByTwoNames(end, node);
            released.countDown();
            assertNext(end, 0, 100, 1);
            assertThat(node.environment.waitingForCode()).isZero();
            node.assertDrops(100, Map.of());
        } finally {
            released.countDown();
        }
    }

    /** The source may answer for either of the two names first. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void packetsByNameAndByVersionReachAFetchedServiceInOrder(boolean nameFirst) throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpTestNode node = node(TransportKind.AUTO)) {
            sendByTwoNames(end, node);
            ServiceDefinition one = version(1);
            ServiceSource.Answer answer = ServiceSource.Answer.of(one);
            long versioned = ServiceKey.of(NAME + ":1");
            node.services.add(versioned, one); // As whoever deploys it does, whichever name it was asked for by.
            if (!nameFirst) {
                source.awaitRequest(NAME + ":1").then().accept(answer);
            }
            source.answer(node.services, one);
            if (nameFirst) {
                source.awaitRequest(NAME + ":1").then().accept(answer);
            }
            assertNext(end, 0, 100, 1);
            node.assertDrops(100, Map.of());
        }
    }

    @Test
    void packetsByVersionGoOnWhenTheNameIsRefused() throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpTestNode node = node(TransportKind.AUTO)) {
            sendByTwoNames(end, node);
            ServiceDefinition one = version(1);
            node.services.add(ServiceKey.of(NAME + ":1"), one);
            source.awaitRequest(NAME + ":1").then().accept(ServiceSource.Answer.of(one));
            source.refuse(NAME, DropReason.DEPLOYMENT_FAILED);
            for (int i = 0; i < 100; i++) {
                if (i % 3 != 0) {
                    assertNext(end, i, i + 1, 1);
                }
            }
            node.assertDrops(100, Map.of(DropReason.DEPLOYMENT_FAILED, 34L));
        }
    }

    /** The refusal of one name is none of the others', though it means the same service by then. */
    @Test
    void packetsOfAnotherNameStayWhenOneIsRefused() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        try (UdpFarEnd end = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpTestNode node = node(TransportKind.AUTO)) {
            sendByTwoNames(end, node);
            ServiceDefinition one = definition(NAME, 1, () -> {
                Uninterruptibles.awaitUninterruptibly(released);
                return scripted(1);
            });
            node.services.add(ServiceKey.of(NAME + ":1"), one);
            node.services.add(one);
            source.awaitRequest(NAME + ":1").then().accept(ServiceSource.Answer.of(one));
            source.refuse(NAME, DropReason.DEPLOYMENT_FAILED);
            released.countDown();
            for (int i = 0; i < 100; i++) {
                if (i % 3 != 0) {
                    assertNext(end, i, i + 1, 1);
                }
            }
            node.assertDrops(100, Map.of(DropReason.DEPLOYMENT_FAILED, 34L));
        } finally {
            released.countDown();
        }
    }

    /** Who names the version uses up no room of those who ask for the name. */
    @Test
    void packetsByVersionWaitForTheNameAndDoNotAskForIt() throws Exception {
        try (UdpFarEnd end = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd other = new UdpFarEnd(TransportKind.AUTO, "127.0.0.2");
                UdpTestNode node = node(TransportKind.AUTO)) {
            end.send(node.udp(), packets(builder(end, NAME), 1));
            source.awaitRequest(NAME);
            other.send(node.udp(), packets(builder(other, NAME + ":1"), 1));
            ServiceDefinition one = version(1);
            TestSource.Request versioned = source.awaitRequest(NAME + ":1");
            node.services.add(ServiceKey.of(NAME + ":1"), one);
            versioned.then().accept(ServiceSource.Answer.of(one));
            assertThat(node.environment.waitingForCode()).isEqualTo(2);
            assertThat(source.requests())
                    .extracting(TestSource.Request::key)
                    .containsExactly(ServiceKey.of(NAME), ServiceKey.of(NAME + ":1"));
            source.answer(node.services, one);
            assertThat(UdpTestNode.parsed(end.next()).classOfService()).isEqualTo(1);
            assertThat(UdpTestNode.parsed(other.next()).classOfService()).isEqualTo(1);
            node.assertDrops(2, Map.of());
        }
    }

    /** Packets by the name wait for an instance of a service that was taken away since: nobody is asked for it. */
    @Test
    void packetsByVersionWaitForNoNameThatNobodyWasAskedFor() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        try (UdpFarEnd end = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpTestNode node = node(TransportKind.AUTO)) {
            ServiceDefinition two = definition(NAME, 2, () -> {
                begun.countDown();
                Uninterruptibles.awaitUninterruptibly(released);
                return scripted(2);
            });
            node.services.add(two);
            end.send(node.udp(), packets(builder(end, NAME), 1));
            assertThat(begun.await(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            node.services.remove(two);
            end.send(node.udp(), packets(builder(end, NAME + ":1"), 1));
            ServiceDefinition one = version(1);
            TestSource.Request versioned = source.awaitRequest(NAME + ":1");
            node.services.add(ServiceKey.of(NAME + ":1"), one);
            versioned.then().accept(ServiceSource.Answer.of(one));
            assertThat(source.requests()).hasSize(1);
            released.countDown();
            assertThat(UdpTestNode.parsed(end.next()).classOfService()).isEqualTo(1);
            node.assertDrops(2, Map.of(DropReason.UNKNOWN_SERVICE, 1L));
        } finally {
            released.countDown();
        }
    }
}
