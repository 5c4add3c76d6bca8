package org.tamanoir.services;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Amplifier;
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
 * Uncompresses what {@link Gzip}, or any gzip (RFC 1952), has compressed; several gzip streams may follow each other.
 *
 * <p>TCP: the payloads of a connection, one behind the other, are the compressed stream, wherever it was cut into
 * packets. Bytes go on as they come out, so a wrong checksum at the end shows when they have left: it is counted
 * as a drop, and so are all later packets. UDP: each packet stands alone, and leaves only when it is whole and its
 * checksum right. One datagram may become a thousand times as much, and its source may be forged: nodes offer this
 * service on UDP only where {@code limits.udp-amplifiers} names it, and bound what leaves.
 *
 * <p>Each packet that comes in leaves as one, its payload possibly empty. Where more comes out than one packet holds
 * (65,535 bytes, over UDP 65,507), further packets with the same header go before it, stream id and sequence number
 * included: only their order tells them apart.
 *
 * <p>Counters: {@code packets}, {@code bytes-in} and {@code bytes-out} (payloads), {@code extra-packets},
 * {@code members} (gzip streams that were whole and right), {@code truncated} (1 when a TCP stream ended inside one).
 *
 * <p>Drops: {@code not gzip}, {@code corrupt gzip}, {@code wrong gzip checksum}, {@code wrong gzip length},
 * {@code truncated gzip} (UDP), {@code inflates past max-ratio}, {@code inflates past max-packet-bytes}; over TCP all
 * that follows one of these as {@code after a broken gzip stream}; {@code header leaves no room for a payload}, when
 * options take all but 512 bytes of a packet.
 */
@Settings(
        of = NextService.class,
        value = {
            @Setting(
                    name = "max-ratio",
                    kind = Setting.Kind.NUMBER,
                    standard = "2000",
                    min = 1,
                    max = 1_000_000,
                    text = "bytes out for each byte in, within one gzip stream; deflate itself reaches 1032"),
            @Setting(
                    name = "max-packet-bytes",
                    kind = Setting.Kind.NUMBER,
                    min = 1,
                    max = 1 << 30,
                    text = "what may come out of one packet; without it 16 MiB, over UDP 1 MiB")
        })
@ChangesSize(SizeEffect.GROWS)
public final class Gunzip extends Service implements Amplifier {
    private static final String AFTER_BROKEN = "after a broken gzip stream";
    private static final String TRUNCATED = "truncated gzip";

    private GzipReader reader = new GzipReader(1, 1);
    private PayloadWriter writer = new PayloadWriter(false, new NextService(0), this::emit);
    private boolean datagrams;
    private boolean broken;
    private Counter packets = new Counter("packets");
    private Counter bytesIn = new Counter("bytes-in");
    private Counter bytesOut = new Counter("bytes-out");
    private Counter extraPackets = new Counter("extra-packets");
    private Counter members = new Counter("members");
    private Counter truncated = new Counter("truncated");

    @Override
    public void init(ServiceConfig config) {
        config.allow("max-ratio", "max-packet-bytes", "next");
        long maxRatio = config.number("max-ratio", 2000, 1, 1_000_000);
        datagrams = stream().transport() == Transport.UDP;
        long maxPacketBytes = config.number("max-packet-bytes", datagrams ? 1 << 20 : 16 << 20, 1, 1 << 30);
        writer = new PayloadWriter(datagrams, NextService.of(config), this::emit);
        reader.close();
        reader = new GzipReader(maxRatio, maxPacketBytes);
        packets = counter("packets");
        bytesIn = counter("bytes-in");
        bytesOut = counter("bytes-out");
        extraPackets = counter("extra-packets");
        members = counter("members");
        truncated = counter("truncated");
    }

    @Override
    public Verdict process(Packet packet) {
        if (broken) {
            return drop(AFTER_BROKEN);
        }
        int payloadBytes = packet.payloadLength();
        packets.add(1);
        bytesIn.add(payloadBytes);
        String fault = datagrams ? whole(packet) : append(packet);
        members.add(reader.members() - members.get());
        if (fault != null) {
            broken = !datagrams;
            return drop(fault);
        }
        bytesOut.add(writer.bytes());
        extraPackets.add(writer.rolls());
        return Verdict.FORWARD;
    }

    private @Nullable String append(Packet packet) {
        if (!writer.begin(packet, Integer.MAX_VALUE)) {
            return PayloadWriter.NO_ROOM;
        }
        String fault = reader.read(packet.payload(), writer);
        if (fault == null) {
            writer.finish();
        }
        return fault;
    }

    /** Inflates twice what does not fit one packet: the first time to see that it is whole and right. */
    private @Nullable String whole(Packet packet) {
        if (!writer.tryOut(packet)) {
            return PayloadWriter.NO_ROOM;
        }
        ByteBuffer payload = packet.payload();
        int start = payload.position();
        reader.reset();
        String fault = payload.hasRemaining() ? reader.read(payload, writer) : GzipReader.NOT_GZIP;
        if (fault == null && !reader.isBetweenMembers()) {
            fault = TRUNCATED;
        }
        if (fault != null) {
            return fault;
        }
        if (!writer.isWhole()) {
            writer.begin(packet, Integer.MAX_VALUE);
            reader.reset();
            fault = reader.read(payload.position(start), writer);
            if (fault != null) {
                throw new IllegalStateException("inflated once, and then not: " + fault);
            }
        }
        writer.finish();
        return null;
    }

    @Override
    public void endOfStream() {
        if (!datagrams && !broken && !reader.isBetweenMembers()) {
            truncated.add(1);
        }
    }

    @Override
    public void close() {
        reader.close();
    }
}
