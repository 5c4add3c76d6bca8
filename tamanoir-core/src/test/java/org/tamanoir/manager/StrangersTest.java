package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.manager.ManagedNode.NAME;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PreviousNode;
import org.tamanoir.support.Tiers;

/**
 * Strangers send streams for services that nobody has, and code servers of theirs send one byte after another: others
 * get their services meanwhile. Strangers differ by their address in 127.0.0.0/8. Order alone is looked at: what has
 * come while no stranger's server has been given up.
 */
@Timeout(240)
class StrangersTest {
    /** Of which previous nodes get a third: longer than a test takes. */
    private static final Duration TOTAL_TIMEOUT = Duration.ofMinutes(10);

    @TempDir
    Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final CountDownLatch over = new CountDownLatch(1);

    @AfterEach
    void close() throws Exception {
        over.countDown();
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    private ManagedNode node(List<InetSocketAddress> neighbours) throws IOException {
        ManagedNode node = new ManagedNode(folder, folder.resolve("revoked"), TOTAL_TIMEOUT, neighbours);
        open.add(node);
        return node;
    }

    /** A code server: of its files, or of nothing but a head and a byte now and then. */
    private final class Server implements AutoCloseable {
        final ServerSocket listener;
        final @Nullable Map<String, byte[]> files;
        final Set<Socket> connections = ConcurrentHashMap.newKeySet();
        final AtomicInteger asked = new AtomicInteger();
        final AtomicInteger mostAtOnce = new AtomicInteger();
        /** Requests that the other side gave up. */
        final AtomicInteger givenUp = new AtomicInteger();

        Server(String address, @Nullable Map<String, byte[]> files) throws IOException {
            this.listener = new ServerSocket(0, 50, InetAddress.getByName(address));
            this.files = files;
            open.add(this);
            start(this::accept);
        }

        InetSocketAddress address() {
            return (InetSocketAddress) listener.getLocalSocketAddress();
        }

        private void start(Runnable task) {
            Thread thread = new Thread(task, "code-server");
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            try {
                for (; ; ) {
                    Socket socket = listener.accept();
                    connections.add(socket);
                    start(() -> talk(socket));
                }
            } catch (IOException closed) {
                return;
            }
        }

        private void talk(Socket socket) {
            try (socket) {
                String path;
                while ((path = path(socket.getInputStream())) != null) {
                    asked.incrementAndGet();
                    OutputStream out = socket.getOutputStream();
                    if (files == null) {
                        mostAtOnce.accumulateAndGet(connections.size(), Math::max);
                        trickle(out);
                        return;
                    }
                    byte[] file = files.get(path);
                    String status = file == null ? "404 Not Found" : "200 OK";
                    byte[] body = file == null ? new byte[0] : file;
                    out.write(("HTTP/1.1 " + status + "\r\nContent-Length: " + body.length + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
                    out.write(body);
                    out.flush();
                }
            } catch (IOException broken) {
                givenUp.incrementAndGet();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                connections.remove(socket);
            }
        }

        private void trickle(OutputStream out) throws IOException, InterruptedException {
            out.write("HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            while (!over.await(100, TimeUnit.MILLISECONDS)) {
                out.write('{');
                out.flush();
            }
        }

        /** Of the next request; null at the end. */
        private static @Nullable String path(InputStream in) throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int octet = in.read();
                if (octet < 0) {
                    return null;
                }
                head.append((char) octet);
            }
            return head.toString().split(" ", 3)[1].substring(1);
        }

        @Override
        public void close() throws IOException {
            listener.close();
            for (Socket each : connections) {
                each.close();
            }
        }
    }

    /** One packet that names a code server, from this address, on a connection that stays. */
    private void stream(ManagedNode node, String from, PacketBuilder service, InetSocketAddress server)
            throws IOException {
        Packet packet = service.destination(InetAddress.getByName("10.0.0.7")).previousNode(false).stream(1)
                .hopBudget(8)
                .build(ByteBuffer.allocate(8));
        NodeOptions.setPreviousNode(packet, PreviousNode.of(server));
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        Socket socket = new Socket();
        open.add(socket);
        try {
            socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
        } catch (IOException e) {
            Tiers.require("native", false, "127.0.0.0/8 is not all this host's: " + e.getMessage());
        }
        socket.connect(node.environment.tcpAddresses().get(0));
        socket.getOutputStream().write(bytes);
    }

    private static PacketBuilder key(long key) {
        return new PacketBuilder().serviceKey(key);
    }

    private static String host(int number) {
        return "127.0." + (1 + number / 250) + "." + (2 + number % 250);
    }

    private static void awaitAsked(Server server, int requests) {
        eventually().until(() -> server.asked.get() >= requests);
    }

    @Test
    void streamsGetServicesOfTheRepositoryWhileStrangersOfManyAddressesTrickle() throws Exception {
        ManagedNode node = node(List.of());
        node.publish(NAME + ":1.0");
        List<Server> trickling = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            trickling.add(new Server(host(i), null));
            stream(node, host(i), key(1000 + i), trickling.get(i).address());
        }
        eventually()
                .until(() -> trickling.stream()
                                .filter(server -> server.asked.get() > 0)
                                .count()
                        >= 4);
        stream(
                node,
                "127.0.0.1",
                new PacketBuilder().service(NAME),
                trickling.get(0).address());
        node.awaitReceived(1);
        assertThat(trickling).allSatisfy(server -> assertThat(server.givenUp).hasValue(0));
    }

    @Test
    void ofOneAddressOneFetchRunsAtATimeWhilePreviousNodesOfOthersServe() throws Exception {
        ManagedNode node = node(List.of());
        Server trickling = new Server("127.0.0.2", null);
        for (int i = 0; i < 24; i++) {
            stream(node, "127.0.0.2", key(1000 + i), trickling.address());
        }
        awaitAsked(trickling, 1);
        Map<String, byte[]> files = new ConcurrentHashMap<>();
        node.publish("org.example.Bar:1.0", node.signer, "", files);
        Server good = new Server("127.0.0.3", files);
        stream(node, "127.0.0.3", new PacketBuilder().service("org.example.Bar"), good.address());
        node.awaitReceived(1);
        assertThat(trickling.asked).hasValue(1);
        assertThat(trickling.mostAtOnce).hasValue(1);
        assertThat(trickling.givenUp).hasValue(0);
        // What is beyond the bound of one party was refused at once, the rest waits.
        eventually().until(() -> node.environment.traffic().drops().equals(Map.of(DropReason.DEPLOYMENT_FAILED, 8L)));
        assertThat(node.manager.deploymentStatistics().streamsHeld()).isEqualTo(16);
    }

    @Test
    void aServiceIsHadFromItsPreviousNodeWhileAStrangerTricklesForTheSameKey() throws Exception {
        ManagedNode node = node(List.of());
        Map<String, byte[]> files = new ConcurrentHashMap<>();
        node.publish("org.example.Bar:1.0", node.signer, "", files);
        Server trickling = new Server("127.0.0.2", null);
        Server good = new Server("127.0.0.3", files);
        stream(node, "127.0.0.2", new PacketBuilder().service("org.example.Bar"), trickling.address());
        awaitAsked(trickling, 1);
        stream(node, "127.0.0.3", new PacketBuilder().service("org.example.Bar"), good.address());
        node.awaitReceived(2); // The stranger's too: it waited for the same.
        assertThat(trickling.givenUp).hasValue(0);
        assertThat(node.manager.deploymentStatistics().outcomes()).isEqualTo(Map.of("previous-node", 1L));
    }

    @Test
    void aNeighbourIsAskedWhileStrangersHoldAllThreadsForPreviousNodes() throws Exception {
        Map<String, byte[]> files = new ConcurrentHashMap<>();
        Server neighbour = new Server("127.0.0.3", files);
        ManagedNode node = node(List.of(neighbour.address()));
        node.publish("org.example.Bar:1.0", node.signer, "", files);
        List<Server> trickling = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            trickling.add(new Server(host(i), null));
            stream(node, host(i), key(1000 + i), trickling.get(i).address());
        }
        eventually()
                .until(() -> trickling.stream()
                                .filter(server -> server.asked.get() > 0)
                                .count()
                        == 16);
        stream(node, "127.0.0.3", new PacketBuilder().service("org.example.Bar"), neighbour.address());
        node.awaitReceived(1);
        assertThat(trickling).allSatisfy(server -> assertThat(server.givenUp).hasValue(0));
    }
}
