package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.platform.ThreadRank;
import org.tamanoir.platform.ThreadRanks;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Namespaces;
import org.tamanoir.transport.BackgroundThread;
import org.tamanoir.transport.TransportKind;

/** Which threads of an environment take which rank. */
@Tag("namespace")
class ThreadRankTest {
    private final Map<String, ThreadRank> taken = new ConcurrentHashMap<>();
    private final ThreadRanks ranks = new ThreadRanks() {
        @Override
        public void take(ThreadRank rank) {
            taken.put(Thread.currentThread().getName(), rank);
        }

        @Override
        public String text() {
            return "noted";
        }
    };

    @Test
    void coreThreadsAndServicesTakeRanksOnThreadsOfTheirOwn() throws Exception {
        try (UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.AUTO));
                UdpFarEnd far = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            node.environment.rank(ranks);
            node.environment.start();
            node.deliver("127.0.0.1/32", Transport.SAME)
                    .service("org.example.Any", (service, packet) -> Verdict.CONSUME);

            far.send(
                    node.udp(),
                    List.of(UdpTestNode.packet(UdpTestNode.builder(far.address(), "org.example.Any", 1), 100)));

            eventually()
                    .untilAsserted(() -> assertThat(taken)
                            .isEqualTo(Map.of(
                                    "reception", ThreadRank.CONTROL,
                                    "watchdog", ThreadRank.CONTROL,
                                    "udp org.example.Any", ThreadRank.SERVICE)));
            node.balanced(1);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aUdpServiceThatWasFetchedOnDemandIsNoNicerThanOthers() throws Exception {
        try (Fetching fetching = new Fetching();
                UdpFarEnd far = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            far.send(fetching.node.udp(), packet(far.address()));
            eventually()
                    .untilAsserted(() -> assertThat(nices("udp org.example")).containsExactly(niceOfThisThread()));
            fetching.node.balanced(1);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aTcpServiceThatWasFetchedOnDemandIsNoNicerThanOthers() throws Exception {
        try (Fetching fetching = new Fetching();
                SocketChannel stream = SocketChannel.open(fetching.node.tcp())) {
            stream.write(ByteBuffer.wrap(packet(new InetSocketAddress("127.0.0.1", 9))));
            eventually()
                    .untilAsserted(() -> assertThat(nices("tcp org.example")).containsExactly(niceOfThisThread()));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void whatCouldNotBeFetchedGoesOnByAThreadNoNicerThanOthers() throws Exception {
        EeConfig config = UdpTestNode.config(TransportKind.AUTO, FailurePolicy.PASS, 1 << 20, 32);
        ServiceSource.Answer refusal = ServiceSource.Answer.refused(DropReason.UNKNOWN_SERVICE);
        try (UdpTestNode node = UdpTestNode.start(config, inBackground(() -> refusal));
                UdpFarEnd far = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.SAME);
            far.send(node.udp(), packet(far.address()));
            eventually().untilAsserted(() -> assertThat(nices("udp transit")).containsExactly(niceOfThisThread()));
            node.balanced(1);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aNodeInANamespaceHasTheThreadsOfFetchedServicesThere() throws Exception {
        Namespaces.require("namespace");
        try (Fetching elsewhere = new Fetching(); // The first node of the process, in its own namespace.
                Namespaces namespaces = new Namespaces("starter")) {
            String inside = namespaces.add("inside");
            namespaces.in(inside, () -> {
                try (Fetching fetching = new Fetching();
                        UdpFarEnd far = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
                    far.send(fetching.node.udp(), packet(far.address()));
                    eventually()
                            .untilAsserted(() -> assertThat(threads("udp org.example"))
                                    .singleElement()
                                    .satisfies(thread -> assertThat(Files.readSymbolicLink(thread.resolve("ns/net")))
                                            .hasToString("net:[" + Namespaces.inode(inside) + "]")));
                    return elsewhere;
                }
            });
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void theThreadThatStartsOthersEndsWithItsNode() throws Exception {
        List<Path> others = threads("starter"); // Of nodes that other tests closed a moment ago.
        try (Fetching fetching = new Fetching()) {
            AtomicReference<Path> own = new AtomicReference<>();
            eventually()
                    .untilAsserted(() -> assertThat(threads("starter"))
                            .filteredOn(thread -> !others.contains(thread))
                            .singleElement()
                            .satisfies(own::set));
            fetching.node.close();
            eventually().untilAsserted(() -> assertThat(threads("starter")).doesNotContain(own.get()));
        }
    }

    private static byte[] packet(InetSocketAddress destination) {
        return UdpTestNode.packet(UdpTestNode.builder(destination, "org.example.Any", 1), 100);
    }

    /** A node whose services are fetched by a background thread. */
    private static final class Fetching implements AutoCloseable {
        final UdpTestNode node = UdpTestNode.start(UdpTestNode.config(TransportKind.AUTO), inBackground(this::fetched));

        private ServiceSource.Answer fetched() {
            node.service("org.example.Any", (service, packet) -> Verdict.CONSUME);
            return ServiceSource.Answer.of(
                    Objects.requireNonNull(node.services.find(ServiceKey.of("org.example.Any"))));
        }

        @Override
        public void close() {
            node.close();
        }
    }

    private static ServiceSource inBackground(Supplier<ServiceSource.Answer> answer) {
        return (key, then) -> origin -> new BackgroundThread("deploy", () -> then.accept(answer.get())).start();
    }

    private static int niceOfThisThread() throws IOException {
        return nice(Path.of("/proc/thread-self"));
    }

    private static List<Integer> nices(String name) throws IOException {
        List<Integer> nices = new ArrayList<>();
        for (Path thread : threads(name)) {
            nices.add(nice(thread));
        }
        return nices;
    }

    /** Returns the folders in /proc of the threads that are so named, by up to 15 characters as proc(5) has it. */
    private static List<Path> threads(String name) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path thread : threads) {
                try {
                    if (Files.readString(thread.resolve("comm")).strip().equals(name)) {
                        found.add(thread);
                    }
                } catch (IOException e) {
                    // It has ended.
                }
            }
        }
        return found;
    }

    private static int nice(Path thread) throws IOException {
        String text = Files.readString(thread.resolve("stat"));
        // Behind the name, which may have any character: field 3 of proc(5) is the first, nice is field 19.
        return Integer.parseInt(text.substring(text.lastIndexOf(')') + 2).split(" ")[16]);
    }
}
