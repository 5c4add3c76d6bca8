package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;

/** Packets and payloads for tests. */
public final class Packets {
    private static final String[] WORDS = {"packet", "stream", "node", "service", "the", "of", "active", "network"};

    private Packets() {}

    public static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends, key, stream and checksum, as {@code send} makes them. */
    public static PacketBuilder full(String service) {
        return new PacketBuilder()
                        .source(address("10.0.1.2"))
                        .destination(address("10.0.2.7"))
                        .service(service)
                        .classOfService(0, 0)
                        .stream(7)
                        .hopBudget(16)
                        .checksum();
    }

    public static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    public static byte[] text(Random random, int bytes) {
        byte[] text = new byte[bytes];
        int at = 0;
        while (at < bytes) {
            byte[] word = (WORDS[random.nextInt(WORDS.length)] + " ").getBytes(java.nio.charset.StandardCharsets.UTF_8);
            int part = Math.min(word.length, bytes - at);
            System.arraycopy(word, 0, text, at, part);
            at += part;
        }
        return text;
    }

    public static byte[] noise(Random random, int bytes) {
        byte[] noise = new byte[bytes];
        random.nextBytes(noise);
        return noise;
    }

    /** Cuts bytes into packets of one size; the last may be shorter. */
    public static List<Packet> cut(PacketBuilder builder, byte[] bytes, int payloadBytes) {
        List<Packet> packets = new ArrayList<>();
        for (int at = 0; at < bytes.length; at += payloadBytes) {
            int end = Math.min(bytes.length, at + payloadBytes);
            packets.add(builder.build(ByteBuffer.wrap(bytes, at, end - at)));
        }
        return packets;
    }

    /** Cuts bytes into packets of random sizes, empty ones among them. */
    public static List<Packet> cut(PacketBuilder builder, byte[] bytes, Random random, int maxPayloadOctets) {
        List<Packet> packets = new ArrayList<>();
        int at = 0;
        while (at < bytes.length) {
            int end = Math.min(bytes.length, at + random.nextInt(maxPayloadOctets + 1));
            packets.add(builder.build(ByteBuffer.wrap(bytes, at, end - at)));
            at = end;
        }
        return packets;
    }

    public static byte[] gunzip(byte[] bytes) {
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static byte[] gzip(byte[] bytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    /** Compares without printing all bytes. */
    public static void assertBytes(byte[] actual, byte[] expected, String what) {
        assertThat(java.util.Arrays.mismatch(actual, expected))
                .as("%s: %d bytes, expected %d; first difference", what, actual.length, expected.length)
                .isEqualTo(-1);
    }

    /** Parses every packet anew: header, options and checksum must be good. */
    public static void assertWellFormed(List<Packet> packets) {
        for (Packet packet : packets) {
            assertThat(new Packet().parse(packet.buffer(), packet.offset(), packet.length()))
                    .isNull();
        }
    }
}
