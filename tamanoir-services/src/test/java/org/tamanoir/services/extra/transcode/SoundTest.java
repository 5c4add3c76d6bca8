package org.tamanoir.services.extra.transcode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Packets;
import org.tamanoir.testkit.ServiceHarness;

class SoundTest {
    private static PacketBuilder flow(int stream) {
        return Packets.full(Transcode.class.getName()).timestamps().stream(stream);
    }

    private static ServiceHarness run(Map<String, String> config, List<Packet> packets) {
        return ServiceHarness.run(new Transcode(), Transport.UDP, config, packets);
    }

    private static byte[] allCodes() {
        byte[] codes = new byte[256];
        for (int i = 0; i < codes.length; i++) {
            codes[i] = (byte) i;
        }
        return codes;
    }

    @ParameterizedTest
    @ValueSource(strings = {"ulaw", "alaw"})
    void allCodesBecomeSamplesAndTheseTheCodesAgain(String law) {
        ServiceHarness there = run(Map.of("from", law), List.of(flow(1).build(ByteBuffer.wrap(allCodes()))));
        assertThat(there.payloads()).hasSize(512);
        ServiceHarness back = run(Map.of("from", "pcm", "to", law), there.packets());
        byte[] expected = allCodes();
        if (law.equals("ulaw")) {
            expected[0x7F] = (byte) 0xFF; // Two codes mean zero.
        }
        assertThat(back.payloads()).isEqualTo(expected);
        assertThat(back.packets().get(0).serviceKey()).isEqualTo(ServiceKey.NONE);
        Packets.assertWellFormed(back.packets());
    }

    @Test
    void samplesAreInNetworkOrder() {
        ServiceHarness out = run(Map.of(), List.of(flow(1).build(ByteBuffer.wrap(new byte[] {0x00, (byte) 0xFF}))));
        assertThat(out.payloads()).containsExactly(-32124 >> 8, -32124 & 0xFF, 0, 0);
    }

    /** The filters of flows that come in turns know nothing of each other. */
    @Test
    void eachFlowHasAFilterOfItsOwn() {
        Map<String, String> config = Map.of("to-rate", "48000");
        byte[] one = Packets.noise(new Random(1), 1600);
        byte[] two = Packets.noise(new Random(2), 1600);
        byte[] alone = run(config, List.of(flow(1).build(ByteBuffer.wrap(one)))).payloads();
        PacketBuilder first = flow(1);
        PacketBuilder second = flow(2);
        try (ServiceHarness harness = ServiceHarness.start(new Transcode(), Transport.UDP, config)) {
            for (int at = 0; at < 1600; at += 160) {
                harness.send(first.build(ByteBuffer.wrap(one, at, 160)));
                harness.send(second.build(ByteBuffer.wrap(two, at, 160)));
            }
            ByteBuffer joined = ByteBuffer.allocate(alone.length);
            harness.packets().stream()
                    .filter(packet -> packet.streamId() == 1)
                    .forEach(packet -> joined.put(packet.payload()));
            assertThat(joined.array()).isEqualTo(alone);
        }
    }

    @Test
    void aToneCrossesBothWays() {
        int[] tone = new int[8000];
        ByteBuffer samples = ByteBuffer.allocate(16_000);
        for (int i = 0; i < tone.length; i++) {
            samples.putShort((short) Math.rint(16_000 * Math.sin(2 * Math.PI * 440 * i / 8000)));
        }
        List<Packet> packets = Packets.cut(flow(1), samples.array(), 320);
        Map<String, String> up = Map.of("from", "pcm", "to", "pcm", "from-rate", "8000", "to-rate", "48000");
        Map<String, String> down = Map.of("from", "pcm", "to", "pcm", "from-rate", "48000", "to-rate", "8000");
        ByteBuffer back = ByteBuffer.wrap(run(down, run(up, packets).packets()).payloads());
        assertThat(back.remaining()).isEqualTo(16_000);
        int delay = delay(samples, back);
        assertThat(delay).isBetween(62, 65); // Twice 4 ms.
        for (int i = 1000; i < 7900; i++) {
            assertThat((int) back.getShort(2 * (i + delay))).isCloseTo(samples.getShort(2 * i), Offset.offset(1000));
        }
    }

    private static int delay(ByteBuffer one, ByteBuffer later) {
        int best = 0;
        long least = Long.MAX_VALUE;
        for (int delay = 56; delay < 72; delay++) {
            long sum = 0;
            for (int i = 1000; i < 3000; i++) {
                sum += Math.abs(later.getShort(2 * (i + delay)) - one.getShort(2 * i));
            }
            if (sum < least) {
                least = sum;
                best = delay;
            }
        }
        return best;
    }

    @Test
    void whatBecomesTooLongLeavesInSeveralPackets() {
        byte[] codes = Packets.noise(new Random(4), 20_000);
        ServiceHarness out = run(Map.of("to-rate", "48000"), List.of(flow(1).build(ByteBuffer.wrap(codes))));
        assertThat(out.payloads()).hasSize(20_000 * 2 * 6);
        assertThat(out.packets()).hasSize(4);
        Packets.assertWellFormed(out.packets());
        ServiceHarness cut = run(Map.of("to-rate", "48000"), Packets.cut(flow(1), codes, 160));
        assertThat(out.payloads()).isEqualTo(cut.payloads());
    }

    @Test
    void halfASampleIsDropped() {
        ServiceHarness out = run(Map.of("from", "pcm", "to", "alaw"), List.of(flow(1).build(ByteBuffer.allocate(3))));
        assertThat(out.drops()).containsExactly("half a sample");
    }

    @Test
    void settingsThatCannotBeAreRefused() {
        for (Map<String, String> config : List.of(
                Map.of("from-rate", "44100"),
                Map.of("to-rate", "96000"),
                Map.of("from", "mp3"),
                Map.of("quality", "3"))) {
            assertThatThrownBy(() -> run(config, List.of()))
                    .as(config.toString())
                    .hasStackTraceContaining(config.keySet().iterator().next() + ": ");
        }
    }
}
