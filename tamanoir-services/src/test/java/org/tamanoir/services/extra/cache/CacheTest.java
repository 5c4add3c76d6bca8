package org.tamanoir.services.extra.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.Packets;
import org.tamanoir.testkit.Output;
import org.tamanoir.testkit.ServiceHarness;

class CacheTest {
    private static final String CACHE = "org.tamanoir.services.extra.cache.Cache";
    private static final String ORIGIN = "10.0.2.7";
    private static final int FILL = 4000;

    private ServiceHarness cache = start(Map.of());

    private static ServiceHarness start(Map<String, String> config) {
        return ServiceHarness.start(new Cache(), Transport.UDP, config);
    }

    private ServiceHarness restart(Map<String, String> config) {
        cache.close();
        cache = start(config);
        return cache;
    }

    @AfterEach
    void close() {
        cache.close();
    }

    private static PacketBuilder from(String source) {
        return Packets.full(CACHE).source(Packets.address(source)).destination(Packets.address(ORIGIN));
    }

    private static Packet request(String source, long id, String key) {
        return request(source, id, key, FILL);
    }

    /** With room for answers: filled up. */
    private static Packet request(String source, long id, String key, int fill) {
        ByteBuffer payload = ByteBuffer.allocate(CacheHeader.BYTES + key.length() + fill);
        CacheHeader.write(payload, CacheHeader.REQUEST, key.length(), 0, id);
        payload.put(key.getBytes(StandardCharsets.US_ASCII));
        return from(source).build(payload.clear());
    }

    /** The last packet that left, which is a question to the origin. */
    private Packet asked() {
        Output last = cache.outputs().get(cache.outputs().size() - 1);
        assertThat(last.verdict()).isEqualTo(Verdict.FORWARD);
        assertThat(last.emitted()).isFalse();
        return last.packet();
    }

    /** What an origin says: the question with its ends swapped, the service that it names, and another payload. */
    private static Packet answer(Packet question, int kind, long ttlMs, String value) {
        ByteBuffer asked = question.payload();
        int keyBytes = CacheHeader.keyBytes(asked);
        byte[] key = new byte[keyBytes];
        asked.get(asked.position() + CacheHeader.BYTES, key);
        ByteBuffer payload = ByteBuffer.allocate(CacheHeader.BYTES + keyBytes + value.length());
        CacheHeader.write(payload, kind, keyBytes, ttlMs, CacheHeader.id(asked));
        payload.put(key).put(value.getBytes(StandardCharsets.US_ASCII));
        Packet packet = PacketBuilder.like(question)
                .serviceKey(asked.getLong(asked.position() + CacheHeader.REPLY_KEY_AT))
                .build(payload.flip());
        assertThat(packet.swapEnds()).isTrue();
        return packet;
    }

    private void give(String key, long ttlMs, String value) {
        cache.send(request("10.0.1.2", 1, key));
        cache.send(answer(asked(), CacheHeader.VALUE, ttlMs, value));
    }

    /** Kind, id, value and receiver of what left. */
    private static String text(Packet packet) {
        ByteBuffer payload = packet.payload();
        int keyBytes = CacheHeader.keyBytes(payload);
        assertThat(packet.serviceKey()).isEqualTo(ServiceKey.NONE);
        assertThat(packet.source()).isEqualTo(Packets.address(ORIGIN));
        return CacheHeader.kind(packet) + " " + CacheHeader.id(payload) + " "
                + StandardCharsets.US_ASCII.decode(payload.slice().position(CacheHeader.BYTES + keyBytes)) + " "
                + String.valueOf(packet.destination()).substring(1);
    }

    private List<String> replies() {
        return cache.outputs().stream()
                .filter(output -> output.verdict() == Verdict.REPLY)
                .map(output -> text(output.packet()))
                .toList();
    }

    private List<String> sent() {
        return cache.emitted().stream().map(CacheTest::text).toList();
    }

    @Test
    void oneQuestionServesAllWhoWaitAndThoseWhoComeLater() {
        cache.send(request("10.0.1.2", 11, "k"));
        Packet question = asked();
        cache.send(request("10.0.1.3", 12, "k")).send(request("10.0.1.2", 13, "k"));
        assertThat(cache.outputs()).hasSize(1);
        assertThat(CacheHeader.id(question.payload())).isNotEqualTo(11);
        assertThat(question.serviceKey()).isEqualTo(ServiceKey.NONE);
        cache.send(answer(question, CacheHeader.VALUE, 1000, "value"));
        assertThat(sent()).containsExactly("2 11 value 10.0.1.2", "2 12 value 10.0.1.3", "2 13 value 10.0.1.2");
        cache.send(request("10.0.1.4", 14, "k"));
        assertThat(replies()).containsExactly("2 14 value 10.0.1.4");
        assertThat(cache.count("misses")).isEqualTo(1);
        assertThat(cache.count("joined")).isEqualTo(2);
        assertThat(cache.count("hits")).isEqualTo(1);
        Packets.assertWellFormed(cache.packets());
    }

    @Test
    void whatNobodyAskedForIsNotKept() {
        cache.send(request("10.0.1.2", 1, "k"));
        Packet good = answer(asked(), CacheHeader.VALUE, 1000, "good");
        List<Packet> forged = new ArrayList<>();
        for (int octet = CacheHeader.ID_AT; octet < CacheHeader.ID_AT + 8; octet++) {
            forged.add(with(good, octet, 1));
        }
        forged.add(with(good, CacheHeader.BYTES, 1)); // Another key.
        forged.add(PacketBuilder.like(good).source(Packets.address("10.0.2.8")).build(good.payload()));
        cache.send(forged);
        assertThat(cache.drops()).hasSize(10).containsOnly("answer to no question of this node");
        cache.send(good).send(good);
        assertThat(cache.drops()).hasSize(11);
        assertThat(sent()).containsExactly("2 1 good 10.0.1.2");
    }

    private static Packet with(Packet packet, int at, int difference) {
        Packet copy = packet.copy();
        ByteBuffer payload = copy.payload();
        payload.put(payload.position() + at, (byte) (payload.get(payload.position() + at) + difference));
        copy.seal();
        return copy;
    }

    @Test
    void objectsOfOtherOriginsAndPortsAreOthers() {
        give("k", 1000, "value");
        ByteBuffer same = request("10.0.1.2", 5, "k").payload();
        cache.send(from("10.0.1.2").destination(Packets.address("10.0.2.8")).build(same.duplicate()));
        cache.send(from("10.0.1.2").destinationPort(9).build(same.duplicate()));
        assertThat(cache.count("misses")).isEqualTo(3);
        cache.send(request("10.0.1.2", 5, "k")).send(request("10.0.1.2", 5, "kk"));
        assertThat(cache.count("hits")).isEqualTo(1);
        assertThat(cache.count("misses")).isEqualTo(4);
    }

    @Test
    void objectsEndWithTheirTimeAndSoDoesThatThereIsNone() {
        restart(Map.of("max-nothing-ttl-s", "1"));
        give("k", 3000, "value");
        cache.send(request("10.0.1.2", 2, "none"));
        cache.send(answer(asked(), CacheHeader.NOTHING, 60_000, ""));
        cache.advance(Duration.ofMillis(500));
        cache.send(request("10.0.1.2", 3, "k")).send(request("10.0.1.2", 4, "none"));
        assertThat(replies()).containsExactly("2 3 value 10.0.1.2", "3 4  10.0.1.2");
        ByteBuffer reply =
                cache.outputs().get(cache.outputs().size() - 2).packet().payload();
        assertThat(CacheHeader.number(reply)).as("ms left").isEqualTo(2500);
        cache.advance(Duration.ofMillis(500)).send(request("10.0.1.2", 5, "none"));
        cache.advance(Duration.ofMillis(2000)).send(request("10.0.1.2", 6, "k"));
        assertThat(cache.count("hits")).isEqualTo(2);
        assertThat(cache.count("misses")).isEqualTo(4);
    }

    @Test
    void whatMayNotBeKeptIsPassedOn() {
        give("k", 0, "now");
        give("k", 0, "then");
        assertThat(sent()).containsExactly("2 1 now 10.0.1.2", "2 1 then 10.0.1.2");
        assertThat(cache.count("kept")).isZero();
    }

    @Test
    void anObjectThatIsTooLargeIsPassedOnAndNotKept() {
        restart(Map.of("max-object", "1000"));
        give("k", 1000, "v".repeat(1001));
        assertThat(cache.count("too-large")).isEqualTo(1);
        give("k", 1000, "v".repeat(1000));
        assertThat(cache.count("kept")).isEqualTo(1);
        assertThat(sent()).hasSize(2).allMatch(text -> text.startsWith("2 1 vvv"));
    }

    @Test
    void anOriginThatDoesNotAnswerIsToldAndAskedAnew() {
        restart(Map.of("timeout-ms", "100"));
        cache.send(request("10.0.1.2", 1, "k"));
        Packet late = answer(asked(), CacheHeader.VALUE, 1000, "late");
        cache.advance(Duration.ofMillis(60)).send(request("10.0.1.3", 2, "k"));
        cache.advance(Duration.ofMillis(40));
        assertThat(sent()).containsExactly("4 1  10.0.1.2", "4 2  10.0.1.3");
        assertThat(cache.count("timeouts")).isEqualTo(1);
        cache.send(late);
        assertThat(cache.drops()).containsExactly("answer to no question of this node");
        give("k", 1000, "again");
        assertThat(sent()).hasSize(3).last().isEqualTo("2 1 again 10.0.1.2");
    }

    /** At the default factor of 3, IP and UDP headers counted. */
    @Test
    void aRequestThatIsShortIsToldHowLongItMustBe() {
        String value = "v".repeat(1000);
        cache.send(request("10.0.1.2", 1, "k", 0));
        int shortBytes = asked().length();
        cache.send(answer(asked(), CacheHeader.VALUE, 1000, value));
        cache.send(request("10.0.1.2", 2, "k", 0));
        assertThat(sent()).containsExactly("5 1  10.0.1.2");
        assertThat(replies()).containsExactly("5 2  10.0.1.2");
        int wanted = (int) CacheHeader.number(cache.emitted().get(0).payload());
        assertThat(CacheHeader.number(cache.outputs().get(2).packet().payload()))
                .isEqualTo(wanted);
        cache.send(request("10.0.1.2", 3, "k", wanted - shortBytes - 1));
        cache.send(request("10.0.1.2", 4, "k", wanted - shortBytes));
        assertThat(replies().subList(1, 3)).containsExactly("5 3  10.0.1.2", "2 4 " + value + " 10.0.1.2");
    }

    @Test
    void requestsGoOnAsTheyCameWhereTooManyWait() {
        restart(Map.of("questions", "2", "waiting", "3"));
        cache.send(request("10.0.1.2", 1, "a")).send(request("10.0.1.2", 2, "b"));
        cache.send(request("10.0.1.2", 3, "c"));
        assertThat(CacheHeader.id(asked().payload())).isEqualTo(3);
        cache.send(request("10.0.1.2", 4, "a")).send(request("10.0.1.2", 5, "a"));
        assertThat(CacheHeader.id(asked().payload())).isEqualTo(5);
        assertThat(cache.count("passed")).isEqualTo(2);
        assertThat(cache.count("joined")).isEqualTo(1);
        cache.advance(Duration.ofSeconds(2)).send(request("10.0.1.2", 6, "c"));
        assertThat(cache.count("misses")).as("there is room again").isEqualTo(3);
    }

    @Test
    void overTcpRequestsGoOnAsTheyCame() {
        Packet request = request("10.0.1.2", 1, "k");
        ServiceHarness tcp = ServiceHarness.run(new Cache(), Transport.TCP, Map.of(), List.of(request));
        assertThat(tcp.packets()).hasSize(1);
        assertThat(tcp.packets().get(0).payload()).isEqualTo(request.payload());
    }

    @Test
    void whatIsPurgedIsAskedForAnewAlsoWhileItIsOnItsWay() {
        give("a", 1000, "1");
        give("b", 1000, "1");
        cache.send(request("10.0.1.2", 1, "c"));
        Packet old = answer(asked(), CacheHeader.VALUE, 1000, "1");
        assertThat(purge("a")).isEqualTo(Map.of("forgotten", 1L));
        assertThat(purge("c")).isEqualTo(Map.of("forgotten", 0L));
        cache.send(old);
        assertThat(cache.control().view()).containsEntry("objects", 1L).containsEntry("bytes", 256L);
        assertThat(cache.control().change("clear", Map.of())).isEqualTo(Map.of("forgotten", 1L));
        assertThat(cache.control().view()).containsEntry("objects", 0L).containsEntry("bytes", 0L);
        assertThatThrownBy(() -> cache.control().change("purge", Map.of("origin", "localhost", "key", "a")))
                .hasMessage("origin: localhost must be an address, as 10.0.9.1");
        assertThatThrownBy(() -> cache.control().change("purge", Map.of("origin", "127.1", "key", "a")))
                .hasMessageContaining("2 of 4 octets, 2 lack");
        assertThatThrownBy(() -> cache.control().change("purge", Map.of("origin", "dead.beef", "key", "a")))
                .hasMessage("origin: dead.beef must be an address, as 10.0.9.1"); // And no name that is looked up.
        assertThatThrownBy(() -> cache.control().change("purge", Map.of("origin", ORIGIN)))
                .hasMessage("key: has 0 octets of UTF-8, must have 1 to 255");
    }

    private Map<String, Object> purge(String key) {
        return cache.control().change("purge", Map.of("origin", ORIGIN, "key", key));
    }

    @Test
    void damagedPacketsEndByNameAndNothingThrows() {
        Random random = new Random(6);
        give("k", 100_000, "value");
        cache.send(request("10.0.1.2", 2, "asked"));
        List<Packet> good =
                List.of(request("10.0.1.2", 3, "k", 20), answer(asked(), CacheHeader.VALUE, 1000, "v"), asked());
        List<Packet> damaged = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            Packet packet = good.get(random.nextInt(good.size()));
            ByteBuffer content = ByteBuffer.wrap(Packets.bytes(packet.payload()));
            for (int octets = random.nextInt(3); octets >= 0; octets--) {
                content.put(random.nextInt(content.limit()), (byte) random.nextInt(256));
            }
            content.limit(random.nextInt(content.limit() + 1));
            damaged.add(PacketBuilder.like(packet).build(content));
        }
        cache.send(damaged);
        long in = 20_003;
        assertThat(cache.consumed()
                        + cache.drops().size()
                        + cache.outputs().size()
                        - cache.emitted().size())
                .isEqualTo(in);
    }

    @Test
    void itRunsWithWhatANodeShowsToIt() {
        cache.close();
        cache = ServiceHarness.startAsDeployed(Cache.class, Transport.UDP, Map.of());
        give("k", 1000, "value");
        cache.send(request("10.0.1.4", 14, "k"));
        assertThat(replies()).containsExactly("2 14 value 10.0.1.4");
    }
}
