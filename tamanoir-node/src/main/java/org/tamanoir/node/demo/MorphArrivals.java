package org.tamanoir.node.demo;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;

/**
 * Keeps the records that come, each in a packet of its own.
 *
 * <p>Thread contract: the receiver's thread calls the handler's methods; {@link #count}, {@link #lastNs} and {@link
 * #awaitEnd} from any; the rest when the receiver is closed.
 */
final class MorphArrivals implements PacketHandler {
    /** As {@link AirlineData} makes the numbers of passengers. */
    private static final Pattern PASSENGER_NUMBER = Pattern.compile("9\\d\\d-\\d\\d");

    private final Map<FormatId, Format> formats = new HashMap<>();
    private final List<MorphRecord> records = new ArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile int count;
    private volatile long lastNs = System.nanoTime();
    private @Nullable String fault;
    private long bytes;
    private long passengerNumbers;

    MorphArrivals() {
        MorphFormats.ALL.forEach(format -> formats.put(format.id(), format));
    }

    @Override
    public void packet(Packet packet, Peer peer) {
        ByteBuffer payload = packet.payload();
        byte[] encoded = new byte[payload.remaining()];
        payload.get(encoded);
        try {
            Format format = formats.get(FormatId.read(ByteBuffer.wrap(encoded), 0, encoded.length));
            if (format == null) {
                fault = "a record came whose format no plan names";
            } else {
                records.add(MorphRecord.of(format, encoded));
            }
        } catch (FormatException e) {
            fault = "what came is no record: " + e.getMessage();
        }
        bytes += encoded.length;
        passengerNumbers += PASSENGER_NUMBER
                .matcher(new String(encoded, StandardCharsets.ISO_8859_1))
                .results()
                .count();
        lastNs = System.nanoTime();
        count = count + 1;
    }

    @Override
    public void closed(@Nullable String reason) {
        if (fault == null) {
            fault = reason;
        }
        ended.countDown();
    }

    /** Waits until the TCP connection has ended. */
    boolean awaitEnd(long timeoutNs) throws InterruptedException {
        return ended.await(timeoutNs, TimeUnit.NANOSECONDS);
    }

    /** Packets so far. */
    int count() {
        return count;
    }

    /** When the last packet came, or this began, in the time of {@link System#nanoTime}. */
    long lastNs() {
        return lastNs;
    }

    List<MorphRecord> records() {
        return records;
    }

    /** Returns what is wrong with what came; null where nothing is. */
    @Nullable
    String fault() {
        return fault;
    }

    /** Of all records. */
    long bytes() {
        return bytes;
    }

    /** Returns how often a number of a passenger was seen anywhere in what came. */
    long passengerNumbers() {
        return passengerNumbers;
    }
}
