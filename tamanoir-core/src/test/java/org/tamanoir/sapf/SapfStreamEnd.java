package org.tamanoir.sapf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Framing;
import org.tamanoir.traffic.Tap;
import org.tamanoir.transport.StreamCodec;

/** One end of a connection in SAPF without its socket: the octets that come and go are a test's. */
final class SapfStreamEnd {
    static final InetSocketAddress ACCEPTING = new InetSocketAddress("127.0.0.1", 3_322);
    private static final InetSocketAddress ASKING = new InetSocketAddress("127.0.0.1", 40_000);
    private static final Duration LIFETIME = Duration.ofSeconds(60);
    private static final byte[] OPENING = {'S', 'A', 'P', '1'};

    final Sapf sapf;
    final StreamCodec codec;
    private ByteBuffer arrived = ByteBuffer.allocate(0);

    private SapfStreamEnd(Sapf sapf, StreamCodec codec) {
        this.sapf = sapf;
        this.codec = codec;
    }

    static Sapf accepting(AtomicLong clockNs) {
        return new Sapf(new SapfSettings(true, List.of(), LIFETIME), 8, Anep.DEFAULT_TYPE_ID, clockNs::get, new Tap());
    }

    static Sapf asking(AtomicLong clockNs) {
        return new Sapf(
                new SapfSettings(false, List.of(ACCEPTING), LIFETIME),
                8,
                Anep.DEFAULT_TYPE_ID,
                clockNs::get,
                new Tap());
    }

    /** The end that connected. */
    static SapfStreamEnd connected(Sapf asking) {
        return new SapfStreamEnd(asking, Objects.requireNonNull(asking.streamTo(ACCEPTING)));
    }

    /** The end that accepted. */
    static SapfStreamEnd accepted(Sapf accepting) {
        return new SapfStreamEnd(
                accepting,
                Objects.requireNonNull(accepting.streamFrom(ASKING, ByteBuffer.wrap(OPENING), 0, OPENING.length)));
    }

    /** An end that accepted, to whom the far side has opened, and who has answered. */
    static SapfStreamEnd open(AtomicLong clockNs) throws IOException {
        SapfStreamEnd end = accepted(accepting(clockNs));
        end.receive(OPENING);
        end.said();
        return end;
    }

    /** Takes octets as they come; returns the packets in them, and what stands in place of broken ones. */
    List<byte[]> receive(byte[] octets) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(arrived.remaining() + octets.length);
        all.put(arrived).put(octets).flip();
        List<byte[]> packets = new ArrayList<>();
        ByteBuffer to = ByteBuffer.allocate(Anep.MAX_PACKET_OCTETS);
        int start = 0;
        while (true) {
            int packet = codec.decodedOctets(all, start, all.limit());
            int unit = packet == 0
                    ? codec.takenOctets(all, start, all.limit())
                    : codec.decode(all, start, all.limit(), to, 0);
            if (packet > 0) {
                byte[] bytes = new byte[packet];
                to.get(0, bytes);
                packets.add(bytes);
            } else if (unit == 0) {
                break;
            }
            start += unit;
        }
        arrived = all.position(start).slice();
        return packets;
    }

    /** Ends what comes. */
    List<byte[]> receiveEnd() throws IOException {
        codec.unitsEnd();
        return receive(new byte[0]);
    }

    int waiting() {
        return arrived.remaining();
    }

    /** Returns what the codec has to say. */
    byte[] said() {
        byte[] said = new byte[codec.saidOctets()];
        codec.say(ByteBuffer.wrap(said), 0);
        return said;
    }

    /** Returns what packets become on the wire. */
    byte[] send(byte[]... packets) {
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        for (byte[] each : packets) {
            ByteBuffer packet = ByteBuffer.wrap(each);
            byte[] unit = new byte[codec.encodedOctets(packet, 0)];
            if (codec.encode(packet, 0, ByteBuffer.wrap(unit), 0) != Framing.claimedLength(packet, 0)) {
                throw new AssertionError("another length");
            }
            sent.writeBytes(unit);
        }
        return sent.toByteArray();
    }

    /** Returns how many packets were dropped for a reason, and checks that they are all that came in and are accounted for. */
    long dropped(DropReason reason) {
        long dropped = sapf.traffic().dropped(reason);
        assertThat(sapf.traffic().packetsIn()).as("dropped as %s alone", reason).isEqualTo(dropped);
        return dropped;
    }
}
