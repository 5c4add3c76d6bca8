package org.tamanoir.services.extra.transcode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Packets;
import org.tamanoir.testkit.ServiceHarness;

class FilmTest {
    private static final PacketBuilder FLOW = Packets.full(Transcode.class.getName());

    private static Map<String, String> config(String... more) {
        Map<String, String> config = new HashMap<>(Map.of("mode", "film"));
        for (int i = 0; i < more.length; i += 2) {
            config.put(more[i], more[i + 1]);
        }
        return config;
    }

    /** Packets of 500 bytes whose class is the picture's kind; bytes of the payload say which picture it is. */
    private static List<Packet> marked(String pictures) {
        List<Packet> packets = new ArrayList<>();
        for (int number = 0; number < pictures.length(); number++) {
            char kind = pictures.charAt(number);
            PacketBuilder builder =
                    Packets.full(Transcode.class.getName()).classOfService("IPB".indexOf(kind), 0).stream(9);
            for (int at = 0; at < Film.pictureBytes(kind); at += 500) {
                packets.add(builder.build(ByteBuffer.allocate(500).putInt(0, number)));
            }
        }
        return packets;
    }

    /** The kinds of pictures of which all packets are here, one behind the other; those of which some are, in brackets. */
    private static String pictures(List<Packet> packets, String all) {
        Map<Integer, Integer> bytes = new HashMap<>();
        packets.forEach(packet -> bytes.merge(packet.payload().getInt(), packet.payloadLength(), Integer::sum));
        StringBuilder text = new StringBuilder();
        for (int number = 0; number < all.length(); number++) {
            int came = bytes.getOrDefault(number, 0);
            if (came > 0) {
                boolean isWhole = came == Film.pictureBytes(all.charAt(number));
                text.append(isWhole ? "" : "(").append(all.charAt(number)).append(isWhole ? "" : ")");
            }
        }
        return text.toString();
    }

    @ParameterizedTest
    @CsvSource({
        // 4 kB of I, 6 kB of P and 6 kB of B: 16 kB a group, of which B go first, and P from the group's end.
        "100, IPBBPBBPBB",
        "80, IPPBBP",
        "63, IPPP",
        "50, IPP",
        "25, I",
        "5, I"
    })
    void theLeastImportantPicturesGoFirst(int percent, String kept) {
        String film = Film.GROUP.repeat(20);
        ServiceHarness out = ServiceHarness.run(
                new Transcode(), Transport.UDP, config("percent", Integer.toString(percent)), marked(film));
        String left = pictures(out.packets(), film);
        assertThat(left).doesNotContain("(");
        assertThat(count(left, 'I')).isEqualTo(20);
        assertThat(left).contains(kept + (percent == 80 ? "" : "I"));
        if (percent > 5 && percent < 100) {
            double part = out.payloads().length / (20.0 * 16_000) * 100;
            assertThat(part).isBetween(percent - 8.0, percent + 3.0);
        }
        assertThat(out.drops()).allMatch("less important picture"::equals);
        assertThat(out.packets().size() + out.drops().size()).isEqualTo(20 * 32);
    }

    private static long count(String text, char kind) {
        return text.chars().filter(c -> c == kind).count();
    }

    /** A P that is dropped takes all with it that is computed from it, up to the next I. */
    @ParameterizedTest
    @ValueSource(ints = {10, 30, 45, 55, 60, 70, 90})
    void nothingIsLeftThatIsComputedFromSomethingDropped(int percent) {
        Random random = new Random(percent);
        StringBuilder film = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            film.append(Film.GROUP, 0, 1 + random.nextInt(Film.GROUP.length()));
        }
        List<Packet> packets = marked(film.toString());
        ServiceHarness out = ServiceHarness.run(
                new Transcode(), Transport.UDP, config("percent", Integer.toString(percent)), packets);
        assertThat(count(pictures(out.packets(), film.toString()), 'I')).isEqualTo(60);
        boolean[] isLeft = new boolean[film.length()];
        out.packets().forEach(packet -> isLeft[packet.payload().getInt()] = true);
        boolean isChainWhole = true;
        boolean isReferenceBeforeWhole = true;
        for (int i = 0; i < film.length(); i++) {
            switch (film.charAt(i)) {
                case 'I' -> {
                    isReferenceBeforeWhole = isChainWhole;
                    isChainWhole = true;
                }
                case 'P' -> {
                    assertThat(isLeft[i] && !isChainWhole).as("P " + i).isFalse();
                    isChainWhole &= isLeft[i];
                    isReferenceBeforeWhole = isChainWhole;
                }
                default ->
                    assertThat(isLeft[i] && !(isChainWhole && isReferenceBeforeWhole))
                            .as("B " + i)
                            .isFalse();
            }
        }
    }

    @Test
    void aRateIsKeptInBytesASecond() {
        String film = Film.GROUP.repeat(50);
        long kept = 0;
        try (ServiceHarness harness = ServiceHarness.start(new Transcode(), Transport.UDP, config("rate-kbit", "80"))) {
            for (Packet packet : marked(film)) { // 32 packets, 16 kB, a second
                harness.send(packet).advance(Duration.ofNanos(31_250_000));
            }
            kept = harness.payloads().length;
            assertThat(count(pictures(harness.packets(), film), 'I')).isEqualTo(50);
        }
        assertThat(kept).isBetween(50 * 9000L, 50 * 11_000L);
    }

    @Test
    void classesAreThoseThatAreNamed() {
        List<Packet> other = List.of(
                Packets.full(Transcode.class.getName()).classOfService(7, 0).build(ByteBuffer.allocate(9)));
        List<Packet> packets = new ArrayList<>(marked("IB".repeat(10)));
        packets.addAll(other);
        ServiceHarness out = ServiceHarness.run(
                new Transcode(), Transport.UDP, config("percent", "50", "class-i", "2", "class-b", "0"), packets);
        assertThat(out.packets().stream().filter(packet -> packet.classOfService() == 2))
                .hasSize(20);
        assertThat(out.packets().stream().filter(packet -> packet.classOfService() == 0))
                .hasSizeLessThan(80);
        assertThat(out.packets().stream().filter(packet -> packet.classOfService() == 7))
                .hasSize(1);
    }

    private static byte[] film(String kinds, String pictures, long seed) {
        return kinds.equals("mpeg2") ? Film.mpeg2(pictures, new Random(seed)) : Film.h264(pictures, new Random(seed));
    }

    /** Each picture's bytes are those of a seed of its own, so what is left can be made anew and compared. */
    private static byte[] joined(String kinds, String pictures, boolean[] isLeft) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (int i = 0; i < pictures.length(); i++) {
            byte[] one = film(kinds, pictures.substring(i, i + 1), i);
            int end = kinds.equals("mpeg2") ? one.length - 4 : one.length; // Without the end of the sequence.
            if (isLeft[i]) {
                joined.write(one, 0, end);
            }
        }
        return joined.toByteArray();
    }

    @ParameterizedTest
    @CsvSource({"mpeg2,TCP,500", "mpeg2,UDP,7", "mpeg2,TCP,7000", "h264,TCP,500", "h264,UDP,7", "h264,TCP,7000"})
    void picturesOfAStreamAreCutOutToTheByte(String syntax, Transport transport, int payloadBytes) {
        String film = Film.GROUP.repeat(6);
        boolean[] all = new boolean[film.length()];
        Arrays.fill(all, true);
        byte[] whole = joined(syntax, film, all);
        List<Packet> packets = Packets.cut(FLOW, whole, payloadBytes);
        ServiceHarness same = ServiceHarness.run(new Transcode(), transport, config("kinds", syntax), packets);
        assertThat(Arrays.equals(same.payloads(), whole)).isTrue();
        assertThat(same.drops()).isEmpty();
        ServiceHarness half =
                ServiceHarness.run(new Transcode(), transport, config("kinds", syntax, "percent", "50"), packets);
        boolean[] left = new boolean[film.length()];
        StringBuilder kinds = new StringBuilder();
        for (int i = 0; i < left.length; i++) {
            left[i] = isIn(half.payloads(), syntax, film, i);
            kinds.append(left[i] ? film.substring(i, i + 1) : "");
        }
        assertThat(Arrays.equals(half.payloads(), joined(syntax, film, left)))
                .as("nothing but pictures is missing")
                .isTrue();
        // All of the first group, of which nothing is known yet, but for B; then what makes up for that, and half.
        assertThat(kinds).hasToString("IPPPIPIPPIPPIPPIPP");
        Packets.assertWellFormed(half.packets());
    }

    /** Whether this picture's bytes are there. */
    private static boolean isIn(byte[] left, String syntax, String film, int number) {
        byte[] one = film(syntax, film.substring(number, number + 1), number);
        byte[] part = Arrays.copyOf(one, 450);
        return new String(left, StandardCharsets.ISO_8859_1).contains(new String(part, StandardCharsets.ISO_8859_1));
    }

    @Test
    void zerosAtTheEndOfAStreamAreNotLost() {
        byte[] bytes = {0, 0, 1, (byte) 0xB3, 5, 0, 0};
        ServiceHarness out = ServiceHarness.run(
                new Transcode(), Transport.TCP, config("kinds", "mpeg2"), Packets.cut(FLOW, bytes, 1));
        assertThat(out.payloads()).isEqualTo(bytes);
        assertThat(out.drops()).isEmpty();
        Packets.assertWellFormed(out.packets());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mpeg2", "h264"})
    void noiseIsNoFault(String kinds) {
        byte[] noise = new byte[100_000];
        Random random = new Random(1);
        for (int i = 0; i < noise.length; i++) {
            noise[i] = (byte) random.nextInt(3);
        }
        ServiceHarness out = ServiceHarness.run(
                new Transcode(),
                Transport.TCP,
                config("kinds", kinds, "percent", "50"),
                Packets.cut(FLOW, noise, random, 100));
        Packets.assertWellFormed(out.packets());
        assertThat(out.payloads().length).isLessThanOrEqualTo(noise.length);
    }

    @Test
    void settingsThatContradictEachOtherAreRefused() {
        for (Map<String, String> config :
                List.of(config("percent", "50", "rate-kbit", "100"), config("class-p", "0"), config("percent", "0"))) {
            assertThatThrownBy(() -> ServiceHarness.run(new Transcode(), Transport.UDP, config, List.of()))
                    .as(config.toString())
                    .hasStackTraceContaining(config.containsKey("class-p") ? "class-i, class-p" : "percent: ");
        }
    }
}
