package org.tamanoir.services.extra.transcode;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import javax.imageio.ImageIO;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Packets;
import org.tamanoir.testkit.ServiceHarness;

@Tag("once")
class PictureTest {
    private static PacketBuilder flow(int stream) {
        return Packets.full(Transcode.class.getName()).timestamps().stream(stream);
    }

    private static Map<String, String> config(String... more) {
        Map<String, String> config = new HashMap<>(Map.of("mode", "pictures"));
        for (int i = 0; i < more.length; i += 2) {
            config.put(more[i], more[i + 1]);
        }
        return config;
    }

    /** Large areas in two colours, and some noise that JPEG at a low quality leaves out. */
    private static BufferedImage image(int type, int width, int height) {
        BufferedImage image = new BufferedImage(width, height, type);
        Random random = new Random(1);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int base = x < width / 2 ? 0xFF2040C0 : 0xFFC08020;
                image.setRGB(x, y, base + random.nextInt(16) * 0x010101);
            }
        }
        return image;
    }

    private static byte[] file(BufferedImage image, String format) throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        assertThat(ImageIO.write(image, format, file)).isTrue();
        return file.toByteArray();
    }

    private static ServiceHarness run(Transport transport, Map<String, String> config, List<Packet> packets) {
        return ServiceHarness.run(new Transcode(), transport, config, packets);
    }

    private static BufferedImage read(byte[] file) throws IOException {
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(file));
        assertThat(image).isNotNull();
        return image;
    }

    private static boolean isPng(byte[] file) {
        return file[0] == (byte) 0x89;
    }

    @ParameterizedTest
    @CsvSource({"jpeg,UDP,1200", "jpeg,TCP,60000", "png,UDP,1200", "png,TCP,10000"})
    void aPictureOfSeveralPacketsLeavesSmallerInAsManyAtMost(String format, Transport transport, int part)
            throws IOException {
        byte[] file = file(image(BufferedImage.TYPE_3BYTE_BGR, 400, 300), format);
        List<Packet> packets = Packets.cut(flow(3), file, part);
        ServiceHarness out = run(transport, config("quality", "40", "scale", "50"), packets);
        BufferedImage made = read(out.payloads());
        assertThat(isPng(out.payloads())).isFalse();
        assertThat(made.getWidth()).isEqualTo(200);
        assertThat(made.getHeight()).isEqualTo(150);
        assertClose(made.getRGB(50, 50), 0x2747C7);
        assertClose(made.getRGB(150, 50), 0xC78727);
        assertThat(out.payloads().length).isLessThan(file.length / 2);
        assertThat(out.packets())
                .hasSizeLessThanOrEqualTo(packets.size())
                .allMatch(packet -> packet.payloadLength() <= part);
        for (int i = 0; i < out.packets().size(); i++) {
            assertThat(out.packets().get(i).sequence()).isEqualTo(packets.get(i).sequence());
            assertThat(out.packets().get(i).originTimeNs())
                    .isEqualTo(packets.get(i).originTimeNs());
        }
        Packets.assertWellFormed(out.packets());
        assertThat(out.count("pictures")).isEqualTo(1);
    }

    private static void assertClose(int colour, int expected) {
        for (int shift = 0; shift < 24; shift += 8) {
            assertThat(colour >> shift & 0xFF).isCloseTo(expected >> shift & 0xFF, Offset.offset(12));
        }
    }

    /** Grey, of 16 bits, with numbers of colours, half transparent. */
    @ParameterizedTest
    @CsvSource({"10, png", "10, jpeg", "11, png", "13, png", "13, jpeg", "6, png", "6, jpeg", "5, jpeg", "2, jpeg"})
    void allKindsOfPixelsAreRead(int type, String format) throws IOException {
        byte[] file = file(image(type, 301, 203), "png");
        ServiceHarness out = run(
                Transport.TCP,
                config("format", format, "quality", "30", "scale", "33"),
                Packets.cut(flow(3), file, 60_000));
        assertThat(out.drops()).isEmpty();
        BufferedImage made = read(out.payloads());
        BufferedImage before = read(file);
        assertThat(isPng(out.payloads())).isEqualTo(format.equals("png"));
        assertThat(made.getWidth()).isEqualTo(99);
        assertThat(made.getHeight()).isEqualTo(66);
        int[] old = before.getRaster().getPixel(40, 100, new int[4]);
        int[] now = made.getRaster().getPixel(13, 33, new int[4]);
        if (type == BufferedImage.TYPE_BYTE_GRAY) {
            assertThat(now[0]).isCloseTo(old[0], Offset.offset(20));
        } else {
            int dither = type == BufferedImage.TYPE_BYTE_INDEXED ? 45 : 20;
            for (int shift = 0; shift < 24; shift += 8) {
                assertThat(made.getRGB(13, 33) >> shift & 0xFF)
                        .isCloseTo(before.getRGB(40, 100) >> shift & 0xFF, Offset.offset(dither));
            }
        }
    }

    @Test
    void onlyTransparentPixelsBecomeWhite() throws IOException {
        BufferedImage image = image(BufferedImage.TYPE_INT_ARGB, 200, 200);
        for (int y = 0; y < 200; y++) {
            for (int x = 100; x < 200; x++) {
                image.setRGB(x, y, 0x00000000);
            }
        }
        byte[] file = file(image, "png");
        BufferedImage made = read(
                run(Transport.TCP, config(), Packets.cut(flow(3), file, 60_000)).payloads());
        assertClose(made.getRGB(150, 100), 0xFFFFFF);
        assertClose(made.getRGB(50, 100), 0x2747C7);
    }

    @Test
    void whatWouldNotBecomeSmallerGoesOnAsItCame() throws IOException {
        byte[] small = file(new BufferedImage(8, 8, BufferedImage.TYPE_BYTE_GRAY), "png");
        List<Packet> packets = Packets.cut(flow(3), small, 20);
        ServiceHarness out = run(Transport.UDP, config(), packets);
        assertThat(out.payloads()).isEqualTo(small);
        assertThat(out.packets()).hasSameSizeAs(packets);
        assertThat(out.count("pictures-unchanged")).isEqualTo(1);
    }

    /** A real PNG of 60,000 × 60,000 pixels, 3.6 GB of them in 36 MB or less: cut to its first 100 kB, which is enough. */
    private static byte[] bomb(int width, int height, int maxBytes) throws IOException {
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        png.writeBytes(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'});
        chunk(
                png,
                "IHDR",
                ByteBuffer.allocate(13)
                        .putInt(width)
                        .putInt(height)
                        .putInt(0x01000000)
                        .array());
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (DeflaterOutputStream deflater = new DeflaterOutputStream(packed, new Deflater(9))) {
            byte[] row = new byte[(width + 7) / 8 + 1];
            for (int y = 0; y < height && packed.size() < maxBytes; y++) {
                deflater.write(row);
            }
        }
        chunk(png, "IDAT", packed.toByteArray());
        chunk(png, "IEND", new byte[0]);
        return png.toByteArray();
    }

    private static void chunk(ByteArrayOutputStream png, String type, byte[] data) {
        byte[] name = type.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        CRC32 crc = new CRC32();
        crc.update(name);
        crc.update(data);
        png.writeBytes(ByteBuffer.allocate(4).putInt(data.length).array());
        png.writeBytes(name);
        png.writeBytes(data);
        png.writeBytes(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void aDecompressionBombIsRefusedByItsHeader(Transport transport) throws IOException {
        byte[] bomb = bomb(60_000, 60_000, 100_000);
        List<Packet> packets = Packets.cut(flow(3), bomb, 1200);
        try (ServiceHarness harness = ServiceHarness.start(new Transcode(), transport, config())) {
            harness.send(packets.get(0));
            assertThat(harness.drops()).containsExactly("picture of more than max-pixels");
            harness.send(packets.subList(1, packets.size()));
            assertThat(harness.drops()).hasSameSizeAs(packets);
            assertThat(harness.outputs()).isEmpty();
            assertThat(harness.control().view()).containsEntry("picture-bytes", 0L);
        }
    }

    /** The size that counts is the one that the decoder will see: there is only one. */
    @Test
    void aSecondHeaderIsRefused() throws IOException {
        byte[] png = bomb(100, 100, 1000);
        byte[] twice = new byte[png.length + 25];
        System.arraycopy(png, 0, twice, 0, 33);
        System.arraycopy(bomb(60_000, 60_000, 1), 8, twice, 33, 25);
        System.arraycopy(png, 33, twice, 58, png.length - 33);
        byte[] jpeg = file(image(BufferedImage.TYPE_3BYTE_BGR, 50, 50), "jpeg");
        int frame = 0;
        while (jpeg[frame] != (byte) 0xFF || jpeg[frame + 1] != (byte) 0xC0) {
            frame++;
        }
        int bytes = 2 + (jpeg[frame + 2] << 8 | jpeg[frame + 3] & 0xFF);
        byte[] two = new byte[jpeg.length + bytes];
        System.arraycopy(jpeg, 0, two, 0, frame + bytes);
        System.arraycopy(jpeg, frame, two, frame + bytes, jpeg.length - frame);
        for (byte[] file : List.of(twice, two)) {
            ServiceHarness out = run(Transport.TCP, config(), Packets.cut(flow(3), file, 60_000));
            assertThat(out.drops()).containsExactly("bad picture");
        }
    }

    @Test
    void aJpegOfManyScansIsRefused() throws IOException {
        byte[] jpeg = file(image(BufferedImage.TYPE_3BYTE_BGR, 50, 50), "jpeg");
        ByteArrayOutputStream many = new ByteArrayOutputStream();
        many.write(jpeg, 0, jpeg.length - 2);
        for (int i = 0; i < 64; i++) {
            many.writeBytes(new byte[] {(byte) 0xFF, (byte) 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x55});
        }
        many.write(jpeg, jpeg.length - 2, 2);
        ServiceHarness out = run(Transport.TCP, config(), Packets.cut(flow(3), many.toByteArray(), 60_000));
        assertThat(out.drops()).containsExactly("too many scans in a picture");
    }

    @Test
    void noPictureIsEitherDroppedOrPassedOn() {
        List<Packet> packets = Packets.cut(flow(3), Packets.text(new Random(1), 5000), 1000);
        assertThat(run(Transport.UDP, config(), packets).drops()).hasSize(5).containsOnly("not a picture");
        ServiceHarness passed = run(Transport.UDP, config("failure", "pass"), packets);
        assertThat(passed.payloads()).isEqualTo(Packets.text(new Random(1), 5000));
        assertThat(passed.count("pictures-unfit")).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"drop", "pass"})
    void aPictureOfWhichAPacketIsMissingIsNotMadeUp(String failure) throws IOException {
        byte[] file = file(image(BufferedImage.TYPE_3BYTE_BGR, 100, 100), "png");
        PacketBuilder flow = flow(3);
        List<Packet> packets = new ArrayList<>(Packets.cut(flow, file, 2000));
        int count = packets.size();
        assertThat(count).isGreaterThan(4);
        packets.remove(2);
        packets.addAll(Packets.cut(flow, file, 60_000));
        ServiceHarness out = run(Transport.UDP, config("failure", failure), packets);
        assertThat(out.count("pictures")).isEqualTo(1);
        if (failure.equals("pass")) {
            assertThat(out.packets()).hasSize(count);
            for (int i = 0; i < count - 1; i++) {
                assertThat(out.packets().get(i).payload())
                        .isEqualTo(packets.get(i).payload());
                assertThat(out.packets().get(i).sequence())
                        .isEqualTo(packets.get(i).sequence());
            }
        } else {
            assertThat(out.packets()).hasSize(1);
            assertThat(out.drops()).hasSize(count - 3).containsOnly("not a picture");
        }
    }

    @Test
    void datagramsWithoutNumbersAreOnePictureEach() throws IOException {
        byte[] file = file(image(BufferedImage.TYPE_3BYTE_BGR, 100, 100), "png");
        PacketBuilder builder = new PacketBuilder().destination(Packets.address("10.0.2.7"));
        List<Packet> packets = new ArrayList<>(Packets.cut(builder, file, 60_000));
        packets.addAll(Packets.cut(builder, file, file.length / 2 + 1));
        ServiceHarness out = run(Transport.UDP, config(), packets);
        assertThat(out.packets()).hasSize(1);
        assertThat(out.drops()).containsExactly("part of a picture without a number", "not a picture");
    }

    @Test
    void bytesBehindAPictureAndLongOnesAreRefused() throws IOException {
        byte[] file = file(image(BufferedImage.TYPE_3BYTE_BGR, 100, 100), "png");
        List<Packet> more = Packets.cut(flow(3), java.util.Arrays.copyOf(file, file.length + 1), 60_000);
        assertThat(run(Transport.TCP, config(), more).drops()).containsExactly("bytes behind the picture");
        List<Packet> packets = Packets.cut(flow(3), file, 1000);
        ServiceHarness out = run(Transport.TCP, config("max-bytes", "5000"), packets);
        assertThat(out.drops()).startsWith("picture longer than max-bytes").hasSize(packets.size() - 5);
    }

    /** All parts that wait, of all instances, are in one bound. */
    @Test
    void memoryForPartsIsBounded() throws IOException {
        byte[] file = file(image(BufferedImage.TYPE_3BYTE_BGR, 800, 800), "png");
        assertThat(file.length).isGreaterThan(600_000);
        Map<String, String> config = config("memory", "1048576", "max-bytes", "67108864");
        try (ServiceHarness harness = ServiceHarness.start(new Transcode(), Transport.UDP, config)) {
            for (int stream = 1; stream <= 40; stream++) {
                harness.send(Packets.cut(flow(stream), file, 50_000).get(0));
            }
            assertThat(harness.drops()).hasSize(40 - 16).containsOnly("no memory for pictures");
            assertThat(harness.control().view()).containsEntry("picture-bytes", 1L << 20);
            harness.endOfStream();
            assertThat(harness.control().view()).containsEntry("picture-bytes", 0L);
        }
    }

    /** Files that were damaged at random: each ends as a picture, or as a drop that says why. */
    @Test
    void damagedFilesAreNoFault() throws IOException {
        Random random = new Random(11);
        List<byte[]> files = List.of(
                file(image(BufferedImage.TYPE_3BYTE_BGR, 60, 40), "jpeg"),
                file(image(BufferedImage.TYPE_INT_ARGB, 60, 40), "png"),
                file(image(BufferedImage.TYPE_BYTE_INDEXED, 60, 40), "png"));
        try (ServiceHarness harness = ServiceHarness.start(new Transcode(), Transport.UDP, config())) {
            for (int round = 0; round < 3000; round++) {
                byte[] file = files.get(random.nextInt(files.size())).clone();
                for (int i = random.nextInt(6); i >= 0; i--) {
                    file[random.nextInt(random.nextBoolean() ? 200 : file.length)] = (byte) random.nextInt();
                }
                int length = random.nextInt(4) == 0 ? 1 + random.nextInt(file.length) : file.length;
                harness.send(flow(round + 1).build(ByteBuffer.wrap(file, 0, length)));
            }
            assertThat(harness.failures()).isEmpty();
            Packets.assertWellFormed(harness.packets());
            assertThat(harness.count("pictures")).isPositive();
        }
    }
}
