package org.tamanoir.benchmarks.emulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

/** Random captures in pcap and pcapng: what was written into them comes out, and damaged ones end with one line. */
@Tag("once")
class CaptureFuzzTest {
    private static final int[] LINKS = {1, 101, 113, 276, 228, 220, 147};
    private static final int[] LENGTHS = {60, 1514, 65_535, 65_536, 500_000};

    private final List<String> expected = new ArrayList<>();
    private long firstNs = -1;
    private long leftOut;

    @Test
    void whatWasWrittenComesOutAndDamageEndsWithOneLine() throws IOException {
        for (long seed : Seeds.ofCommit(CaptureFuzzTest.class, 300)) {
            Random random = new Random(seed);
            expected.clear();
            firstNs = -1;
            leftOut = 0;
            byte[] whole = random.nextBoolean() ? pcap(random) : pcapng(random);

            CaptureTrace trace = new CaptureTrace(new ByteArrayInputStream(whole), "fuzz");
            assertThat(arrivals(trace)).as("seed %d", seed).isEqualTo(expected);
            assertThat(trace.leftOut()).as("seed %d", seed).isEqualTo(leftOut);

            for (int i = 0; i < 20; i++) {
                byte[] damaged =
                        Arrays.copyOf(whole, random.nextInt(4) == 0 ? random.nextInt(whole.length) : whole.length);
                for (int change = random.nextInt(4); change > 0 && damaged.length > 0; change--) {
                    damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
                }
                try {
                    arrivals(new CaptureTrace(new ByteArrayInputStream(damaged), "fuzz"));
                } catch (IOException e) {
                    assertThat(e.getMessage())
                            .as("seed %d", seed)
                            .startsWith("fuzz")
                            .doesNotContain("\n");
                }
            }
        }
    }

    private static List<String> arrivals(CaptureTrace trace) throws IOException {
        List<String> all = new ArrayList<>();
        Arrival arrival = new Arrival();
        while (trace.next(arrival)) {
            all.add("%d %d %x".formatted(arrival.ns, arrival.bytes, arrival.low));
        }
        return all;
    }

    private static ByteOrder order(Random random) {
        return random.nextBoolean() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    }

    private static byte[] written(ByteBuffer file) {
        return Arrays.copyOf(file.array(), file.position());
    }

    private byte[] pcap(Random random) {
        boolean nanoseconds = random.nextBoolean();
        int link = LINKS[random.nextInt(5)];
        ByteBuffer file = ByteBuffer.allocate(1 << 14).order(order(random));
        file.putInt(nanoseconds ? 0xA1B23C4D : 0xA1B2C3D4).putShort((short) 2).putShort((short) 4);
        file.putLong(0).putInt(262_144).putInt(link);
        long units = random.nextInt(1000);
        for (int i = random.nextInt(12); i > 0; i--) {
            units += random.nextInt(3_000_000);
            int perSecond = nanoseconds ? 1_000_000_000 : 1_000_000;
            byte[] frame = frame(random, link, units * (nanoseconds ? 1 : 1000), LENGTHS[random.nextInt(5)]);
            file.putInt((int) (units / perSecond)).putInt((int) (units % perSecond));
            file.putInt(frame.length).putInt(lastLength).put(frame);
        }
        return written(file);
    }

    private byte[] pcapng(Random random) {
        ByteBuffer file = ByteBuffer.allocate(1 << 15).order(order(random));
        long us = random.nextInt(1000);
        for (int section = random.nextInt(2); section >= 0; section--) {
            ByteBuffer head =
                    room(file).putInt(0x1A2B3C4D).putInt(1 << (file.order() == ByteOrder.BIG_ENDIAN ? 16 : 0));
            block(file, 0x0A0D0D0A, written(head.putLong(-1)));
            int interfaces = 1 + random.nextInt(4);
            int[] links = new int[interfaces];
            boolean[] foreign = new boolean[interfaces];
            boolean[] nanoseconds = new boolean[interfaces];
            for (int i = 0; i < interfaces; i++) {
                links[i] = LINKS[random.nextInt(LINKS.length)];
                foreign[i] = links[i] == 220 || links[i] == 147;
                nanoseconds[i] = random.nextBoolean();
                ByteBuffer body = room(file)
                        .putShort((short) links[i])
                        .putShort((short) 0)
                        .putInt(0);
                if (nanoseconds[i]) {
                    int resolution = foreign[i] ? random.nextInt() : 9;
                    body.putShort((short) 9).putShort((short) 1).put((byte) resolution);
                    body.put(new byte[3]);
                }
                block(file, 1, written(body));
            }
            for (int i = random.nextInt(12); i > 0; i--) {
                int by = random.nextInt(interfaces);
                us += foreign[by] ? 0 : random.nextInt(3_000_000);
                long units = foreign[by] ? random.nextLong() : nanoseconds[by] ? us * 1000 : us;
                byte[] frame = frame(random, links[by], us * 1000, LENGTHS[random.nextInt(5)]);
                boolean old = random.nextInt(4) == 0;
                ByteBuffer body = room(file);
                body = old ? body.putShort((short) by).putShort((short) 9) : body.putInt(by);
                body.putInt((int) (units >>> 32))
                        .putInt((int) units)
                        .putInt(foreign[by] ? random.nextInt() : frame.length)
                        .putInt(lastLength);
                block(file, old ? 2 : 6, written(body.put(frame)));
                if (random.nextInt(5) == 0) {
                    block(file, 5, new byte[random.nextInt(9)]);
                }
            }
        }
        return written(file);
    }

    private int lastLength;

    /** Makes a frame, and notes what has to come of it. */
    private byte[] frame(Random random, int link, long ns, int length) {
        firstNs = firstNs < 0 && link != 220 && link != 147 ? ns : firstNs;
        lastLength = length;
        int to = random.nextInt();
        boolean isIp = random.nextInt(4) > 0;
        boolean vlan = random.nextBoolean();
        int type = isIp ? 0x0800 : 0x0806;
        ByteBuffer frame = ByteBuffer.allocate(60);
        switch (link) {
            case 1 -> tagged(frame.position(12), vlan, type);
            case 113 -> tagged(frame.position(14), vlan, type);
            case 276 -> {
                frame.putShort((short) (vlan ? 0x8100 : type)).position(20);
                if (vlan) {
                    frame.putShort((short) 5).putShort((short) type);
                }
            }
            default -> {}
        }
        int ip = frame.position();
        frame.put(ip, (byte) (isIp ? 0x45 : 0x05)).putInt(ip + 16, to);
        if (isIp && length <= 65_535 && link != 220 && link != 147) {
            expected.add("%d %d %x".formatted(ns - firstNs, length, 0xFFFF_0000_0000L | to & 0xFFFF_FFFFL));
        } else {
            leftOut++;
        }
        return Arrays.copyOf(frame.array(), ip + 20);
    }

    private static void tagged(ByteBuffer frame, boolean vlan, int type) {
        if (vlan) {
            frame.putShort((short) 0x8100).putShort((short) 5);
        }
        frame.putShort((short) type);
    }

    private static ByteBuffer room(ByteBuffer file) {
        return ByteBuffer.allocate(256).order(file.order());
    }

    private static void block(ByteBuffer file, int type, byte[] body) {
        int length = (body.length + 3) / 4 * 4 + 12;
        file.putInt(type).putInt(length).put(Arrays.copyOf(body, length - 12)).putInt(length);
    }
}
