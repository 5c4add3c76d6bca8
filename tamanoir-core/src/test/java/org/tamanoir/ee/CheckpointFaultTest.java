package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.anonymous;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.deploy.LoadedService;
import org.tamanoir.deploy.TestJars;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.routing.NextHop;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.support.MovableClock;
import org.tamanoir.transport.TransportKind;

/** Deployed services that do not return, and are stopped: others are unharmed, and so is what comes behind. */
class CheckpointFaultTest extends TcpNodeTesting {
    private static final String NAME = "org.example.Spin";
    private static final int PACKETS = 200;
    /** The packet that the service does not return from. */
    private static final int BAD = 77;

    /** Where a service that waits outside of its own code leaves what ends its wait. */
    private static final String WAIT = "org.example.Spin.wait";

    private final MovableClock clock = new MovableClock();

    @TempDir
    Path dir;

    /** Long enough that a stop which comes late by a pause of the machine is still in time; the clock is moved. */
    @BeforeEach
    void patience() {
        settings.platform = clock;
        settings.stuckTimeout = Duration.ofSeconds(8);
        settings.makeTimeout = Duration.ofSeconds(8);
    }

    /** Compiles on a thread that ends: those that read files keep direct memory for the next. */
    private LoadedService loaded(String name, String source, CheckpointPolicy policy) throws Exception {
        FutureTask<LoadedService> task = new FutureTask<>(() -> TestJars.loaded(dir, name, source, policy));
        new Thread(task, "compiler").start();
        return keep(task.get(5, TimeUnit.MINUTES));
    }

    /** A service that marks packets, with more members; what {@code bad()} does it does in packet {@link #BAD}. */
    private ServiceDefinition spin(FailurePolicy policy, long budgetMs, String members) throws Exception {
        String source = """
                package org.example;
                import org.tamanoir.anep.Packet;
                import org.tamanoir.service.*;
                @SuppressWarnings("all")
                public class Spin extends Service {
                    static volatile int sink;
                    public Verdict process(Packet packet) throws Exception {
                        if (packet.sequence() == 77) {
                            return bad(packet);
                        }
                        packet.setClassOfService(packet.classOfService() + 1);
                        return Verdict.FORWARD;
                    }
                    %s
                }
                """.formatted(
                members.contains(" bad(") ? members : members + " Verdict bad(Packet p) { return Verdict.FORWARD; }");
        LoadedService loaded = loaded(NAME, source, CheckpointPolicy.REQUIRED);
        return new ServiceDefinition(
                NAME,
                "1.0",
                loaded.factory(),
                ServiceConfig.EMPTY,
                policy,
                new ServiceHealth(0, 0, Duration.ofMillis(budgetMs).toNanos()));
    }

    private static PacketBuilder stream(int id, String service) {
        return anonymous().service(service).stream(id);
    }

    private static void send(AnepSender sender, PacketBuilder stream, int from, int to) throws Exception {
        for (int i = from; i < to; i++) {
            sender.send(stream, payload(i, 700));
        }
        sender.flush();
    }

    /** Returns what came of a stream, byte for byte what was sent, by number. */
    private static List<Integer> whole(List<Packet> arrived, int stream) {
        List<Packet> own =
                arrived.stream().filter(each -> each.streamId() == stream).toList();
        assertThat(own)
                .allSatisfy(each -> assertThat(TestSink.bytes(each)).isEqualTo(payload((int) each.sequence(), 700)));
        return own.stream().map(each -> (int) each.sequence()).toList();
    }

    /** Waits until a thread is in the service's code. On a busy host it may have been stopped before the test looks. */
    private static void awaitSpinningOr(BooleanSupplier isStopped) {
        eventually().until(() -> isSpinning() || isStopped.getAsBoolean());
    }

    /** Returns whether the watchdog has logged that a service does not return. */
    private boolean isReported() {
        return List.copyOf(log()).stream().anyMatch(line -> line.contains("has not returned for"));
    }

    private static boolean isSpinning() {
        return Thread.getAllStackTraces().values().stream()
                .anyMatch(stack ->
                        Stream.of(stack).anyMatch(frame -> frame.getClassName().equals(NAME)));
    }

    private static List<Integer> allBut(int... missing) {
        return IntStream.range(0, PACKETS)
                .filter(i -> IntStream.of(missing).noneMatch(each -> each == i))
                .boxed()
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Verdict bad(Packet p) { while (true) { } }",
                "Verdict bad(Packet p) { for (int i = 0; ; i++) { if (i < 0) i = 0; p.payloadOctet(0); } }",
                "Verdict bad(Packet p) { return f(3); } Verdict f(int n) { return n == 0 ? g() : f(n - 1); }"
                        + " Verdict g() { while (true) { sink++; } }",
                "Verdict bad(Packet p) { Runnable r = () -> { while (true) { } }; r.run(); return Verdict.DROP; }",
                "Verdict bad(Packet p) { try { throw new Exception(); } catch (Exception e) { while (true) { } } }",
                "Verdict bad(Packet p) { try { return Verdict.DROP; } finally { while (true) { } } }",
                "Verdict bad(Packet p) { while (true) { try { while (true) { } } catch (Throwable t) { } } }",
                "Verdict bad(Packet p) { try { while (true) { } } finally { return Verdict.FORWARD; } }",
                "Verdict bad(Packet p) { try { while (true) { } } catch (Throwable t) { throw new RuntimeException(t); } }",
                "Verdict bad(Packet p) { throw new Wordy(); } static class Wordy extends RuntimeException {"
                        + " public String getMessage() { while (true) { } } }",
                "Verdict bad(Packet p) { throw new Wordy(); } static class Wordy extends RuntimeException {"
                        + " public String toString() { while (true) { try { while (true) { } } catch (Throwable t) { } } } }",
                "Verdict bad(Packet p) { return Sick.VERDICT; }"
                        + " static class Sick { static Verdict VERDICT; static { while (sink >= 0) { } } }",
            })
    void aPacketThatGoesRoundEndsByItsBudgetAndNothingElseDoes(String members) throws Exception {
        ServiceDefinition spin = spin(FailurePolicy.DROP, 20, members);
        TestSink sink = sink();
        TestNode node = node(spin, MARK).toHost(sink.address());
        try (AnepSender bad = sender(node);
                AnepSender good = sender(node)) {
            send(bad, stream(1, NAME), 0, PACKETS);
            send(good, stream(2, "mark"), 0, PACKETS);
            bad.finish();
            good.finish();
            sink.await(2 * PACKETS - 1);
            sink.awaitEnds();
        }
        assertThat(whole(sink.packets(), 1)).isEqualTo(allBut(BAD));
        assertThat(whole(sink.packets(), 2)).isEqualTo(allBut());
        node.assertDrops(Map.of(DropReason.BUDGET, 1L));
        assertThat(spin.health().stuck()).isZero();
        assertThat(spin.health().failures()).isEqualTo(1);
        assertThat(spin.health().isOpen()).isTrue();
    }

    @Test
    void oneThatMayPassGoesOnAsItCame() throws Exception {
        ServiceDefinition spin = spin(
                FailurePolicy.PASS, 20, "Verdict bad(Packet p) { p.payload().put(0, (byte) 9); while (true) { } }");
        TestSink sink = sink();
        TestNode node = node(spin).toHost(sink.address());
        try (AnepSender bad = sender(node)) {
            send(bad, stream(1, NAME), 0, PACKETS);
            bad.finish();
            sink.await(PACKETS);
        }
        assertThat(whole(sink.awaitEnds().packets(), 1)).isEqualTo(allBut());
        assertThat(sink.packets().get(BAD).classOfService()).isZero();
        node.assertDrops(Map.of());
        assertThat(spin.health().failures()).isEqualTo(1);
    }

    @Test
    void itsStreamIsClosedWherePolicySaysSoAndNoOther() throws Exception {
        ServiceDefinition spin = spin(FailurePolicy.CLOSE, 20, "Verdict bad(Packet p) { while (true) { } }");
        TestSink sink = sink();
        TestNode node = node(spin, MARK).toHost(sink.address());
        try (AnepSender good = sender(node)) {
            PacketBuilder marked = stream(2, "mark");
            send(good, marked, 0, PACKETS / 2);
            AnepSender bad = sender(node);
            send(bad, stream(1, NAME), 0, BAD + 1);
            eventually().until(() -> node.dropped(DropReason.BUDGET) == 1);
            eventually().until(() -> node.environment.streams().open() == 1);
            send(good, marked, PACKETS / 2, PACKETS);
            good.finish();
            eventually().until(() -> whole(sink.packets(), 2).equals(allBut()));
        }
        node.settle().assertConserved();
        assertThat(spin.health().stuck()).isZero();
    }

    /** Where no packet is at fault the watchdog has it stopped, and the thread lives. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "public void init(ServiceConfig config) { while (true) { } }",
                "public void endOfStream() { while (true) { sink++; } }",
                "public void close() { while (true) { } }",
                "Verdict bad(Packet p) { while (true) { try { while (true) { } } catch (Throwable t) { } } }",
            })
    void whatDoesNotReturnIsStoppedAndNotGivenUp(String members) throws Exception {
        ServiceDefinition spin = spin(FailurePolicy.DROP, 0, members);
        TestSink sink = sink();
        TestNode node = node(spin, MARK).toHost(sink.address());
        boolean loses = members.contains("init");
        try (AnepSender bad = sender(node);
                AnepSender good = sender(node)) {
            send(bad, stream(1, NAME), 0, PACKETS);
            send(good, stream(2, "mark"), 0, PACKETS);
            bad.finish();
            good.finish();
            eventually().until(() -> whole(sink.packets(), 2).equals(allBut()));
            awaitSpinningOr(this::isReported);
            clock.hurryUntil(this::isReported);
            node.settle();
        }
        assertThat(whole(sink.packets(), 1))
                .isEqualTo(loses ? List.of() : members.contains("bad") ? allBut(BAD) : allBut());
        node.assertConserved();
        assertThat(spin.health().stuck()).isZero();
        assertThat(spin.health().failures()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"public Spin() { while (true) { } }", "static { while (sink >= 0) { } }"})
    void aConstructorThatDoesNotReturnLeavesNoThreadBehind(String members) throws Exception {
        ServiceDefinition spin = spin(FailurePolicy.DROP, 0, members);
        TestSink sink = sink();
        TestNode node = node(spin, MARK).toHost(sink.address());
        try (AnepSender bad = sender(node);
                AnepSender good = sender(node)) {
            send(bad, stream(1, NAME), 0, 1);
            send(good, stream(2, "mark"), 0, PACKETS);
            bad.finish();
            good.finish();
            eventually().until(() -> whole(sink.packets(), 2).equals(allBut()));
            awaitSpinningOr(() -> node.dropped(DropReason.NO_INSTANCE) == 1);
            clock.hurryUntil(() -> node.dropped(DropReason.NO_INSTANCE) == 1);
        }
        node.assertDrops(Map.of(DropReason.NO_INSTANCE, 1L));
        eventually().until(() -> !isSpinning());
    }

    @Test
    void deepRecursionIsAFailureLikeAnother() throws Exception {
        ServiceDefinition spin = spin(
                FailurePolicy.DROP, 0, "Verdict bad(Packet p) { return f(0); } Verdict f(int n) { return f(n + 1); }");
        TestSink sink = sink();
        TestNode node = node(spin).toHost(sink.address());
        try (AnepSender bad = sender(node)) {
            send(bad, stream(1, NAME), 0, PACKETS);
            bad.finish();
            sink.await(PACKETS - 1);
        }
        assertThat(whole(sink.awaitEnds().packets(), 1)).isEqualTo(allBut(BAD));
        node.assertDrops(Map.of(DropReason.SERVICE_FAILURE, 1L));
    }

    /** It waits where no checkpoint is: its thread is left behind, as it was without checkpoints. */
    @Test
    void oneThatWaitsForItselfIsGivenUp() throws Exception {
        ServiceDefinition spin = spin(
                FailurePolicy.DROP,
                20,
                "Verdict bad(Packet p) {"
                        + " java.util.concurrent.CompletableFuture<Integer> f = new java.util.concurrent.CompletableFuture<>();"
                        + " System.getProperties().put(\"" + WAIT + "\", f); f.join(); return Verdict.DROP; }");
        TestSink sink = sink();
        TestNode node = node(spin, MARK).toHost(sink.address());
        try (AnepSender good = sender(node)) {
            AnepSender bad = sender(node);
            send(bad, stream(1, NAME), 0, BAD + 1);
            send(good, stream(2, "mark"), 0, PACKETS);
            eventually().until(() -> System.getProperties().containsKey(WAIT));
            good.finish();
            eventually().until(() -> whole(sink.packets(), 2).equals(allBut()));
            clock.hurryUntil(() -> spin.health().stuck() == 1);
            node.settle().assertConserved();
        } finally {
            if (System.getProperties().remove(WAIT) instanceof CompletableFuture<?> wait) {
                wait.cancel(false);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(CheckpointPolicy.class)
    void aServiceThatReturnsIsServedWhateverThePolicy(CheckpointPolicy policy) throws Exception {
        LoadedService loaded =
                loaded("Foo", TestJars.forwarder("Foo", "int f(int n) { return n == 0 ? 0 : f(n - 1); }"), policy);
        ServiceDefinition foo = new ServiceDefinition("Foo", loaded.factory(), ServiceConfig.EMPTY, FailurePolicy.DROP);
        TestSink sink = sink();
        TestNode node = node(foo).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            send(sender, stream(1, "Foo"), 0, PACKETS);
            sender.finish();
            sink.await(PACKETS);
        }
        assertThat(whole(sink.awaitEnds().packets(), 1)).isEqualTo(allBut());
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void oneDatagramThatGoesRoundStopsNoOther(TransportKind kind) throws Exception {
        ServiceDefinition spin = spin(FailurePolicy.DROP, 20, "Verdict bad(Packet p) { while (true) { } }");
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(UdpTestNode.config(kind))) {
            node.services.add(spin);
            node.toHost("0.0.0.0/0", sender.address(), NextHop.Transport.SAME);
            byte[][] sent = new byte[100][];
            PacketBuilder builder = UdpTestNode.builder(sender.address(), NAME, 1);
            for (int i = 0; i < sent.length; i++) {
                sent[i] = UdpTestNode.packet(builder, 100);
            }
            sender.send(node.udp(), List.of(sent));
            eventually()
                    .untilAsserted(() ->
                            assertThat(node.environment.traffic().drops()).isEqualTo(Map.of(DropReason.BUDGET, 1L)));
            eventually().until(() -> node.environment.traffic().packetsOut() == 99);
            assertThat(node.environment.instances()).hasSize(1);
        }
        assertThat(spin.health().stuck()).isZero();
    }
}
