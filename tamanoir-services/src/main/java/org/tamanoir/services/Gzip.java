package org.tamanoir.services;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;

/**
 * Compresses payloads (RFC 1952).
 *
 * <p>TCP: the payloads of a connection, one behind the other, form one gzip stream. Its header stands before the
 * first packet's data; its trailer follows at the end of the stream in a packet of its own, made like the last one.
 * UDP: each packet stands alone, a whole gzip stream.
 *
 * <p>Each packet that comes in leaves as one, its payload possibly empty. Only where compressed data do not fit one
 * packet (65,535 bytes, over UDP 65,507: near that size, data that cannot be compressed grow past it) do further
 * packets go before it. They, and the trailer's, carry the header of the packet that they were made like, stream
 * id and sequence number included: only their order tells them apart.
 *
 * <p>With {@code least-level} the level goes down a step every 4 packets while other turns wait for the processor, or
 * datagrams of the class for a turn, and up again by a step every 64 packets while none does. Where {@link
 * Service#allotment turns} are not scheduled it stays.
 *
 * <p>Counters: {@code packets}, {@code bytes-in} and {@code bytes-out} (payloads), {@code extra-packets}.
 * Drops: {@code header leaves no room for a payload}, when options take all but 512 bytes of a packet.
 */
@Settings(
        of = NextService.class,
        value = {
            @Setting(
                    name = "level",
                    kind = Setting.Kind.NUMBER,
                    standard = "6",
                    min = 1,
                    max = 9,
                    text = "1 (fast) to 9 (small)"),
            @Setting(
                    name = "least-level",
                    kind = Setting.Kind.NUMBER,
                    min = 1,
                    max = 9,
                    text =
                            "so far the level goes down while others wait for the processor, at most level; without it the level stays"),
            @Setting(
                    name = "flush",
                    kind = Setting.Kind.CHOICE,
                    standard = "packet",
                    choices = {"packet", "stream"},
                    text =
                            "packet: what came in with a packet leaves with it; stream: data may wait for later packets, which compresses better; over UDP without effect")
        })
@ChangesSize(SizeEffect.SHRINKS)
public final class Gzip extends Service {
    /** ID, CM 8 = deflate, FLG 0, MTIME 0 = unknown, XFL 0, OS 255 = unknown (RFC 1952, section 2.3). */
    private static final byte[] HEADER = {0x1F, (byte) 0x8B, 8, 0, 0, 0, 0, 0, 0, (byte) 0xFF};

    /** CRC-32 and length modulo 2^32 of what was compressed, little-endian. */
    private static final int TRAILER_BYTES = 8;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private enum Flush {
        PACKET,
        STREAM
    }

    private final CRC32 crc = new CRC32();
    private final ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final HeaderTemplate last = new HeaderTemplate();
    private AdaptiveLevel level = new AdaptiveLevel(6, 6);
    private Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
    private PayloadWriter writer = new PayloadWriter(false, new NextService(0), this::emit);
    private boolean datagrams;
    private boolean perPacket = true;
    private boolean open;
    private boolean levelChanged;
    private long streamBytes;
    private Counter packets = new Counter("packets");
    private Counter bytesIn = new Counter("bytes-in");
    private Counter bytesOut = new Counter("bytes-out");
    private Counter extraPackets = new Counter("extra-packets");

    @Override
    public void init(ServiceConfig config) {
        config.allow("level", "least-level", "flush", "next");
        int highest = (int) config.number("level", 6, 1, 9);
        level = new AdaptiveLevel((int) config.number("least-level", highest, 1, highest), highest);
        // A new one: after setLevel the first call of deflate sets the level and may take no input.
        deflater.end();
        deflater = new Deflater(highest, true);
        perPacket = config.choice("flush", Flush.PACKET) == Flush.PACKET;
        datagrams = stream().transport() == Transport.UDP;
        writer = new PayloadWriter(datagrams, NextService.of(config), this::emit);
        packets = counter("packets");
        bytesIn = counter("bytes-in");
        bytesOut = counter("bytes-out");
        extraPackets = counter("extra-packets");
    }

    @Override
    public Verdict process(Packet packet) {
        int payloadBytes = packet.payloadLength();
        if (writer.capacity(packet) < PayloadWriter.AHEAD_BYTES) {
            return drop(PayloadWriter.NO_ROOM);
        }
        if (level.isFree() && level.look(allotment())) {
            deflater.setLevel(level.level());
            levelChanged = true;
        }
        ByteBuffer payload = packet.payload();
        int extra = datagrams ? whole(packet, payload) : append(packet, payload);
        deflater.setInput(NOTHING);
        packets.add(1);
        bytesIn.add(payloadBytes);
        extraPackets.add(extra);
        return Verdict.FORWARD;
    }

    /** Writes the payload's part of a TCP stream. Returns how many packets went before this one. */
    private int append(Packet packet, ByteBuffer payload) {
        writer.begin(packet, perPacket ? bound(payload.remaining()) : Integer.MAX_VALUE);
        if (!open) {
            open = true;
            writer.room().put(HEADER);
        }
        if (levelChanged) {
            takeLevel();
        }
        checksum(payload);
        streamBytes += payload.remaining();
        deflater.setInput(payload);
        ByteBuffer room;
        do {
            room = writer.room();
            deflater.deflate(room, perPacket ? Deflater.SYNC_FLUSH : Deflater.NO_FLUSH);
        } while (!room.hasRemaining());
        writer.finish();
        bytesOut.add(writer.bytes());
        last.keep(packet);
        return writer.rolls();
    }

    /**
     * UDP: the payload as a gzip stream of its own. One that does not fit is cut into parts which surely do, each a
     * stream of its own again: any packet may get lost.
     */
    private int whole(Packet packet, ByteBuffer payload) {
        int start = payload.position();
        int end = payload.limit();
        writer.begin(packet, bound(end - start));
        if (compress(payload)) {
            writer.finish();
            bytesOut.add(writer.bytes());
            return 0;
        }
        int capacity = writer.capacity(packet);
        int partBytes = capacity - (capacity >>> 9) - 64;
        writer.begin(packet, capacity);
        for (int from = start; from < end; from += partBytes) {
            if (from > start) {
                writer.roll();
            }
            if (!compress(payload.limit(Math.min(end, from + partBytes)).position(from))) {
                throw new IllegalStateException("a part of " + partBytes + " bytes compressed to over " + capacity);
            }
        }
        writer.finish();
        bytesOut.add(writer.bytes());
        return writer.rolls();
    }

    /** Writes one whole gzip stream into the room there is; returns false when it does not fit. */
    private boolean compress(ByteBuffer payload) {
        ByteBuffer room = writer.room();
        room.put(HEADER);
        crc.reset();
        checksum(payload);
        streamBytes = payload.remaining();
        deflater.reset();
        if (levelChanged) {
            takeLevel();
        }
        deflater.setInput(payload);
        deflater.finish();
        deflater.deflate(room);
        if (!deflater.finished() || room.remaining() < TRAILER_BYTES) {
            return false;
        }
        room.put(trailer());
        return true;
    }

    /** Writes what the level before has taken in: the first call of deflate after setLevel may take no input. */
    private void takeLevel() {
        levelChanged = false;
        ByteBuffer room;
        do {
            room = writer.room();
            deflater.deflate(room, Deflater.NO_FLUSH);
        } while (!room.hasRemaining());
    }

    private void checksum(ByteBuffer payload) {
        int start = payload.position();
        crc.update(payload);
        payload.position(start);
    }

    private ByteBuffer trailer() {
        return trailer.clear()
                .putInt((int) crc.getValue())
                .putInt((int) streamBytes)
                .flip();
    }

    /**
     * More than {@code bytes} of any data compress to, gzip header, trailer and flush included: zlib's own bound
     * for its default memory level is n + n/4096 + n/16384 + 7.
     */
    private static int bound(int bytes) {
        return bytes + (bytes >>> 10) + 64;
    }

    @Override
    public void endOfStream() {
        if (!last.isKept()) {
            return;
        }
        Packet template = last.packet();
        ByteBuffer tail = ByteBuffer.allocate(writer.capacity(template));
        deflater.finish();
        while (!deflater.finished()) {
            deflater.deflate(tail);
            if (!tail.hasRemaining()) {
                send(template, tail);
            }
        }
        if (tail.remaining() < TRAILER_BYTES) {
            send(template, tail);
        }
        send(template, tail.put(trailer()));
    }

    private void send(Packet template, ByteBuffer tail) {
        bytesOut.add(tail.position());
        extraPackets.add(1);
        emit(PacketBuilder.like(template).build(tail.flip()));
        tail.clear();
    }

    @Override
    public void close() {
        deflater.end();
    }
}
