package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.tamanoir.sched.TurnTesting.config;
import static org.tamanoir.sched.TurnTesting.named;
import static org.tamanoir.support.Waiting.eventually;

import com.google.common.util.concurrent.Uninterruptibles;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Waiting;
import org.tamanoir.trace.PacketTrace;
import org.tamanoir.trace.Stage;
import org.tamanoir.trace.Step;
import org.tamanoir.trace.TraceResult;
import org.tamanoir.trace.TraceResult.Outcome;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** What is told of one packet that crosses the node. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class TraceTest {
    private static final String NAME = "org.example.Service";
    private static final String OTHER = "org.example.Other";
    private static final Duration LONG = Waiting.PATIENCE;
    /** For packets that are to be found waiting, in services that have been called before. */
    private static final Duration SHORT = Duration.ofSeconds(1);

    private final CountDownLatch released = new CountDownLatch(1);
    private final CountDownLatch entered = new CountDownLatch(1);
    private final BlockingQueue<Suspension> held = new LinkedBlockingQueue<>();

    /** From now on services do what is to be seen; before they forward. */
    private volatile boolean isWarm;

    @AfterEach
    void release() {
        released.countDown();
    }

    private static UdpTestNode node(UdpTestNode.Step step) {
        return node(TransportKind.NIO, step);
    }

    private static UdpTestNode node(TransportKind kind, UdpTestNode.Step step) {
        return UdpTestNode.start(kind).deliver("127.0.0.1/32", Transport.SAME).service(NAME, step);
    }

    private static PacketBuilder to(InetSocketAddress destination) {
        return UdpTestNode.builder(destination, NAME, 1);
    }

    private static TraceResult trace(UdpTestNode node, PacketBuilder packet, Duration atMost) throws Exception {
        return trace(node, packet, null, atMost);
    }

    private static TraceResult trace(
            UdpTestNode node, PacketBuilder packet, @Nullable InetSocketAddress source, Duration atMost)
            throws Exception {
        return node.environment.trace(packet.build(ByteBuffer.allocate(40)), source, atMost);
    }

    private static CompletableFuture<TraceResult> later(UdpTestNode node, PacketBuilder packet) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return trace(node, packet, LONG);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                task -> new Thread(task, "trace").start()); // The common pool may have one thread.
    }

    /** Says which stages there were, and what was decided in each. */
    private static List<String> decisions(TraceResult result) {
        return result.steps().stream()
                .map(step -> step.stage() + " " + step.decision())
                .toList();
    }

    private static String reason(TraceResult result, Stage stage) {
        return result.steps().stream()
                .filter(step -> step.stage() == stage)
                .map(Step::reason)
                .findFirst()
                .orElseThrow(() -> new AssertionError(stage + " in " + result));
    }

    private Verdict block(UdpTestNode.Scripted service, Packet packet) throws InterruptedException {
        if (isWarm) {
            entered.countDown();
            released.await();
        }
        return Verdict.FORWARD;
    }

    /** Has the service handle a packet, so that the next one waits for nothing that is done once. */
    private void warm(UdpTestNode node, PacketBuilder packet, UdpFarEnd receiver) throws Exception {
        assertThat(trace(node, packet, LONG).outcome()).isEqualTo(Outcome.SENT);
        receiver.next();
        isWarm = true;
    }

    private static void assertDropped(TraceResult result, DropReason reason) {
        assertThat(result.outcome()).as("%s", result).isEqualTo(Outcome.DROPPED);
        assertThat(result.dropReason()).isEqualTo(reason);
        assertThat(result.waits()).isNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void tellsEachDecisionOfAPacketThatLeavesAndTheNodeCountsIt(TransportKind kind) throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind, (service, packet) -> Verdict.FORWARD)) {
            TraceResult result = trace(node, to(receiver.address()), LONG);
            assertThat(decisions(result))
                    .containsExactly(
                            "RECEPTION taken",
                            "SERVICE " + NAME,
                            "LEVEL jvm",
                            "INBOX taken",
                            "TURN none needed",
                            "PROCESS FORWARD",
                            "ROUTE found",
                            "HOPS kept",
                            "LINK none",
                            "END sent");
            assertThat(result.outcome()).isEqualTo(Outcome.SENT);
            assertThat(reason(result, Stage.ROUTE))
                    .isEqualTo("127.0.0.1/32 of the operator decides about 127.0.0.1: to "
                            + PacketTrace.at(receiver.address()) + ", a host, over UDP");
            assertThat(reason(result, Stage.END))
                    .isEqualTo("to " + PacketTrace.at(receiver.address()) + " over UDP from "
                            + PacketTrace.at(node.udp()));
            assertThat(receiver.next()).hasSize(result.bytes());
            TrafficSnapshot traffic = node.balanced(0);
            assertThat(traffic.packetsMade()).isEqualTo(1);
            assertThat(traffic.packetsOut()).isEqualTo(1);
        }
    }

    @Test
    void tellsWhyAServiceDropsAPacket() throws Exception {
        try (UdpTestNode node = node((service, packet) -> service.end("odd one out"))) {
            TraceResult result = trace(node, to(UdpTestNode.at("127.0.0.1", 9)), LONG);
            assertDropped(result, DropReason.SERVICE);
            assertThat(reason(result, Stage.PROCESS)).endsWith("; its reason: odd one out");
        }
    }

    @Test
    void tellsThatAServiceTakesThePacketIn() throws Exception {
        try (UdpTestNode node = node((service, packet) -> Verdict.CONSUME)) {
            TraceResult result = trace(node, to(UdpTestNode.at("127.0.0.1", 9)), LONG);
            assertThat(result.outcome()).isEqualTo(Outcome.CONSUMED);
            assertThat(result.dropReason()).isEqualTo(DropReason.CONSUMED);
        }
    }

    @Test
    void tellsThatAServiceFailsAndWhatItsPolicySays() throws Exception {
        try (UdpTestNode node = node((service, packet) -> {
            throw new IllegalStateException("the service's fault");
        })) {
            TraceResult result = trace(node, to(UdpTestNode.at("127.0.0.1", 9)), LONG);
            assertDropped(result, DropReason.SERVICE_FAILURE);
            assertThat(decisions(result)).contains("PROCESS failed");
            assertThat(reason(result, Stage.PROCESS)).endsWith("failure policy DROP");
        }
    }

    @Test
    void tellsHowAPacketIsChangedAndThatOthersAreMade() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node((service, packet) -> {
                    service.send(to(receiver.address()).build(ByteBuffer.allocate(10)));
                    packet.setPayload(ByteBuffer.allocate(20));
                    return Verdict.FORWARD;
                })) {
            TraceResult result = trace(node, to(receiver.address()), LONG);
            int after = result.bytes() - 20;
            assertThat(reason(result, Stage.PROCESS))
                    .endsWith("; " + result.bytes() + " bytes became " + after + "; it made 1 packet");
            assertThat(result.outcome()).isEqualTo(Outcome.SENT);
            assertThat(List.of(receiver.next().length, receiver.next().length)).contains(after);
        }
    }

    @Test
    void answersGoToTheSourceThatIsNamedOrNowhere() throws Exception {
        try (UdpFarEnd source = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node((service, packet) -> service.answer(packet))) {
            TraceResult result = trace(node, to(UdpTestNode.at("127.0.0.1", 9)), source.address(), LONG);
            assertThat(decisions(result)).endsWith("PROCESS REPLY", "END sent");
            assertThat(reason(result, Stage.END))
                    .isEqualTo(
                            "back to " + PacketTrace.at(source.address()) + " from UDP " + PacketTrace.at(node.udp()));
            assertThat(source.next()).hasSize(result.bytes());
            assertThat(trace(node, to(UdpTestNode.at("127.0.0.1", 9)), LONG).outcome())
                    .isEqualTo(Outcome.SENT);
            assertThat(source.isQuiet()).isTrue();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> trace(node, to(source.address()), UdpTestNode.at("::1", 9), LONG))
                    .withMessageContaining("no UDP packets by this family of addresses");
        }
    }

    @Test
    void tellsThatNoRouteHoldsTheDestination() throws Exception {
        try (UdpTestNode node = node((service, packet) -> Verdict.FORWARD)) {
            TraceResult result = trace(node, to(UdpTestNode.at("10.0.0.1", 9)), LONG);
            assertDropped(result, DropReason.NO_ROUTE);
            assertThat(decisions(result)).contains("PROCESS FORWARD", "ROUTE NO_ROUTE");
            assertThat(reason(result, Stage.ROUTE)).isEqualTo("no route holds 10.0.0.1");
            TraceResult own = trace(node, to(node.udp()), LONG);
            assertDropped(own, DropReason.LOCAL);
        }
    }

    @Test
    void tellsWhatIsLeftOfTheHopBudget() throws Exception {
        try (UdpFarEnd next = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node =
                        node((service, packet) -> Verdict.FORWARD).via("10.0.0.0/8", next.address(), Transport.UDP)) {
            InetSocketAddress far = UdpTestNode.at("10.0.0.1", 9);
            TraceResult result = trace(node, to(far).hopBudget(7), LONG);
            assertThat(decisions(result)).contains("HOPS 6 left");
            assertThat(reason(result, Stage.HOPS)).isEqualTo("one of 7 is spent");
            assertThat(decisions(trace(node, to(far), LONG))).contains("HOPS 32 left");
            TraceResult last = trace(node, to(far).hopBudget(1), LONG);
            assertDropped(last, DropReason.HOP_BUDGET);
        }
    }

    @Test
    void tellsThatAServiceIsNotKnownAndWhatThePolicySays() throws Exception {
        try (UdpTestNode node = node((service, packet) -> Verdict.FORWARD)) {
            TraceResult result = trace(node, UdpTestNode.builder(UdpTestNode.at("127.0.0.1", 9), "absent", 1), LONG);
            assertDropped(result, DropReason.UNKNOWN_SERVICE);
            assertThat(decisions(result)).startsWith("RECEPTION taken", "SERVICE unknown");
            assertThat(reason(result, Stage.SERVICE)).endsWith("unknown-service says drop");
            node.balanced(0);
        }
    }

    @Test
    void goesOnWithoutAService() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node((service, packet) -> Verdict.CONSUME)) {
            TraceResult result = trace(node, UdpTestNode.builder(receiver.address(), "", 1), LONG);
            assertThat(decisions(result)).contains("SERVICE none", "PROCESS not processed");
            assertThat(decisions(result)).endsWith("END sent");
            assertThat(receiver.next()).hasSize(result.bytes());
        }
    }

    @Test
    void findsThePacketInTheHandsOfAServiceAndThoseBehindItInItsInbox() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(this::block)) {
            warm(node, to(receiver.address()), receiver);
            TraceResult first = trace(node, to(receiver.address()), SHORT);
            assertThat(first.outcome()).isEqualTo(Outcome.WAITING);
            assertThat(first.waits())
                    .startsWith("in the hands of service " + NAME + ", thread 'udp " + NAME + "', for ")
                    .contains(", at ");
            TraceResult behind = trace(node, to(receiver.address()), SHORT);
            assertThat(behind.waits()).startsWith("in the inbox of service " + NAME + ", for ");
            released.countDown();
            assertThat(receiver.next()).as("that is seen no more").hasSize(first.bytes());
            assertThat(receiver.next()).hasSize(behind.bytes());
            node.balanced(0);
        }
    }

    @Test
    void tellsThatAServiceDoesNotReturn() throws Exception {
        UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.NIO)).service(NAME, (service, packet) -> {
            Uninterruptibles.awaitUninterruptibly(released);
            return Verdict.FORWARD;
        });
        node.environment.stuckAfter(Duration.ofMillis(600));
        node.environment.start();
        try (node) {
            TraceResult result = trace(node, to(UdpTestNode.at("127.0.0.1", 9)), LONG);
            assertThat(result.outcome()).isEqualTo(Outcome.DROPPED);
            assertThat(reason(result, Stage.END))
                    .endsWith("its service did not return, and its thread 'udp " + NAME + "' was given up");
            released.countDown();
        }
    }

    @Test
    void tellsThatAServiceHoldsThePacketAndWhatItSaysLater() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node((service, packet) -> {
                    if (!isWarm) {
                        return Verdict.FORWARD;
                    }
                    held.add(service.suspend(packet, LONG));
                    return Verdict.HELD;
                })) {
            warm(node, to(receiver.address()), receiver);
            TraceResult waiting = trace(node, to(receiver.address()), SHORT);
            assertThat(waiting.waits()).startsWith("held by service " + NAME + ", for ");
            held.take().resume(Verdict.DROP);
            CompletableFuture<TraceResult> resumed = later(node, to(receiver.address()));
            Suspension first = held.take();
            receiver.send(node.udp(), List.of(UdpTestNode.packet(to(receiver.address()), 200)));
            held.take().resume(Verdict.DROP); // The first has been set aside by then.
            first.resume(Verdict.FORWARD);
            assertThat(decisions(resumed.get()))
                    .containsSubsequence("PROCESS HELD", "PROCESS taken", "PROCESS FORWARD", "END sent");
            node.balanced(1);
        }
    }

    @Test
    void tellsThatAServiceIsInQuarantine() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node((service, packet) -> Verdict.FORWARD)
                        .service(OTHER, FailurePolicy.PASS, () -> new UdpTestNode.Scripted((s, p) -> Verdict.DROP))) {
            node.services.all().forEach(each -> each.health().quarantine(Duration.ofMinutes(5), "on request"));
            TraceResult dropped = trace(node, to(receiver.address()), LONG);
            assertDropped(dropped, DropReason.QUARANTINED);
            assertThat(decisions(dropped)).contains("SERVICE in quarantine", "PROCESS not processed");
            TraceResult passed = trace(node, UdpTestNode.builder(receiver.address(), OTHER, 1), LONG);
            assertThat(decisions(passed)).contains("SERVICE in quarantine", "PROCESS not processed", "END sent");
            receiver.next();
        }
    }

    @Test
    void tellsTheClassByWhichItGetsATurn() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node((service, packet) -> Verdict.FORWARD).service(OTHER, this::block)) {
            node.environment.qos(config("pq", 1, Duration.ofSeconds(1), named("high", 0, 1), named("low", 1, 1)));
            warm(node, UdpTestNode.builder(receiver.address(), OTHER, 1), receiver);
            TraceResult free = trace(node, to(receiver.address()).classOfService(1, 0), LONG);
            assertThat(decisions(free)).contains("TURN class low");
            assertThat(reason(free, Stage.TURN)).isEqualTo("class of service 1");
            CompletableFuture<TraceResult> blocker = later(
                    node, UdpTestNode.builder(receiver.address(), OTHER, 1).classOfService(0, 0));
            entered.await();
            TraceResult waiting = trace(node, to(receiver.address()).classOfService(1, 0), SHORT);
            assertThat(waiting.waits()).startsWith("for a turn on a processor");
            released.countDown();
            assertThat(blocker.get().outcome()).isEqualTo(Outcome.SENT);
            node.balanced(0);
            assertThat(reason(trace(node, to(receiver.address()), LONG), Stage.TURN))
                    .isEqualTo("no rules: the default class");
        }
    }

    @Test
    void tellsTheClassByWhichItWaitsForALinkAndThatItLeavesThen() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node((service, packet) -> Verdict.FORWARD)) {
            node.environment.qos(PostConfig.of("narrow", "pq", Map.of(), false, 2, 1000, 1000, 1, 1));
            PacketBuilder large = to(receiver.address()).classOfService(1, 0);
            assertThat(decisions(trace(node, large, LONG))).contains("LINK class c1", "END sent");
            // The link's tokens are gone: it grants a thousand bytes a second.
            byte[] bytes = UdpTestNode.packet(to(receiver.address()).classOfService(1, 0), 950);
            try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
                sender.send(node.udp(), List.of(bytes, bytes));
                eventually().until(() -> node.environment.traffic().held() > 0);
            }
            TraceResult later = trace(node, to(receiver.address()).classOfService(1, 0), LONG);
            assertThat(decisions(later)).containsSubsequence("LINK class c1", "END sent");
            assertThat(reason(later, Stage.LINK)).isEqualTo("over link narrow; class of service 1");
        }
    }

    @Test
    void tellsWhatBecomesOfItOnAConnection() throws Exception {
        try (ServerSocket far = new ServerSocket(0);
                UdpTestNode node = node((service, packet) -> Verdict.FORWARD)
                        .toHost("10.0.0.0/8", UdpTestNode.at("127.0.0.1", far.getLocalPort()), Transport.TCP)) {
            TraceResult result = trace(node, to(UdpTestNode.at("10.0.0.1", 9)), LONG);
            assertThat(result.outcome()).as("%s", result).isEqualTo(Outcome.SENT);
            assertThat(reason(result, Stage.END)).contains("127.0.0.1:" + far.getLocalPort() + " over TCP");
            int port = Ports.free();
            node.toHost("10.0.0.0/8", UdpTestNode.at("127.0.0.1", port), Transport.TCP);
            assertDropped(trace(node, to(UdpTestNode.at("10.0.0.1", 9)), LONG), DropReason.NEXT_HOP_UNREACHABLE);
        }
    }

    /** Shares its jobs with other instances. */
    @PerPacket
    private static final class Worker extends Service {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    @Test
    void seesThePacketThroughTheHandsOfAWorker() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(TransportKind.NIO).deliver("127.0.0.1/32", Transport.SAME)) {
            node.services.add(new ServiceDefinition(
                    NAME,
                    "",
                    Worker::new,
                    ServiceConfig.EMPTY,
                    FailurePolicy.DROP,
                    new ServiceHealth(),
                    new Placement(),
                    DefinedControl.NONE,
                    new Dispatch(true, true, 1024),
                    ServiceTraits.of(Worker.class)));
            for (int i = 0; i < 2; i++) { // The first is held until there is a worker, the second a job.
                TraceResult result = trace(node, to(receiver.address()), LONG);
                assertThat(decisions(result)).containsSubsequence("INBOX taken", "PROCESS FORWARD", "END sent");
                receiver.next();
            }
            node.balanced(0);
        }
    }

    @Test
    void tellsThatAPacketPassesWithoutItsService() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node =
                        UdpTestNode.start(UdpTestNode.config(TransportKind.NIO, FailurePolicy.PASS, 1 << 20, 32))) {
            node.deliver("127.0.0.1/32", Transport.SAME);
            TraceResult result = trace(node, UdpTestNode.builder(receiver.address(), "absent", 1), LONG);
            assertThat(decisions(result))
                    .containsSubsequence("SERVICE unknown", "SERVICE passed", "PROCESS not processed", "END sent");
            receiver.next();
        }
    }

    @Test
    void takesTwoAtOnceAtMost() throws Exception {
        try (UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(this::block)) {
            isWarm = true;
            List<CompletableFuture<TraceResult>> two =
                    List.of(later(node, to(receiver.address())), later(node, to(receiver.address())));
            eventually().until(() -> node.environment.traffic().packetsMade() == 2);
            assertThatIllegalStateException()
                    .isThrownBy(() -> trace(node, to(receiver.address()), LONG))
                    .withMessageContaining("2 packets are being traced");
            released.countDown();
            for (CompletableFuture<TraceResult> each : two) {
                assertThat(each.get().outcome()).isEqualTo(Outcome.SENT);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void othersCrossTheNodeMeanwhileAndAllAreCounted(TransportKind kind) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind, (service, packet) -> Verdict.FORWARD)) {
            List<byte[]> packets = new ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                packets.add(UdpTestNode.packet(to(receiver.address()), 200));
            }
            CompletableFuture<Integer> traced = CompletableFuture.supplyAsync(() -> {
                int sent = 0;
                for (int i = 0; i < 50; i++) {
                    try {
                        TraceResult result = trace(node, to(receiver.address()), LONG);
                        sent += result.outcome() == Outcome.SENT ? 1 : 0;
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }
                return sent;
            });
            sender.pump(node.udp(), packets, receiver);
            assertThat(traced.get()).isEqualTo(50);
            eventually().untilAsserted(() -> {
                TrafficSnapshot now = node.environment.traffic();
                assertThat(now.packetsMade()).isEqualTo(50);
                assertThat(now.packetsOut()).isEqualTo(now.packetsIn() + 50);
            });
        }
    }
}
