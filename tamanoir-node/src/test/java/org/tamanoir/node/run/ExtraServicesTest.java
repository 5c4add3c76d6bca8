package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.repository.Publisher;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.services.Monitor;
import org.tamanoir.services.extra.aggregate.Aggregate;
import org.tamanoir.services.extra.aggregate.Split;
import org.tamanoir.services.extra.crypt.Crypt;
import org.tamanoir.services.extra.crypt.Decrypt;
import org.tamanoir.services.extra.fec.Defec;
import org.tamanoir.services.extra.fec.Fec;
import org.tamanoir.services.extra.multicast.Multicast;
import org.tamanoir.services.extra.transcode.Transcode;
import org.tamanoir.support.LossyUdp;
import org.tamanoir.testkit.ServiceHarness;
import tools.jackson.databind.JsonNode;

/** Services of tamanoir-services-extra.jar: published to a repository, and fetched by the nodes that packets bring them to. */
@Tag("once")
@Timeout(120)
class ExtraServicesTest {
    @TempDir
    Path folder;

    private final List<String> received = Collections.synchronizedList(new ArrayList<>());
    private LiveRepository repository;
    private AnepReceiver receiver;
    private Path jar;

    @BeforeEach
    void open() throws Exception {
        repository = new LiveRepository(folder.resolve("repository"));
        jar = ExtraJar.in(folder);
        receiver = AnepReceiver.on(new InetSocketAddress("127.0.0.1", 0))
                .tcp()
                .udp()
                .start(() -> (packet, peer) -> received.add(text(packet)));
    }

    @AfterEach
    void close() throws Exception {
        receiver.close();
        repository.close();
    }

    /** Stream, number, class, length and CRC of a packet's payload. */
    private static String text(Packet packet) {
        ByteBuffer whole = packet.look();
        CRC32 crc = new CRC32();
        crc.update(whole.position(whole.position() + packet.headerLength()));
        return packet.streamId() + " " + packet.sequence() + " " + packet.classOfService() + " "
                + packet.payloadLength() + " " + Long.toHexString(crc.getValue());
    }

    /** Not the class's name, by which it would come from the class path of this test. */
    private static String name(Class<? extends Service> type) {
        return "org.example." + type.getSimpleName();
    }

    private void publish(Class<? extends Service> type) throws Exception {
        Publisher.Description description =
                new Publisher.Description(type.getName(), name(type), "1.0", null, ServiceLimits.NONE);
        repository.publisher().publish(jar, Publisher.describe(jar, description, 64 << 20), LiveRepository.KEY);
    }

    private LiveNode node(String name, InetSocketAddress next, boolean host, String services) throws Exception {
        return node(name, LiveNode.route(next, host), services);
    }

    /** @param routes null: all go to where packets say */
    private LiveNode node(String name, @Nullable String routes, String services) throws Exception {
        Path own = folder.resolve(name);
        return LiveNode.start(
                own,
                (routes == null ? "routes: [{to: 127.0.0.0/8, via: destination}]\n" : routes)
                        + LiveNode.deploy(own, repository, List.of(repository.url()), "")
                        + services);
    }

    /** Packets of two streams, of any sizes, one after the other. */
    private static List<Packet> packets(String service, int count, int maxPayload) throws Exception {
        Random random = new Random(5);
        PacketBuilder one = LiveSink.packets(service).stream(1).timestamps();
        PacketBuilder two = LiveSink.packets(service).stream(2).classOfService(4, 0);
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] payload = new byte[random.nextInt(maxPayload + 1)];
            random.nextBytes(payload);
            packets.add((random.nextBoolean() ? one : two).build(ByteBuffer.wrap(payload)));
        }
        return packets;
    }

    private static List<String> texts(List<Packet> packets) {
        return packets.stream().map(ExtraServicesTest::text).collect(Collectors.toList());
    }

    private static void send(AnepSender sender, List<Packet> packets) throws Exception {
        for (Packet packet : packets) {
            sender.send(packet);
        }
        sender.flush();
    }

    private void awaitAll(List<Packet> sent) {
        eventually().untilAsserted(() -> {
            List<String> missing = texts(sent);
            missing.removeAll(received);
            assertThat(missing).isEmpty();
        });
    }

    /** As an operator does, by the admin API. */
    private static void change(LiveNode node, String service, String operation, String arguments) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create(node.admin() + "/v1/services/org.example." + service + "/control/" + operation))
                .timeout(LiveNode.PATIENCE)
                .header("Authorization", "Bearer " + LiveNode.TOKEN)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(arguments))
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    private void assertFetched(LiveNode node, Class<? extends Service> type) {
        assertThat(node.versions(name(type))).containsExactly("1.0 running repository " + repository.url());
    }

    @Test
    void theNodesOwnServicesHaveNoneOfThem() throws Exception {
        Path source = Path.of(Monitor.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        if (Files.isDirectory(source)) {
            System.out.println("skipped: the jars are not built yet, their classes lie in one folder");
            return;
        }
        assertThat(entries(source)).noneMatch(entry -> entry.startsWith("org/tamanoir/services/extra/"));
        assertThat(entries(jar))
                .contains("org/tamanoir/services/NextService.class", "org/tamanoir/services/AddressPrefix.class")
                .doesNotContain("org/tamanoir/services/Monitor.class");
    }

    private static List<String> entries(Path jar) throws Exception {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream().map(JarEntry::getName).toList();
        }
    }

    @Test
    void packetsThatAreLostBetweenNodesComeBack() throws Exception {
        publish(Fec.class);
        publish(Defec.class);
        List<Packet> sent = packets(name(Fec.class), 400, 1200);
        String more = "limits: {udp-amplifiers: {org.example.Fec: 8}}\n"
                + "services: [{name: org.example.Fec, config: {data: 10, repair: 10, next: org.example.Defec}}]\n";
        try (LiveNode far = node("far", receiver.address(), true, "");
                LossyUdp between = new LossyUdp(far.udp(), 0.05, 0.02, 7);
                LiveNode near = node("near", between.address(), false, more);
                AnepSender sender = AnepSender.udp(near.udp())) {
            send(sender, sent);
            awaitAll(sent);
            assertThat(received).containsExactlyInAnyOrderElementsOf(texts(sent));
            assertThat(between.lost()).isPositive();
            assertFetched(near, Fec.class);
            assertFetched(far, Defec.class);
        }
    }

    /** 32 packets of 4 KB are got back by one datagram, which may cause 64 KiB. */
    @Test
    void whatANodeRefusesWasNotRecovered() throws Exception {
        publish(Defec.class);
        Random random = new Random(3);
        PacketBuilder builder = LiveSink.packets(Fec.class.getName()).stream(1);
        List<Packet> sent = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            byte[] payload = new byte[4000];
            random.nextBytes(payload);
            sent.add(builder.build(ByteBuffer.wrap(payload)));
        }
        Map<String, String> code = Map.of("data", "64", "repair", "32", "next", name(Defec.class));
        List<Packet> onTheWay = ServiceHarness.run(new Fec(), StreamInfo.Transport.UDP, code, sent)
                .packets();
        try (LiveNode far = node("far", receiver.address(), true, "limits: {udp-bytes: 64KiB}\n");
                AnepSender sender = AnepSender.udp(far.udp())) {
            send(sender, onTheWay.subList(32, 96));
            eventually()
                    .untilAsserted(() -> assertThat(
                                    far.node.environment().traffic().drops().get(DropReason.CONSUMED))
                            .isEqualTo(32));
            long recovered = count(far, "recovered");
            assertThat(recovered).isBetween(1L, 20L);
            assertThat(count(far, "recovered-refused")).isEqualTo(32 - recovered);
            far.assertConserved(64, Map.of(DropReason.CONSUMED, 32L, DropReason.AMPLIFICATION, 32 - recovered));
            eventually().until(() -> received.size() == 32 + recovered);
        }
    }

    /** A counter of Defec. */
    private static long count(LiveNode node, String counter) {
        JsonNode counters = node.service(name(Defec.class), "1.0").get("counters");
        return counters == null || !counters.has(counter)
                ? 0
                : counters.get(counter).asLong();
    }

    @Test
    void forwardErrorCorrectionNeedsTheOperatorsWordOverUdp() throws Exception {
        publish(Fec.class);
        try (LiveNode node = node("node", receiver.address(), true, "");
                AnepSender sender = AnepSender.udp(node.udp())) {
            send(sender, packets(name(Fec.class), 1, 100));
            node.assertConserved(1, Map.of(DropReason.AMPLIFICATION, 1L));
        }
    }

    @Test
    void nodesOfATreeFetchMulticastAndWhatIsLostBetweenThemComesBack() throws Exception {
        publish(Multicast.class);
        String amplifier = "limits: {udp-amplifiers: {org.example.Multicast: 4}}\n";
        String config = "services: [{name: org.example.Multicast, config: {service: org.example.Multicast, ";
        List<Packet> sent = packets(name(Multicast.class), 400, 1200);
        try (LossyLink down = new LossyLink(0.05, 1);
                LossyLink up = new LossyLink(0.05, 2)) {
            String deliver = "deliver: \"127.0.0.1:" + receiver.address().getPort() + "\"}}]\n";
            String upstream = "upstream: \"" + up.address() + "\", ";
            try (LiveNode leaf = node("leaf", null, amplifier + config + upstream + deliver);
                    LiveNode root =
                            node("root", null, amplifier + config + "branches: \"" + down.address() + "\"}}]\n");
                    AnepSender sender = AnepSender.udp(root.udp())) {
                down.to(leaf.udp());
                up.to(root.udp());
                send(sender, sent);
                awaitAll(sent);
                assertThat(received).containsExactlyInAnyOrderElementsOf(texts(sent));
                assertThat(down.lost()).isNotEmpty();
                assertFetched(root, Multicast.class);
                assertFetched(leaf, Multicast.class);
            }
        }
    }

    @Test
    void whatIsEncryptedBetweenNodesArrivesAlsoWhenTheKeyChanges() throws Exception {
        publish(Crypt.class);
        publish(Decrypt.class);
        Path keys = Files.writeString(folder.resolve("keys"), "1 00112233445566778899aabbccddeeff use\n");
        String near =
                "services: [{name: org.example.Crypt, config: {keys: " + keys + ", next: org.example.Decrypt}}]\n";
        String far = "services: [{name: org.example.Decrypt, config: {keys: " + keys + "}}]\n";
        List<Packet> sent = packets(name(Crypt.class), 400, 1200);
        try (LiveNode second = node("far", receiver.address(), true, far);
                LiveNode first = node("near", second.tcp(), false, near);
                AnepSender sender = AnepSender.tcp(first.tcp())) {
            send(sender, sent.subList(0, 200));
            awaitAll(sent.subList(0, 200));
            String key = "ffeeddccbbaa99887766554433221100";
            change(second, "Decrypt", "add", "{\"id\": 2, \"key\": \"" + key + "\"}");
            change(first, "Crypt", "add", "{\"id\": 2, \"key\": \"" + key + "\"}");
            change(first, "Crypt", "use", "{\"id\": 2}");
            send(sender, sent.subList(200, 400));
            awaitAll(sent);
            assertThat(received).containsExactlyElementsOf(texts(sent));
            assertFetched(first, Crypt.class);
            assertFetched(second, Decrypt.class);
            assertThat(first.text("/v1/services/org.example.Crypt/control")).doesNotContain(key);
        }
    }

    @Test
    void smallPacketsCrossTogetherAndArriveAsTheyWere() throws Exception {
        publish(Aggregate.class);
        publish(Split.class);
        String more = "services: [{name: org.example.Aggregate, config: {next: org.example.Split}}]\n";
        List<Packet> sent = packets(name(Aggregate.class), 2000, 60);
        try (LiveNode far = node("far", receiver.address(), true, "");
                LiveNode near = node("near", far.udp(), false, more);
                AnepSender sender = AnepSender.udp(near.udp())) {
            send(sender, sent);
            awaitAll(sent);
            for (String stream : List.of("1 ", "2 ")) {
                assertThat(received.stream().filter(text -> text.startsWith(stream)))
                        .containsExactlyElementsOf(texts(sent).stream()
                                .filter(text -> text.startsWith(stream))
                                .toList());
            }
            assertThat(far.node.environment().traffic().packetsIn()).isLessThan(sent.size() / 4);
            assertFetched(near, Aggregate.class);
            assertFetched(far, Split.class);
        }
    }

    /** Sound to linear samples and back, and through a program, which is there as long as its flow is. */
    @Test
    void soundIsTranscodedBetweenNodes() throws Exception {
        publish(Transcode.class);
        String law = "{from: ulaw, to: pcm, next: org.example.Transcode}";
        String back = "{from: pcm, to: ulaw}";
        List<Packet> sent = packets(name(Transcode.class), 400, 1200);
        sent.forEach(packet -> {
            ByteBuffer payload = packet.payload();
            for (int i = payload.position(); i < payload.limit(); i++) {
                payload.put(i, (byte) (payload.get(i) | 0x80)); // Each code means a value of its own.
            }
            packet.seal();
        });
        try (LiveNode far = node("far", receiver.address(), true, transcode(back));
                LiveNode near = node("near", far.tcp(), false, transcode(law));
                AnepSender sender = AnepSender.tcp(near.tcp())) {
            send(sender, sent);
            awaitAll(sent);
            assertThat(received).containsExactlyElementsOf(texts(sent));
            assertFetched(near, Transcode.class);
            assertFetched(far, Transcode.class);
        }
    }

    private static String transcode(String config) {
        return "services: [{name: org.example.Transcode, config: " + config + "}]\n";
    }

    @Test
    void aProgramOfTheOperatorsTranscodesAFlowOnANode() throws Exception {
        publish(Transcode.class);
        String program = "{mode: program, command: /bin/cat, max-payload: 65000}";
        byte[] bytes = new byte[200_000];
        new Random(9).nextBytes(bytes);
        try (LiveNode node = node("near", receiver.address(), true, transcode(program))) {
            try (AnepSender sender = AnepSender.tcp(node.tcp())) {
                PacketBuilder packets = LiveSink.packets(name(Transcode.class)).stream(1);
                for (int at = 0; at < bytes.length; at += 1000) {
                    sender.send(packets.build(ByteBuffer.wrap(bytes, at, 1000)));
                }
                sender.flush();
            }
            eventually()
                    .untilAsserted(() -> assertThat(received.stream()
                                    .mapToInt(text -> Integer.parseInt(text.split(" ")[3]))
                                    .sum())
                            .isEqualTo(bytes.length));
            eventually()
                    .untilAsserted(() -> assertThat(node.text("/v1/services/org.example.Transcode/control"))
                            .contains("\"processes\":0"));
        }
    }
}
