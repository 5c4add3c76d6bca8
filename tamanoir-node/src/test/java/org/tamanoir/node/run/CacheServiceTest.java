package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.repository.Publisher;
import org.tamanoir.services.extra.cache.Cache;

/** The cache of tamanoir-services-extra.jar, fetched by a node between a client and an origin, which are sockets here. */
@Tag("once")
@Timeout(120)
class CacheServiceTest {
    private static final String NAME = "org.example.Cache";
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final int HEADER = 24;

    @TempDir
    Path folder;

    private LiveRepository repository;
    private DatagramSocket client;
    private DatagramSocket origin;
    private LiveNode node;
    private Path jar;

    @BeforeEach
    void open() throws Exception {
        repository = new LiveRepository(folder.resolve("repository"));
        jar = ExtraJar.in(folder);
        Publisher.Description description =
                new Publisher.Description(Cache.class.getName(), NAME, "1.0", null, ServiceLimits.NONE);
        repository.publisher().publish(jar, Publisher.describe(jar, description, 64 << 20), LiveRepository.KEY);
        client = socket();
        origin = socket();
        node = LiveNode.start(
                folder.resolve("node"),
                "routes: [{to: 10.0.1.0/24, via: \"127.0.0.1:" + client.getLocalPort() + "\", kind: host},"
                        + " {to: 10.0.2.0/24, via: \"127.0.0.1:" + origin.getLocalPort() + "\", kind: host}]\n"
                        + LiveNode.deploy(folder.resolve("node"), repository, List.of(repository.url()), ""));
    }

    private static DatagramSocket socket() throws IOException {
        DatagramSocket socket = new DatagramSocket(0, LOOPBACK);
        socket.setSoTimeout((int) LiveNode.PATIENCE.toMillis());
        return socket;
    }

    @AfterEach
    void close() throws Exception {
        node.close();
        client.close();
        origin.close();
        repository.close();
    }

    private static ByteBuffer payload(int kind, int ttlMs, long id, String key, String value) {
        byte[] octets = (key + value).getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(HEADER + octets.length)
                .putShort((short) 0xFECA)
                .put((byte) kind)
                .put((byte) key.length())
                .putInt(ttlMs)
                .putLong(id)
                .putLong(0)
                .put(octets)
                .flip();
    }

    private void ask(long id, String key) throws Exception {
        send(
                client,
                new PacketBuilder()
                        .source(InetAddress.getByName("10.0.1.2"))
                        .destination(InetAddress.getByName("10.0.2.7"))
                        .service(NAME)
                        .build(payload(1, 0, id, key, "")));
    }

    private void send(DatagramSocket from, Packet packet) throws IOException {
        ByteBuffer octets = packet.look();
        byte[] bytes = new byte[octets.remaining()];
        octets.get(bytes);
        InetSocketAddress to = node.udp();
        from.send(new DatagramPacket(bytes, bytes.length, LOOPBACK, to.getPort()));
    }

    private static Packet receive(DatagramSocket socket) throws IOException {
        DatagramPacket datagram = new DatagramPacket(new byte[65_535], 65_535);
        socket.receive(datagram);
        Packet packet = new Packet();
        assertThat(packet.parse(ByteBuffer.wrap(datagram.getData()), 0, datagram.getLength()))
                .isNull();
        return packet;
    }

    /** Answers the question that comes next, by the page: its id, its ends swapped, the service that it names. */
    private Packet answer(Packet question, int kind, int ttlMs, String value) throws Exception {
        ByteBuffer asked = question.payload();
        byte[] key = new byte[asked.get(asked.position() + 3)];
        asked.get(asked.position() + HEADER, key);
        return new PacketBuilder()
                .source(InetAddress.getByName("10.0.2.7"))
                .destination(InetAddress.getByName("10.0.1.2"))
                .serviceKey(asked.getLong(asked.position() + 16))
                .build(payload(
                        kind,
                        ttlMs,
                        asked.getLong(asked.position() + 8),
                        new String(key, StandardCharsets.US_ASCII),
                        value));
    }

    /** Kind, id and what stands behind the header. */
    private String received() throws IOException {
        Packet packet = receive(client);
        assertThat(packet.serviceKey()).isEqualTo(ServiceKey.NONE);
        ByteBuffer payload = packet.payload();
        int start = payload.position();
        return payload.get(start + 2) + " " + payload.getLong(start + 8) + " "
                + StandardCharsets.US_ASCII.decode(payload.position(start + HEADER));
    }

    @Test
    void anObjectIsAskedForOnceAndAnsweredByTheNodeFromThenOn() throws Exception {
        ask(1, "k");
        Packet question = receive(origin);
        assertThat(question.payload().getLong(question.payload().position() + 8))
                .isNotEqualTo(1);
        ask(2, "k");
        eventually().until(() -> count("joined") == 1);
        Packet answer = answer(question, 2, 60_000, "value");
        Packet forged = answer(question, 2, 60_000, "forged");
        forged.payload().putLong(forged.payload().position() + 8, 3);
        send(client, forged);
        send(origin, answer);
        assertThat(received()).isEqualTo("2 1 kvalue");
        assertThat(received()).isEqualTo("2 2 kvalue");
        ask(3, "k");
        assertThat(received()).isEqualTo("2 3 kvalue");

        String control = "/v1/services/" + NAME + "/control";
        assertThat(node.get(control).toString()).contains("\"objects\":1", "\"bytes\":256");
        assertThat(post(control + "/purge", "{\"origin\": \"10.0.2.7\", \"key\": \"k\"}"))
                .contains("\"forgotten\":1");
        ask(4, "k");
        send(origin, answer(receive(origin), 3, 0, ""));
        assertThat(received()).isEqualTo("3 4 k");
        node.assertConserved(7, Map.of(DropReason.CONSUMED, 3L, DropReason.SERVICE, 1L));
        assertThat(node.versions(NAME)).containsExactly("1.0 running repository " + repository.url());
    }

    private String post(String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(node.admin() + path))
                .timeout(LiveNode.PATIENCE)
                .header("Authorization", "Bearer " + LiveNode.TOKEN)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }

    private long count(String counter) {
        return node.service(NAME, "1.0").get("counters").get(counter).asLong();
    }

    @Test
    void theJarHasWhatTheCacheNeedsAndItsLicence() throws Exception {
        try (JarFile file = new JarFile(jar.toFile())) {
            assertThat(file.getEntry("com/github/benmanes/caffeine/cache/Caffeine.class"))
                    .isNotNull();
            assertThat(file.getEntry("com/github/benmanes/caffeine/LICENSE")).isNotNull();
        }
    }
}
