package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.routing.NextHop;
import org.tamanoir.transport.TransportKind;

/** A stream whose next hop gets no socket, since the process has no descriptors left. */
@Tag("process")
class TcpDescriptorsTest {
    private static final int DESCRIPTORS = 200;

    static List<TransportKind> kinds() {
        return TcpNodeTesting.kinds().toList();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void endsWithEveryPacketCountedAndTheNextOneIsWhole(TransportKind kind, @TempDir Path folder) throws Exception {
        assertThat(FewDescriptors.run(Child.class, DESCRIPTORS, folder, kind.name()))
                .anyMatch(line -> line.contains("Too many open files"))
                .endsWith("all counted");
    }

    static final class Child {
        private final TestSink first = TestSink.open();
        private final TestSink second = TestSink.open();
        private final TestNode node;

        private Child(TransportKind kind) throws IOException {
            TestNode.Settings settings = new TestNode.Settings();
            settings.transport = kind;
            settings.connectTimeout = Duration.ofMillis(500);
            node = TestNode.start(settings, MARK)
                    .route("10.1.0.0/16", first.address(), NextHop.Kind.HOST)
                    .route("10.2.0.0/16", second.address(), NextHop.Kind.HOST);
        }

        public static void main(String[] args) throws Exception {
            Child child = new Child(TransportKind.valueOf(args[0]));
            child.cross(); // Loads the classes that need files.
            try (FewDescriptors none = new FewDescriptors()) {
                child.crossWithout(none);
            }
            child.cross();
            try (FewDescriptors some = new FewDescriptors()) {
                child.openMoreThanThereAreFor(some);
            }
            child.crossAgain();
            System.out.println("all counted");
            System.exit(0);
        }

        private static ByteBuffer batch(int from, int... networks) throws IOException {
            ByteBuffer batch = ByteBuffer.allocate(1 << 14);
            for (int i = 0; i < networks.length; i++) {
                Packet packet = packets("mark")
                        .destination(InetAddress.getByName("10." + networks[i] + ".0.1"))
                        .build(payload(from + i, 100));
                batch.put(batch.position(), packet.buffer(), packet.offset(), packet.length())
                        .position(batch.position() + packet.length());
            }
            return batch.flip();
        }

        /** A stream to both hosts, which is whole. */
        private void cross() throws IOException {
            int before = first.packets().size();
            int secondBefore = second.packets().size();
            try (SocketChannel sender = SocketChannel.open(node.address())) {
                sender.write(batch(0, 1, 1, 2, 1));
                sender.shutdownOutput();
                first.await(before + 3);
                second.await(secondBefore + 1);
            }
            assertNumbers(first.packets().subList(before, before + 3), 0, 1, 3);
            assertNumbers(second.packets().subList(secondBefore, secondBefore + 1), 2);
            node.settle().assertConserved();
        }

        /** A stream of one packet like none before it. */
        private void crossAgain() throws IOException {
            try (SocketChannel sender = SocketChannel.open(node.address())) {
                sender.write(batch(99, 1));
                sender.shutdownOutput();
                eventually()
                        .until(() -> first.packets().stream()
                                .anyMatch(packet -> TestSink.bytes(packet).equals(payload(99, 100))));
            }
            node.settle().assertConserved();
        }

        /** The first host is connected to before there are no more descriptors; the second cannot be. */
        private void crossWithout(FewDescriptors descriptors) throws Exception {
            int before = first.packets().size();
            long dropped = node.dropped(DropReason.NEXT_HOP_UNREACHABLE);
            try (SocketChannel sender = SocketChannel.open(node.address())) {
                sender.write(batch(0, 1));
                first.await(before + 1);
                descriptors.take();
                sender.write(batch(1, 1, 1, 1, 2, 1));
                eventually().until(() -> node.environment.streams().open() == 0);
            }
            assertNumbers(first.packets().subList(before, first.packets().size()), 0, 1, 2, 3);
            assertThat(node.dropped(DropReason.NEXT_HOP_UNREACHABLE)).isGreaterThan(dropped);
            node.assertConserved();
        }

        /** The node accepts them, and finds none for what it does with them: each gives its place back once. */
        private void openMoreThanThereAreFor(FewDescriptors descriptors) throws Exception {
            List<SocketChannel> senders = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                senders.add(SocketChannel.open());
            }
            descriptors.take();
            descriptors.giveBack(12);
            for (SocketChannel sender : senders) {
                sender.connect(node.address());
                try {
                    sender.write(batch(0, 1));
                } catch (IOException e) {
                    System.out.println("refused: " + e.getMessage());
                }
            }
            // Where those that it accepted got all they need, one more descriptor is the next connection's own.
            eventually().pollInterval(Duration.ofSeconds(1)).until(() -> {
                descriptors.takeAll();
                descriptors.giveBack(1);
                return node.dropped(DropReason.NO_INSTANCE) > 0;
            });
            for (SocketChannel sender : senders) {
                sender.close();
            }
            descriptors.close();
            node.settle().assertConserved();
        }

        private static void assertNumbers(List<Packet> packets, int... numbers) {
            assertThat(packets.stream().map(TestSink::bytes).toList())
                    .isEqualTo(IntStream.of(numbers)
                            .mapToObj(number -> payload(number, 100))
                            .toList());
        }
    }
}
