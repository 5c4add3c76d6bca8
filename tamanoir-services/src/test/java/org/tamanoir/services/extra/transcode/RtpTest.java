package org.tamanoir.services.extra.transcode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
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

class RtpTest {
    private static final int SSRC = 0xCAFE0001;

    private final PacketBuilder flow = Packets.full(Transcode.class.getName()).timestamps().stream(1);

    private ServiceHarness run(Map<String, String> config, List<byte[]> payloads) {
        Map<String, String> all = new java.util.HashMap<>(config);
        all.put("mode", "rtp");
        List<Packet> packets = payloads.stream()
                .map(payload -> flow.build(ByteBuffer.wrap(payload)))
                .toList();
        ServiceHarness harness = ServiceHarness.run(new Transcode(), Transport.UDP, all, packets);
        Packets.assertWellFormed(harness.packets());
        return harness;
    }

    private static List<byte[]> left(ServiceHarness harness) {
        return harness.packets().stream()
                .map(packet -> Packets.bytes(packet.payload()))
                .toList();
    }

    private static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits.replace(" ", ""));
    }

    private static byte[] rtp(int type, int sequence, long timestamp, int ssrc, byte[] media) {
        return ByteBuffer.allocate(12 + media.length)
                .put((byte) 0x80)
                .put((byte) type)
                .putShort((short) sequence)
                .putInt((int) timestamp)
                .putInt(ssrc)
                .put(media)
                .array();
    }

    private static byte[] media(byte[] rtp) {
        return Arrays.copyOfRange(rtp, 12, rtp.length);
    }

    private static long timestamp(byte[] rtp) {
        return ByteBuffer.wrap(rtp).getInt(4) & 0xFFFFFFFFL;
    }

    /** Decodes by the formulas of the CCITT's reference code, which differ from those of {@link G711}. */
    private static int value(String law, int code) {
        if (law.equals("ulaw")) {
            int plain = ~code & 0xFF;
            int value = ((plain & 0xF) << 3) + 0x84 << (plain >> 4 & 7);
            return (plain & 0x80) != 0 ? 0x84 - value : value - 0x84;
        }
        int plain = code ^ 0x55;
        int segment = plain >> 4 & 7;
        int steps = (plain & 0xF) << 4;
        int value = segment == 0 ? steps + 8 : steps + 0x108 << segment - 1;
        return (plain & 0x80) != 0 ? value : -value;
    }

    /** Codes by searching the segment, as the CCITT's reference code does. */
    private static int ulaw(int sample) {
        int magnitude = Math.min((Math.abs(sample) >> 2) + 33, 0x1FFF);
        int segment = 0;
        while (magnitude >= 0x40 << segment) {
            segment++;
        }
        return (segment << 4 | magnitude >> segment + 1 & 0xF) ^ (sample < 0 ? 0x7F : 0xFF);
    }

    /** Codes by comparing with all values, of which the nearest counts, the greater of two: A-law has no other intervals. */
    private static int alaw(int sample) {
        int best = 0;
        for (int code = 1; code < 256; code++) {
            int value = value("alaw", code);
            int nearer = Math.abs(value - sample) - Math.abs(value("alaw", best) - sample);
            best = nearer < 0 || nearer == 0 && value > value("alaw", best) ? code : best;
        }
        return best;
    }

    @ParameterizedTest
    @CsvSource({"ulaw, 0, alaw, 8", "alaw, 8, ulaw, 0"})
    void eachCodeBecomesThatOfTheOtherLaw(String from, int fromType, String to, int toType) {
        byte[] codes = new byte[256];
        for (int i = 0; i < codes.length; i++) {
            codes[i] = (byte) i;
        }
        byte[] out = left(run(Map.of("from", from, "to", to), List.of(rtp(fromType, 7, 1000, SSRC, codes))))
                .get(0);
        assertThat(Arrays.copyOf(out, 12)).isEqualTo(rtp(toType, 7, 1000, SSRC, new byte[0]));
        for (int code = 0; code < 256; code++) {
            int sample = value(from, code);
            assertThat(out[12 + code] & 0xFF)
                    .as("code %d", code)
                    .isEqualTo(to.equals("ulaw") ? ulaw(sample) : alaw(sample));
        }
    }

    /** Marker, two CSRCs and an extension of one word stay; three bytes of padding go. */
    @Test
    void theHeaderStaysAndPaddingGoes() {
        String tail = "1234 89ABCDEF CAFE0001 00000011 00000022 BEDE0001 10AA0000";
        List<byte[]> there = left(run(Map.of("to-type", "97"), List.of(hex("B2 80" + tail + "FF 00 80 000003"))));
        assertThat(there).containsExactly(hex("92 E1" + tail + "0000 8284 7D7C"));
        List<byte[]> back = left(run(Map.of("from", "pcm", "from-type", "97", "to", "ulaw"), there));
        assertThat(back).containsExactly(hex("92 80" + tail + "FF 00 80"));
        List<byte[]> alaw = left(run(Map.of("from", "pcm", "from-type", "97", "to", "alaw"), there));
        assertThat(alaw).containsExactly(hex("92 88" + tail + "D5 2A AA"));
    }

    private static List<byte[]> noise(int type, long firstTimestamp, int samples, int packets) {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < packets; i++) {
            byte[] media = Packets.noise(new Random(i), type == 96 ? 2 * samples : samples);
            all.add(rtp(type, 65_534 + i, firstTimestamp + (long) i * samples, SSRC, media));
        }
        return all;
    }

    private static Map<String, String> rates(int from, int to) {
        return Map.of("from", "pcm", "to", "pcm", "from-rate", "" + from, "to-rate", "" + to);
    }

    /** Each packet begins where the one before ended, over the end of 32 bits, and where packets cut the new clock's step. */
    @ParameterizedTest
    @CsvSource({
        "8000, 48000, 0xFFFFFF00, 160",
        "48000, 8000, 0xFFFFFF00, 161",
        "16000, 8000, 0x7FFFFE01, 101",
        "32000, 48000, 0x7FFFFE03, 99",
        "48000, 32000, 0xFFFFFE02, 7"
    })
    void timestampsGoOnByTheSamplesThatLeft(int from, int to, String first, int samples) {
        List<byte[]> out = left(run(rates(from, to), noise(96, Long.decode(first), samples, 100)));
        long due = timestamp(out.get(0));
        for (byte[] packet : out) {
            assertThat(timestamp(packet)).isEqualTo(due & 0xFFFFFFFFL);
            due += (packet.length - 12) / 2;
        }
        assertThat(out).hasSize(100);
        assertThat(out)
                .extracting(packet -> ByteBuffer.wrap(packet).getShort(2))
                .startsWith((short) -2, (short) -1, (short) 0);
    }

    @Test
    void timestampsAreScaledWhateverIsLostOrLate() {
        List<byte[]> in = noise(96, 3000, 100, 9);
        List<byte[]> out = left(run(rates(48_000, 32_000), List.of(in.get(0), in.get(5), in.get(2), in.get(2))));
        assertThat(out).extracting(RtpTest::timestamp).containsExactly(2000L, 2334L, 2134L, 2134L); // ⌈s · 2/3⌉
        assertThat(out).extracting(packet -> (packet.length - 12) / 2).containsExactly(67, 66, 66, 66);
    }

    @Test
    void timestampsFromBeforeTheFirstOneAreScaledToo() {
        byte[] media = new byte[320];
        List<byte[]> in = List.of(
                rtp(96, 3, 0, SSRC, media),
                rtp(96, 2, -160, SSRC, media),
                rtp(96, 1, -320, SSRC, media),
                rtp(96, 4, 160, SSRC, media));
        assertThat(left(run(rates(48_000, 8000), in)))
                .extracting(packet -> (int) timestamp(packet))
                .containsExactly(0, -26, -53, 27); // ⌈s / 6⌉
    }

    @Test
    void samplesAreThoseOfTheModeSound() {
        List<byte[]> in = noise(0, 0, 160, 10);
        ByteBuffer codes = ByteBuffer.allocate(1600);
        in.forEach(packet -> codes.put(media(packet)));
        byte[] sound = ServiceHarness.run(
                        new Transcode(), Transport.UDP, Map.of("to-rate", "48000"), List.of(flow.build(codes.flip())))
                .payloads();
        ByteBuffer joined = ByteBuffer.allocate(sound.length);
        left(run(Map.of("to-rate", "48000"), in)).forEach(packet -> joined.put(media(packet)));
        assertThat(joined.array()).isEqualTo(sound);
    }

    @Test
    void eachSourceHasAFilterAndAClockOfItsOwn() {
        List<byte[]> one = noise(0, 77, 160, 10);
        List<byte[]> mixed = new ArrayList<>();
        for (byte[] packet : one) {
            mixed.add(packet);
            mixed.add(rtp(0, 9, 0x90000000L, 5, media(one.get(3))));
        }
        List<byte[]> out = new ArrayList<>(left(run(Map.of("to-rate", "16000"), mixed)));
        out.removeIf(packet -> ByteBuffer.wrap(packet).getInt(8) == 5);
        assertThat(out).containsExactlyElementsOf(left(run(Map.of("to-rate", "16000"), one)));
    }

    /** A source that gave way begins anew: that it is beyond the 32nd bit is forgotten. */
    @ParameterizedTest
    @CsvSource({"2, 0x80000000", "1, 0"})
    void noMoreSourcesAreKeptThanFlows(String flows, String expected) {
        Map<String, String> config = new java.util.HashMap<>(rates(16_000, 8000));
        config.put("flows", flows);
        byte[] media = new byte[320];
        List<byte[]> out = left(run(
                config,
                List.of(rtp(96, 1, 0xFFFFFF60L, SSRC, media), rtp(96, 1, 0, 2, media), rtp(96, 2, 0, SSRC, media))));
        assertThat(timestamp(out.get(2))).isEqualTo(Long.decode(expected));
    }

    /** The reader of these has its own tests. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "800000",
                "80000001 00000000 000000",
                "C0000001 00000000 00000000 FF",
                "82000001 00000000 00000000 00000000",
                "90000001 00000000 00000000 BEDEFFFF",
                "A0000001 00000000 00000000 FF00"
            })
    void whatIsNoRtpIsDroppedOrPasses(String digits) {
        ServiceHarness dropped = run(Map.of(), List.of(hex(digits)));
        assertThat(dropped.drops()).containsExactly("not RTP");
        assertThat(dropped.count("unfit-packets")).isEqualTo(1);
        ServiceHarness passed = run(Map.of("failure", "pass"), List.of(hex(digits)));
        assertThat(left(passed)).containsExactly(hex(digits));
        assertThat(passed.count("unfit-packets")).isEqualTo(1);
    }

    /** STUN, ZRTP, DTLS and TURN, by their first octet. */
    @ParameterizedTest
    @ValueSource(strings = {"00", "0001 0000 2112A442", "10005052 5A3A", "16FEFD00", "40000001 00000000 00000000 FF"})
    void whatSharesThePortPasses(String digits) {
        ServiceHarness out = run(Map.of("to-rate", "16000"), List.of(hex(digits)));
        assertThat(left(out)).containsExactly(hex(digits));
        assertThat(out.count("other-protocols")).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 201, 202, 203, 204})
    void rtcpPasses(int type) {
        byte[] report = hex("81 00 0001 CAFE0001");
        report[1] = (byte) type;
        ServiceHarness out = run(Map.of("to-rate", "16000"), List.of(report));
        assertThat(left(out)).containsExactly(report);
        assertThat(out.count("rtcp-packets")).isEqualTo(1);
    }

    @Test
    void otherTypesPassWhereTheirClockIsStillRight() {
        List<byte[]> event = List.of(rtp(101, 3, 160, SSRC, hex("010A00A0")));
        ServiceHarness same = run(Map.of(), event);
        assertThat(left(same)).containsExactlyElementsOf(event);
        assertThat(same.count("other-types")).isEqualTo(1);
        assertThat(run(Map.of("to-rate", "16000"), event).drops()).containsExactly("payload type of another clock");
    }

    @Test
    void whatCannotBecomeOnePacketIsDropped() {
        assertThat(run(Map.of(), List.of(rtp(0, 1, 0, SSRC, new byte[40_000]))).drops())
                .containsExactly("becomes too long for a packet");
        assertThat(run(Map.of("from", "pcm", "to", "alaw"), List.of(rtp(96, 1, 0, SSRC, new byte[3])))
                        .drops())
                .containsExactly("half a sample");
    }

    @Test
    void aPacketWithoutSamplesStaysOne() {
        byte[] empty = rtp(0x80, 1, 80, SSRC, new byte[0]);
        assertThat(left(run(Map.of("to-rate", "16000"), List.of(empty))))
                .containsExactly(rtp(0x80 | 96, 1, 160, SSRC, new byte[0]));
    }

    @Test
    void settingsThatCannotBeAreRefused() {
        for (Map<String, String> config : List.of(
                Map.of("from-type", "0"),
                Map.of("from-rate", "16000"),
                Map.of("to-type", "95"),
                Map.of("to-type", "128"),
                Map.of("quality", "3"))) {
            assertThatThrownBy(() -> run(config, List.of()))
                    .as(config.toString())
                    .hasStackTraceContaining(config.keySet().iterator().next() + ": ");
        }
    }
}
