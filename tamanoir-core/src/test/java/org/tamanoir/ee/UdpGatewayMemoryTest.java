package org.tamanoir.ee;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.gateway.udp.GatewaySocket;
import org.tamanoir.rtp.RtpSources;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** What gateways for UDP, and the ports behind them, take of memory, sockets and threads, and give back. */
class UdpGatewayMemoryTest extends UdpGatewayTesting {
    private static final int LIMIT_OCTETS = 128 << 10;

    private @Nullable GatewaySocket opened;

    @AfterEach
    void endSocket() {
        if (opened != null) {
            opened.end();
        }
    }

    /** Does as the real one does, or otherwise. */
    private interface Instead {
        Object call(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Instead instead) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return instead.call(method, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private static Transport transport(Transport real, String method, Instead instead) {
        return proxy(
                Transport.class,
                (called, arguments) -> called.getName().equals(method)
                        ? instead.call(called, arguments)
                        : called.invoke(real, arguments));
    }

    /** Makes memory as the real socket does, while there is some. */
    private static final class Scarce {
        final AtomicInteger batches = new AtomicInteger();
        volatile int left = Integer.MAX_VALUE;

        Transport in(Transport real) {
            return transport(real, "bind", (bind, arguments) -> over((UdpSocket) bind.invoke(real, arguments)));
        }

        private UdpSocket over(UdpSocket real) {
            return proxy(UdpSocket.class, (called, arguments) -> {
                if (called.getName().equals("newBatch") && batches.incrementAndGet() > left) {
                    throw new OutOfMemoryError("Cannot reserve 4214784 bytes of direct buffer memory");
                }
                return called.invoke(real, arguments);
            });
        }
    }

    private static final class Passing extends Service {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    private TestNode start(TransportKind kind) throws IOException {
        settings.transport = kind;
        lead((InetSocketAddress) far.getLocalSocketAddress(), "pass");
        return node(TestServices.define("pass", Passing::new));
    }

    private void thereAndBack(TestNode node, DatagramSocket client) throws IOException {
        send(client, gateway(node), octets(100, 1));
        DatagramPacket onward = receive(far);
        send(far, (InetSocketAddress) onward.getSocketAddress(), octets(10, 2));
        assertThat(bytes(receive(client))).isEqualTo(octets(10, 2));
    }

    @ParameterizedTest
    @MethodSource("transports")
    void datagramsTakeNoMemoryThatWasNotThereAtTheStart(TransportKind kind) throws Exception {
        Scarce scarce = new Scarce();
        settings.network = scarce::in;
        TestNode node = start(kind);
        int atStart = scarce.batches.get();
        try (DatagramSocket client = open()) {
            for (int i = 0; i < 10; i++) {
                thereAndBack(node, client);
            }
        }
        assertThat(atStart).as("the port, and what is answered").isEqualTo(2);
        assertThat(scarce.batches).hasValue(atStart);
        conserves(node);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aNodeThatLacksMemoryForAGatewaySaysSoAtItsStart(TransportKind kind) {
        for (int left = 0; left < 2; left++) {
            Scarce scarce = new Scarce();
            scarce.left = left;
            settings.network = scarce::in;
            assertThatThrownBy(() -> start(kind))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("127.0.0.1")
                    .hasMessageContaining("Cannot reserve 4214784 bytes")
                    .hasMessageContaining("-XX:MaxDirectMemorySize");
        }
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aNodeThatLacksMemoryForAPortSaysSoAtItsStart(TransportKind kind) {
        Scarce scarce = new Scarce();
        scarce.left = 0;
        settings.transport = kind;
        settings.network = scarce::in;
        settings.udp = List.of(new InetSocketAddress(LOOPBACK, 0));
        assertThatThrownBy(() -> node())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("UDP 127.0.0.1:")
                .hasMessageContaining("-XX:MaxDirectMemorySize");
    }

    /** Has sockets find no memory to send from, while {@code isShort}. */
    private static Transport withoutSenders(Transport real, AtomicBoolean isShort) {
        return proxy(Transport.class, (opens, arguments) -> {
            Object opened = opens.invoke(real, arguments);
            return !(opened instanceof UdpSocket socket)
                    ? opened
                    : proxy(UdpSocket.class, (called, with) -> {
                        if (called.getName().equals("newSender") && isShort.get()) {
                            throw new OutOfMemoryError("Cannot reserve 27232 bytes of direct buffer memory");
                        }
                        Object made = called.invoke(socket, with);
                        return made instanceof UdpSender sender ? through(sender, socket) : made;
                    });
        });
    }

    /** Has a sender of one flow send through its real socket. */
    private static UdpSender through(UdpSender real, UdpSocket socket) {
        return proxy(UdpSender.class, (called, arguments) -> {
            boolean chooses = called.getName().equals("through");
            return called.invoke(real, chooses ? new Object[] {socket} : arguments);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"onward", "back"})
    void aPacketWhoseWayLacksMemoryIsDroppedForThatAndTheServiceIsNotBlamed(String way) throws Exception {
        AtomicBoolean isShort = new AtomicBoolean();
        settings.network = real -> withoutSenders(real, isShort);
        lead((InetSocketAddress) far.getLocalSocketAddress(), "either");
        Verdict verdict = way.equals("onward") ? Verdict.FORWARD : Verdict.REPLY;
        TestNode node = node(TestServices.define("either", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                return verdict;
            }
        }));
        try (DatagramSocket client = open()) {
            isShort.set(true);
            send(client, gateway(node), octets(100, 1));
            eventually().until(() -> node.dropped(DropReason.NO_MEMORY) == 1);
            assertThat(node.dropped(DropReason.SERVICE_FAILURE)).isZero();
            isShort.set(false);
            DatagramSocket reached = verdict == Verdict.FORWARD ? far : client;
            reached.setSoTimeout(100);
            eventually().ignoreExceptions().untilAsserted(() -> {
                send(client, gateway(node), octets(90, 2));
                assertThat(bytes(receive(reached))).isEqualTo(octets(90, 2));
            });
        }
        conserves(node);
    }

    @Test
    void gatewaysThatWereOpenedAreClosedWhenALaterOneCannotBind() throws Exception {
        AtomicInteger open = new AtomicInteger();
        settings.network = real -> transport(real, "newLoop", (newLoop, arguments) -> {
            IoLoop loop = (IoLoop) newLoop.invoke(real, arguments);
            open.incrementAndGet();
            return proxy(IoLoop.class, (called, with) -> {
                if (called.getName().equals("close")) {
                    open.decrementAndGet();
                }
                return called.invoke(loop, with);
            });
        });
        InetSocketAddress to = (InetSocketAddress) far.getLocalSocketAddress();
        lead(to, "");
        UdpGateway first = settings.udpGateways.get(0);
        settings.udpGateways = List.of(first, new UdpGateway(to, to, ServiceKey.NONE, 0, 0, Anep.DEFAULT_TYPE_ID));
        assertThatThrownBy(() -> node()).isInstanceOf(IOException.class);
        assertThat(open).hasValue(0);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aSocketThatCannotBeWatchedIsNotUsed(TransportKind kind) throws Exception {
        AtomicBoolean throwsNext = new AtomicBoolean();
        settings.network = real -> transport(real, "newLoop", (newLoop, arguments) -> {
            IoLoop loop = (IoLoop) newLoop.invoke(real, arguments);
            return proxy(IoLoop.class, (called, with) -> {
                boolean watches = called.getName().equals("execute")
                        && List.of(new Throwable().getStackTrace()).stream().anyMatch(frame -> isOfGateways(frame));
                if (watches && throwsNext.getAndSet(false)) {
                    throw new OutOfMemoryError("of a test");
                }
                return called.invoke(loop, with);
            });
        });
        TestNode node = start(kind);
        try (DatagramSocket client = open()) {
            throwsNext.set(true);
            send(client, gateway(node), octets(100, 1));
            eventually().until(() -> node.dropped(DropReason.NEXT_HOP_UNREACHABLE) == 1);
            far.setSoTimeout(100);
            eventually().ignoreExceptions().untilAsserted(() -> thereAndBack(node, client));
        }
        conserves(node);
    }

    @Test
    void whoLooksDoesNotWaitForAGatewayThatCloses() throws Exception {
        CountDownLatch answers = new CountDownLatch(1);
        CountDownLatch mayAnswer = new CountDownLatch(1);
        settings.network = real -> transport(real, "bind", (bind, arguments) -> {
            UdpSocket socket = (UdpSocket) bind.invoke(real, arguments);
            return proxy(UdpSocket.class, (called, with) -> {
                Object made = called.invoke(socket, with);
                boolean carriesAnswers = called.getName().equals("newSender")
                        && with != null
                        && called.getParameterTypes()[0] != int.class;
                return carriesAnswers ? held((UdpSender) made, answers, mayAnswer) : made;
            });
        });
        TestNode node = start(UdpSockets.resolve(TransportKind.AUTO));
        Thread closing = new Thread(() -> node.environment.stop(Duration.ZERO));
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(100, 1));
            send(far, (InetSocketAddress) receive(far).getSocketAddress(), octets(10, 2));
            answers.await();
            closing.start();
            eventually().until(() -> isClosingGateways(closing));
            node.environment.rtp();
            assertThat(isClosingGateways(closing)).as("it still waits").isTrue();
        } finally {
            mayAnswer.countDown();
            closing.join();
        }
    }

    private static UdpSender held(UdpSender real, CountDownLatch answers, CountDownLatch mayAnswer) {
        return proxy(UdpSender.class, (called, arguments) -> {
            if (called.getName().equals("flush")) {
                answers.countDown();
                mayAnswer.await();
            }
            return called.invoke(real, arguments);
        });
    }

    private static boolean isOfGateways(StackTraceElement frame) {
        return frame.getClassName().startsWith(GatewaySocket.class.getPackageName());
    }

    private static boolean isClosingGateways(Thread closing) {
        return List.of(closing.getStackTrace()).stream()
                .anyMatch(frame -> isOfGateways(frame) && frame.getMethodName().equals("close"));
    }

    /** A gateway's socket, read here, whose packets have so much memory. */
    private GatewaySocket socket(TestNode node, BatchMemory memory) throws IOException {
        NodeContext context = node.environment.context;
        UdpGateway gateway = settings.udpGateways.get(0);
        UdpSocket under = context.transport().bind(gateway.address());
        RtpSources rtp = rtpClockHz == 0 ? null : new RtpSources(gateway.to(), rtpClockHz);
        GatewaySocket socket = new GatewaySocket(Gateways.host(context), under, gateway, rtp, memory);
        opened = socket;
        return socket;
    }

    private static int receive(GatewaySocket socket, UdpBatch batch) throws IOException {
        assertThat(socket.awaitReadable(Duration.ofMillis(PATIENCE_MS))).isTrue();
        return socket.receive(batch);
    }

    /** All of it can be had at once. */
    private static void isWhole(BatchMemory memory) {
        Buffer all = requireNonNull(memory.larger(null, 0, LIMIT_OCTETS));
        memory.give(all);
    }

    @Test
    void aReaderThatFindsNothingKeepsNoMemory() throws Exception {
        TestNode node = start(TransportKind.AUTO);
        BatchMemory memory = new BatchMemory(LIMIT_OCTETS);
        try (GatewaySocket socket = socket(node, memory);
                DatagramSocket client = open()) {
            UdpBatch batch = socket.newBatch();
            send(client, socket.localAddress(), octets(100, 1));
            assertThat(receive(socket, batch)).isEqualTo(1);
            batch.done();
            assertThat(socket.receive(batch)).isZero();
            isWhole(memory);
        }
    }

    @Test
    void aBatchOfWhichNothingIsLeftKeepsNoMemory() throws Exception {
        rtpClockHz = 90_000;
        TestNode node = start(TransportKind.AUTO);
        BatchMemory memory = new BatchMemory(LIMIT_OCTETS);
        try (GatewaySocket socket = socket(node, memory);
                DatagramSocket client = open()) {
            send(client, socket.localAddress(), octets(100, 200));
            assertThat(receive(socket, socket.newBatch())).as("no RTP").isZero();
            isWhole(memory);
        }
    }
}
