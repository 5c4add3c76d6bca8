package org.tamanoir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;

@Timeout(240)
class ServiceHarnessTest {
    /** Does what the payload says; what a service can do and can do wrong. */
    private static final class Obedient extends Service {
        final List<String> life = new ArrayList<>();
        Packet kept = new Packet();
        ByteBuffer keptPayload = ByteBuffer.allocate(0);

        @Override
        public void init(ServiceConfig config) throws IOException {
            config.allow("fail");
            life.add("init on " + Thread.currentThread().getName() + " for "
                    + stream().transport());
            if (config.flag("fail", false)) {
                throw new IOException("no such table");
            }
        }

        @Override
        public Verdict process(Packet packet) throws Exception {
            String order = new Output(Verdict.FORWARD, false, null, packet).text();
            counter("orders").add(1);
            return switch (order) {
                case "shout" -> {
                    packet.setPayload(ByteBuffer.wrap("SHOUTED LOUDLY".getBytes(StandardCharsets.UTF_8)));
                    yield Verdict.FORWARD;
                }
                case "reply" -> Verdict.REPLY;
                case "consume" -> Verdict.CONSUME;
                case "drop" -> drop("as told");
                case "drop without reason" -> Verdict.DROP;
                case "elsewhere" -> forwardTo(InetAddress.getLoopbackAddress(), 9);
                case "elsewhere without address" -> Verdict.FORWARD_ELSEWHERE;
                case "emit" -> {
                    emit(packet);
                    yield drop("emitted");
                }
                case "keep" -> {
                    kept = packet;
                    keptPayload = packet.payload();
                    yield Verdict.FORWARD;
                }
                case "reserve" -> {
                    ByteBuffer room = packet.newPayload(8).putLong(1);
                    emit(new PacketBuilder().build(ByteBuffer.allocate(0)));
                    packet.commitPayload(room.position() - packet.headerLength());
                    yield Verdict.FORWARD;
                }
                case "null" -> nothing();
                case "throw" -> throw new IOException("as told");
                case "overflow" -> throw new StackOverflowError("as told");
                case "spoil" -> {
                    packet.buffer().put(packet.offset(), (byte) 9);
                    yield Verdict.FORWARD;
                }
                case "write behind" -> {
                    packet.buffer().put(packet.offset() + packet.length(), (byte) 9);
                    yield Verdict.FORWARD;
                }
                case "read behind" -> {
                    packet.buffer().get(packet.offset() + packet.length());
                    yield Verdict.FORWARD;
                }
                case "other thread" -> {
                    List<Throwable> thrown = new ArrayList<>();
                    Thread other = new Thread(() -> counter("orders").add(1), "other");
                    other.setUncaughtExceptionHandler((thread, failure) -> thrown.add(failure));
                    other.start();
                    other.join();
                    throw new IllegalStateException(thrown.get(0));
                }
                case "interrupt" -> {
                    Thread.currentThread().interrupt();
                    yield Verdict.FORWARD;
                }
                case "wait" -> {
                    new CountDownLatch(1).await();
                    yield Verdict.FORWARD;
                }
                case "timers" -> {
                    every(Duration.ofSeconds(2), () -> life.add("every"));
                    after(Duration.ofSeconds(3), () -> life.add("after"));
                    after(Duration.ofSeconds(4), () -> {
                        throw new IllegalStateException("as told");
                    });
                    yield Verdict.FORWARD;
                }
                case "many timers" -> {
                    for (int i = 0; i < 1025; i++) {
                        after(Duration.ofSeconds(1), () -> {});
                    }
                    yield Verdict.FORWARD;
                }
                case "many counters" -> {
                    for (int i = 0; i < 100; i++) {
                        counter("counter " + i).add(1);
                    }
                    yield Verdict.FORWARD;
                }
                default -> Verdict.FORWARD;
            };
        }

        @SuppressWarnings("NullAway") // A mistake of the service's author.
        private static Verdict nothing() {
            return null;
        }

        @Override
        public void endOfStream() {
            life.add("endOfStream");
            emit(new PacketBuilder().build(ByteBuffer.wrap("bye".getBytes(StandardCharsets.UTF_8))));
        }

        @Override
        public void close() {
            life.add("close");
        }
    }

    private final Obedient service = new Obedient();

    private ServiceHarness start() {
        return ServiceHarness.start(service, Transport.TCP);
    }

    /** Sends orders; the failure that the last one led to. */
    private static Throwable failureOf(String order) {
        try (ServiceHarness harness = ServiceHarness.start(new Obedient(), Transport.UDP)) {
            harness.sendText(order);
            assertThat(harness.outputs().stream().filter(o -> !o.emitted())).isEmpty();
            assertThat(harness.drops()).isEmpty();
            assertThat(harness.failures()).hasSize(1);
            return harness.failures().get(0);
        }
    }

    @Test
    void recordsWhatBecomesOfEachPacket() {
        try (ServiceHarness harness = start()) {
            for (String order :
                    List.of("shout", "drop", "emit", "reply", "consume", "elsewhere", "drop without reason")) {
                harness.sendText(order);
            }
            assertThat(harness.outputs().stream().map(o -> o.verdict() + " " + o.text()))
                    .containsExactly(
                            "FORWARD SHOUTED LOUDLY", "FORWARD emit", "REPLY reply", "FORWARD_ELSEWHERE elsewhere");
            assertThat(harness.emitted()).hasSize(1);
            assertThat(harness.drops()).containsExactly("as told", "emitted", "no reason given");
            assertThat(harness.consumed()).isEqualTo(1);
            assertThat(harness.count("orders")).isEqualTo(7);
            assertThat(harness.counters()).isEqualTo(Map.of("orders", 7L));
            assertThat(harness.outputs().get(3).elsewhere())
                    .isEqualTo(new InetSocketAddress(InetAddress.getLoopbackAddress(), 9));
            assertThat(new String(harness.payloads(), StandardCharsets.UTF_8))
                    .isEqualTo("SHOUTED LOUDLYemitreplyelsewhere");
            for (Packet packet : harness.packets()) {
                assertThat(new Packet().parse(packet.buffer(), packet.offset(), packet.length()))
                        .isNull();
            }
        }
    }

    @Test
    void theFailureOfOnePacketLeavesTheNext() {
        ServiceHarness harness = start();
        harness.sendText("throw").sendText("hello");
        assertThat(harness.outputs().get(0).text()).isEqualTo("hello");
        assertThat(harness.failures()).hasSize(1);
        harness.close();
    }

    @Test
    void callsTheServiceOnItsOwnThreadFromInitToClose() {
        start().sendText("hello").endOfStream().close();
        assertThat(service.life).containsExactly("init on service Obedient for TCP", "endOfStream", "close");
        assertThat(service.isAlive()).isFalse();
    }

    @Test
    void aBrokenStreamIsClosedWithoutItsEnd() {
        ServiceHarness harness = start();
        harness.close();
        harness.close();
        assertThat(service.life).containsExactly("init on service Obedient for TCP", "close");
        assertThat(harness.outputs()).isEmpty();
        assertThatThrownBy(() -> harness.sendText("hello"))
                .hasMessage("cannot send packets after close: start another instance");
    }

    @Test
    void nothingFollowsTheEndOfAStream() {
        try (ServiceHarness harness = start()) {
            harness.endOfStream();
            assertThat(harness.emitted()).hasSize(1);
            assertThatThrownBy(harness::endOfStream).hasMessageContaining("after endOfStream");
            assertThatThrownBy(() -> harness.advance(Duration.ZERO)).hasMessageContaining("after endOfStream");
        }
    }

    @Test
    void runsOverPacketsToTheEnd() {
        List<Packet> packets = List.of(new PacketBuilder().build(ByteBuffer.allocate(3)));
        ServiceHarness harness = ServiceHarness.run(service, Transport.UDP, Map.of(), packets);
        assertThat(harness.outputs()).hasSize(2);
        assertThat(service.life).endsWith("endOfStream", "close");
    }

    @Test
    void textPacketsAreThoseOfAStream() {
        try (ServiceHarness harness = start()) {
            harness.sendText("a").sendText("b");
            Packet packet = harness.packets().get(1);
            assertThat(packet.sequence()).isEqualTo(1);
            assertThat(packet.serviceKey()).isEqualTo(ServiceKey.of(Obedient.class.getName()));
            assertThat(packet.has(Option.CHECKSUM)).isTrue();
        }
    }

    @Test
    void takesPacketsFromTheWireThatANodeWouldTake() {
        try (ServiceHarness harness = start()) {
            harness.send(new byte[] {1, 0, 0x54, 0x4D, 0, 2, 0, 9, 'x'});
            assertThat(harness.outputs().get(0).text()).isEqualTo("x");
            assertThatThrownBy(() -> harness.send(new byte[] {2, 0, 0x54, 0x4D, 0, 2, 0, 8}))
                    .hasMessage("a packet of 8 bytes that a node drops: VERSION; build it with PacketBuilder");
        }
    }

    @Test
    void whatAServiceKeepsOfAPacketIsOverwritten() {
        try (ServiceHarness harness = start()) {
            harness.sendText("keep");
            assertThat(harness.outputs().get(0).text()).isEqualTo("keep");
            assertThat(service.keptPayload.get(service.keptPayload.position())).isEqualTo((byte) 0xEE);
            assertThat(service.kept.has(Option.STREAM)).isFalse();
            assertThat(service.kept.serviceKey()).isEqualTo(ServiceKey.NONE);
            assertThat(service.kept.length()).isZero();
        }
    }

    @Test
    void memoryThatIsReservedOutlivesPacketsOfTheServicesOwn() {
        try (ServiceHarness harness = start()) {
            harness.sendText("reserve");
            assertThat(harness.outputs().get(1).payload()).containsExactly(0, 0, 0, 0, 0, 0, 0, 1);
        }
    }

    @Test
    void mistakesAreFailures() {
        assertThat(failureOf("null")).hasMessage("process returned null: return a Verdict");
        assertThat(failureOf("elsewhere without address")).hasMessageContaining("return forwardTo(...)");
        assertThat(failureOf("throw")).isInstanceOf(IOException.class);
        assertThat(failureOf("overflow")).isInstanceOf(StackOverflowError.class);
        assertThat(failureOf("spoil")).hasMessage("a packet that was good is not any more: VERSION");
        assertThat(failureOf("other thread"))
                .hasMessageContaining("counter was called on thread other: a service's methods may be called on its");
        assertThat(failureOf("many timers")).hasMessage("timer 1025: a service may have 1024 waiting; use every()");
    }

    @Test
    void thereIsNothingOutsideThePacket() {
        assertThat(failureOf("read behind")).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(failureOf("write behind")).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void failuresThatTheTestDoesNotAskForFailItsEnd() {
        ServiceHarness harness = start();
        harness.sendText("throw").sendText("null");
        assertThatThrownBy(harness::close)
                .isInstanceOf(AssertionError.class)
                .hasMessage(Obedient.class.getName() + " threw 2 times, first: java.io.IOException: as told")
                .hasCauseInstanceOf(IOException.class);
        assertThat(service.isAlive()).isFalse();
    }

    @Test
    void saysWhyAServiceDoesNotBegin() {
        assertThatThrownBy(() -> ServiceHarness.start(service, Transport.TCP, Map.of("fail", "true")))
                .isInstanceOf(AssertionError.class)
                .hasMessage(Obedient.class.getName() + " failed in init: java.io.IOException: no such table");
        assertThat(service.life).endsWith("close");
    }

    @Test
    void timersRunInTheirOrderWhenTheTestLetsTimePass() {
        try (ServiceHarness harness = start()) {
            harness.sendText("timers");
            service.life.clear();
            harness.advance(Duration.ofMillis(1999));
            assertThat(service.life).isEmpty();
            harness.advance(Duration.ofMillis(1));
            assertThat(service.life).containsExactly("every");
            harness.advance(Duration.ofSeconds(4));
            assertThat(service.life).containsExactly("every", "after", "every", "every");
            assertThat(harness.failures()).hasSize(1);
        }
    }

    @Test
    void countersAreAsManyAsANodeGives() {
        try (ServiceHarness harness = start()) {
            harness.sendText("many counters");
            assertThat(harness.counters()).hasSize(65).containsEntry("others", 37L);
            assertThatThrownBy(() -> harness.count("missing"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("has no counter missing; it has [");
        }
    }

    @Test
    void aServiceThatInterruptsItselfGoesOn() {
        start().sendText("interrupt").sendText("hello").close();
    }

    @Test
    void saysWhereAServiceThatDoesNotReturnIs() throws InterruptedException {
        try (ServiceHarness harness = ServiceHarness.start(service, Transport.TCP, Map.of(), Duration.ofSeconds(2))) {
            harness.sendText("hello");
            assertThatThrownBy(() -> harness.sendText("wait"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith(Obedient.class.getName()
                            + " did not return from process, packet 2 within 2000 ms; it is at ")
                    .cause()
                    .satisfies(place -> assertThat(place.getStackTrace())
                            .anyMatch(frame -> frame.getMethodName().equals("process")));
            assertThatThrownBy(() -> harness.sendText("hello")).hasMessageContaining("did not return");
            assertThat(harness.outputs()).hasSize(1);
        }
        // It waited for what an interrupt ends.
        service.join(40_000);
        assertThat(service.isAlive()).isFalse();
    }

    @Test
    void runsTasksOfTheTestOnTheServicesThread() {
        List<Thread> threads = new ArrayList<>();
        start().onServiceThread(() -> threads.add(Thread.currentThread())).close();
        assertThat(threads).containsExactly(service);
    }

    @Test
    void anInstanceServesOneHarness() {
        start().close();
        BiFunction<Service, Transport, ServiceHarness> again = ServiceHarness::start;
        assertThatThrownBy(() -> again.apply(service, Transport.TCP)).hasMessageContaining("attached already");
    }

    /** As public as a node wants it. */
    public static final class Deployable extends Service {
        /** Made by the harness. */
        public Deployable() {}

        @Override
        public Verdict process(Packet packet) {
            if (packet.payloadLength() > 0) {
                assertThat(packet.payloadLength()).isPositive(); // AssertJ is not what a node shows.
            }
            return Verdict.FORWARD;
        }
    }

    @Test
    void asDeployedAServiceSeesNothingElseOfTheClassPath() {
        try (ServiceHarness harness = ServiceHarness.startAsDeployed(Deployable.class, Transport.TCP, Map.of())) {
            harness.sendText("").sendText("x");
            assertThat(harness.outputs()).hasSize(1);
            assertThat(harness.failures()).hasSize(1);
            assertThat(harness.failures().get(0))
                    .isInstanceOf(NoClassDefFoundError.class)
                    .hasMessageContaining("org/assertj");
        }
        try (ServiceHarness harness = ServiceHarness.start(new Deployable(), Transport.TCP)) {
            harness.sendText("x");
        }
    }

    @Test
    void asDeployedAServiceMustBePublic() {
        assertThatThrownBy(() -> ServiceHarness.startAsDeployed(Obedient.class, Transport.TCP, Map.of()))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("must be a public class");
    }

    // ---- controls, tasks of other threads, formats ------------------------------------------------------------------

    /** Counts what its service tells it. */
    public static final class Tally implements ServiceControl {
        int told;
        boolean closed;
        private boolean hasFormats;

        @Override
        public void init(ServiceConfig config, ControlHost host) {
            told = (int) config.number("from", 0, 0, 9);
            hasFormats = host.formats().known().size() == 0;
        }

        @Override
        public Map<String, Object> view() {
            return Map.of("told", told, "formats", hasFormats);
        }

        @Override
        public Map<String, Object> change(String operation, Map<String, Object> arguments) {
            throw new IllegalArgumentException("operation '" + operation + "': there is none");
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    /** Tells its control of each packet, by a task of another thread. */
    @ControlledBy(Tally.class)
    private static final class Telling extends Service {
        private volatile boolean refused;

        @Override
        public Verdict process(Packet packet) throws Exception {
            Thread other = new Thread(() -> refused = !execute(() -> {
                counter("tasks").add(1);
                control(Tally.class).told += formats().known().size() + 1;
            }));
            other.start();
            other.join();
            return Verdict.FORWARD;
        }
    }

    @Test
    void aControlIsMadeBeforeItsServiceAndClosedBehindIt() {
        Tally tally;
        try (ServiceHarness harness = ServiceHarness.start(new Telling(), Transport.UDP, Map.of("from", "3"))) {
            tally = (Tally) harness.control();
            assertThat(tally.view()).isEqualTo(Map.of("told", 3, "formats", true));
            assertThat(tally.closed).isFalse();
        }
        assertThat(tally.closed).isTrue();
    }

    @Test
    void whatIsHandedInDuringACallHasRunWhenItReturns() {
        Telling service = new Telling();
        try (ServiceHarness harness = ServiceHarness.start(service, Transport.UDP)) {
            harness.sendText("one").sendText("two");
            assertThat(harness.count("tasks")).isEqualTo(2);
            assertThat(harness.control().view()).containsEntry("told", 2);
        }
        assertThat(service.refused).isFalse();
        assertThat(service.execute(() -> {})).isFalse();
    }

    @Test
    void aControlThatFailsIsAnError() {
        assertThatThrownBy(() -> ServiceHarness.start(new Telling(), Transport.UDP, Map.of("from", "10")))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("from: 10 must be a whole number from 0 to 9");
    }
}
