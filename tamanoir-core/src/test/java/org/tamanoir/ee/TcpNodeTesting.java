package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.slf4j.LoggerFactory;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.support.Ports;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

/**
 * Starts nodes and ends them. After each test every node has conserved its packets and nothing is left of it: no
 * thread, no descriptor, and after the class no memory.
 */
abstract class TcpNodeTesting {
    private static final long MEMORY_SLACK_BYTES = 1 << 20;
    private static final List<String> LOG = new CopyOnWriteArrayList<>();
    private static final AppenderBase<ILoggingEvent> APPENDER = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            LOG.add(event.getFormattedMessage());
        }
    };
    private static long directBefore;

    final TestNode.Settings settings = new TestNode.Settings();
    private final List<TestNode> nodes = new ArrayList<>();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private long descriptorsBefore;

    static Stream<TransportKind> kinds() {
        return UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE
                ? Stream.of(TransportKind.NATIVE, TransportKind.NIO)
                : Stream.of(TransportKind.NIO);
    }

    // ---- what tests open ---------------------------------------------------------------------------------------

    final TestNode node(ServiceDefinition... services) throws IOException {
        TestNode node = TestNode.start(settings, services);
        nodes.add(node);
        return node;
    }

    final TestSink sink() throws IOException {
        return keep(TestSink.open());
    }

    final TestSink echoSink() throws IOException {
        return keep(TestSink.openEcho());
    }

    final AnepSender sender(TestNode node) throws IOException {
        return keep(AnepSender.tcp(node.address()));
    }

    final SocketChannel connect(TestNode node) throws IOException {
        return keep(SocketChannel.open(node.address()));
    }

    final <T extends AutoCloseable> T keep(T resource) {
        opened.push(resource);
        return resource;
    }

    /** Waits until nothing has come in for half a second: what follows in the way is full. */
    static void awaitStandstill(TestNode node) {
        long[] before = {0};
        eventually().pollInterval(Duration.ofMillis(500)).until(() -> {
            long in = node.traffic().packetsIn();
            boolean stands = in == before[0] && in > 1;
            before[0] = in;
            return stands;
        });
    }

    /** A port of the loopback that nobody listens on. */
    static InetSocketAddress nobody() throws IOException {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free());
    }

    /** What the node and the transport logged in this test. */
    static List<String> log() {
        return LOG;
    }

    /** Names of the threads that belong to nodes. */
    static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("tcp ") || name.startsWith("udp ") || name.equals("reception"))
                .sorted()
                .toList();
    }

    // ---- what is left of it ----------------------------------------------------------------------------------------

    @BeforeAll
    static void listenToLog() throws IOException {
        Ports.free(); // Keeps a socket.
        openWhatTheJdkKeeps();
        openWhatLoopsKeep();
        APPENDER.start();
        for (String name : new String[] {"io.netty", "org.tamanoir"}) {
            ((Logger) LoggerFactory.getLogger(name)).addAppender(APPENDER);
        }
        collectGarbage();
        directBefore = directBytes();
    }

    @BeforeEach
    final void countDescriptors() {
        LOG.removeIf(line -> !line.contains("LEAK"));
        descriptorsBefore = descriptors();
    }

    @AfterEach
    final void leaveNothing() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        List<Integer> cut = nodes.stream()
                .map(node -> node.environment.stop(TestServices.PATIENCE))
                .toList();
        assertThat(cut).allMatch(streams -> streams == 0);
        for (TestNode node : nodes) {
            node.assertConserved();
            assertThat(node.environment.streams().open()).isZero();
        }
        eventually().untilAsserted(() -> assertThat(threads()).isEmpty());
        eventually().until(() -> descriptors() <= descriptorsBefore);
        assertThat(LOG).noneMatch(line -> line.contains("fault of the node"));
    }

    @AfterAll
    static void leaveNoMemory() {
        eventually().pollInterval(Duration.ofMillis(50)).until(() -> {
            collectGarbage();
            return directBytes() <= directBefore + MEMORY_SLACK_BYTES;
        });
        assertThat(LOG).noneMatch(line -> line.contains("LEAK"));
        for (String name : new String[] {"io.netty", "org.tamanoir"}) {
            ((Logger) LoggerFactory.getLogger(name)).detachAppender(APPENDER);
        }
        LOG.clear();
    }

    /** Some descriptors all loops have in common, from the first one on. */
    static void openWhatLoopsKeep() {
        Transport sockets = Transport.of(TransportKind.AUTO);
        try (BufferPool pool = new BufferPool(1)) {
            open(sockets.newLoop(pool));
            if (ExecutionEnvironment.whyNot(ThreadKind.VIRTUAL, sockets).isEmpty()) {
                open(sockets.newParkingLoop(pool));
            }
        }
    }

    private static void open(IoLoop loop) {
        try (loop) {
            loop.own();
            loop.poll();
        }
    }

    /** Some descriptors the JDK opens with a class's first use, to keep them. */
    private static void openWhatTheJdkKeeps() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open();
                Selector selector = Selector.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            try (SocketChannel near = SocketChannel.open(server.getLocalAddress());
                    SocketChannel far = server.accept()) {
                near.configureBlocking(false);
                near.register(selector, SelectionKey.OP_READ);
                far.shutdownOutput();
                selector.select(1000);
            }
        }
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket near = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket far = server.accept()) {
            far.shutdownOutput();
            assertThat(near.getInputStream().read()).isNegative();
        }
    }

    /** Netty reports what was lost to the garbage collector when it allocates next. */
    private static void collectGarbage() {
        System.gc();
        try (BufferPool pool = new BufferPool(1)) {
            pool.give(pool.take(BufferPool.SMALL_BYTES, 1));
        }
    }

    /** Bytes of direct memory in this process; what Netty takes by Unsafe only Netty counts. */
    static long directBytes() {
        return Math.max(0, PlatformDependent.usedDirectMemory()) + byBuffersOfTheJdk();
    }

    private static long byBuffersOfTheJdk() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    /** Sockets and event descriptors of this process; 0 where that cannot be told. */
    static long descriptors() {
        Path own = Path.of("/proc/self/fd");
        if (!Files.isDirectory(own)) {
            return 0;
        }
        try (Stream<Path> all = Files.list(own)) {
            return all.filter(TcpNodeTesting::isSocketOrEvents).count();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isSocketOrEvents(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith("socket:") || target.startsWith("anon_inode:");
        } catch (IOException e) {
            return false; // Closed since it was listed.
        }
    }
}
