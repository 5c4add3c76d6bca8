package org.tamanoir.sapf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Anep;
import org.tamanoir.support.Seeds;
import org.tamanoir.traffic.Tap;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * Datagrams of all kinds from many sources, honest and not, against a table of what was answered: nothing becomes a packet
 * but what its issuer bound for that source, with all its octets; all are accounted for; and nobody gets more octets than
 * he sent. {@code -Dtamanoir.sapf.datagrams} says how many, {@code -Dtamanoir.seed} which.
 */
@Tag("once")
class SapfFuzzTest {
    private static final long DATAGRAMS = Seeds.number("tamanoir.sapf.datagrams", Seeds.scaled(500_000));
    private static final long SEED = Seeds.ofCommit(SapfFuzzTest.class);
    private static final int SOURCES = 600;
    private static final int FLOWS = 40;
    private static final int BATCH = 64;
    private static final int REMEMBERED = 4 * Selector.SLOTS;
    private static final long LIFETIME_NS = 60_000_000_000L;
    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 3322);

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final AtomicLong clockNs = new AtomicLong(1);
    private final Sapf sapf = new Sapf(
            new SapfSettings(true, List.of(), Duration.ofSeconds(60)),
            8,
            Anep.DEFAULT_TYPE_ID,
            clockNs::get,
            new Tap());
    private final Wire wire = new Wire();
    private final UdpSocket socket = sapf.over(wire);
    private final UdpBatch opened = socket.newBatch();

    private final List<byte[]> flows = new ArrayList<>();
    /** Of requests that were made: the flow. */
    private final Map<Long, byte[]> requests = new HashMap<>();

    private final Map<Long, Known> known = new HashMap<>();
    private final List<Known> all = new ArrayList<>();

    /** What a packet was on the wire. */
    private enum Origin {
        NONE,
        ITSELF,
        SELECTOR
    }

    /** A selector that was issued, for whom and what. */
    private record Known(long selector, long request, byte[] header, long source) {}

    @Test
    void nothingBecomesAPacketThatItsSourceDidNotBind() throws IOException {
        for (int i = 0; i < FLOWS; i++) {
            flows.add(SapfEnd.packet(i, ""));
        }
        long packets = 0;
        long plain = 0;
        long controls = 0;
        for (long sent = 0; sent < DATAGRAMS; sent += BATCH) {
            wire.clear();
            forgetOld();
            for (int i = 0; i < BATCH; i++) {
                long source = random.nextInt(SOURCES);
                byte[] datagram = next(source);
                wire.put(source, datagram);
                controls += isControl(datagram) ? 1 : 0;
            }
            int messages = socket.receive(opened);
            for (int m = 0; m < messages; m++) {
                byte[] packet = new byte[opened.end(m) - opened.start(m)];
                opened.buffer(m).get(opened.start(m), packet);
                Origin origin = wire.originOf(packet, opened.addressLow(m));
                if (origin == Origin.NONE) {
                    fail(
                            "seed %s, after %s datagrams: nobody sent %s",
                            SEED, sent, HexFormat.of().formatHex(packet));
                } else if (origin == Origin.SELECTOR) {
                    packets++;
                } else {
                    plain++;
                }
            }
            if (random.nextInt(200) == 0) {
                clockNs.addAndGet(random.nextLong(LIFETIME_NS));
            } else {
                clockNs.addAndGet(random.nextInt(1_000_000));
            }
        }
        long dropped = sapf.traffic().packetsIn();
        long came = (DATAGRAMS + BATCH - 1) / BATCH * BATCH;
        assertThat(packets + plain + controls + dropped).as("seed %s", SEED).isEqualTo(came);
        assertThat(packets).as("some became packets").isGreaterThan(came / 20);
        assertThat(sapf.statistics().packetsIn()).isEqualTo(packets);
        assertThat(wire.answered).isPositive().isLessThanOrEqualTo(wire.asked);
        assertThat(sapf.statistics().issued()).isLessThanOrEqualTo(Selector.SLOTS);
    }

    /** Requests are answered at once, and no binding outlives so many later ones. */
    private void forgetOld() {
        requests.clear();
        if (all.size() > 2 * REMEMBERED) {
            List<Known> old = all.subList(0, REMEMBERED);
            old.forEach(each -> known.remove(each.selector));
            old.clear();
        }
    }

    private static boolean isControl(byte[] datagram) {
        return datagram.length >= 8 && ByteBuffer.wrap(datagram).getLong(0) == Selector.CONTROL;
    }

    private byte[] next(long source) {
        Known one = all.isEmpty() ? null : all.get(Math.max(0, all.size() - 1 - random.nextInt(2_000)));
        int kind = random.nextInt(100);
        if (kind < 25) {
            byte[] header = flows.get(random.nextInt(FLOWS));
            long request = random.nextLong();
            ByteBuffer bind = message(Control.BIND, Control.BIND_HEADER + header.length);
            bind.putLong(Control.CONTENT, request).putInt(Control.CONTENT + 8, random.nextInt());
            bind.put(Control.BIND_HEADER, header);
            byte[] asks = mutatedAtTimes(bind.array());
            requests.put(
                    ByteBuffer.wrap(asks).getLong(Control.CONTENT),
                    Arrays.copyOfRange(asks, Control.BIND_HEADER, asks.length));
            return asks;
        }
        if (one != null && kind < 60) {
            wire.source = random.nextInt(10) == 0 ? source : one.source;
            return framed(one.selector, random.nextInt(80));
        }
        if (one != null && kind < 65) {
            return framed(one.selector ^ 1L << random.nextInt(64), random.nextInt(40));
        }
        if (one != null && kind < 72) {
            wire.source = random.nextInt(4) == 0 ? source : one.source;
            ByteBuffer refresh = message(Control.REFRESH, Control.BOUND_OCTETS);
            refresh.putLong(Control.CONTENT, one.request).putLong(Control.CONTENT + 8, one.selector);
            return mutatedAtTimes(refresh.putInt(Control.CONTENT + 16, 60).array());
        }
        if (one != null && kind < 74) {
            wire.source = random.nextBoolean() ? source : one.source;
            ByteBuffer release = message(Control.RELEASE, Control.SELECTOR_OCTETS);
            return mutatedAtTimes(release.putLong(Control.CONTENT, one.selector).array());
        }
        if (kind < 84) {
            return framed(random.nextLong() >>> random.nextInt(64), random.nextInt(40));
        }
        if (kind < 90) {
            return SapfEnd.packet(random.nextInt(FLOWS), "plain");
        }
        if (kind < 94) {
            ByteBuffer other = message(random.nextInt(9), Control.SELECTOR_OCTETS + 4 * random.nextInt(6));
            return mutatedAtTimes(
                    other.putLong(Control.CONTENT, random.nextLong()).array());
        }
        byte[] noise = new byte[1 + random.nextInt(40)];
        random.nextBytes(noise);
        return noise;
    }

    private static ByteBuffer message(int type, int octets) {
        return ByteBuffer.allocate(octets)
                .putLong(0, Selector.CONTROL)
                .putShort(8, (short) type)
                .putShort(10, (short) (octets - 8 >>> 2));
    }

    private byte[] framed(long selector, int payload) {
        byte[] octets = new byte[8 + payload];
        random.nextBytes(octets);
        ByteBuffer.wrap(octets).putLong(0, selector);
        return octets;
    }

    private byte[] mutatedAtTimes(byte[] octets) {
        if (random.nextInt(6) == 0) {
            octets[random.nextInt(octets.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return octets;
    }

    /** What is put on it comes, and answers to it are read. */
    private final class Wire implements UdpSocket, UdpBatch, UdpSender {
        private final ByteBuffer memory = ByteBuffer.allocateDirect(BATCH * 1_024);
        private final int[] ends = new int[BATCH];
        private final long[] sources = new long[BATCH];
        private final List<byte[]> datagrams = new ArrayList<>();
        private int count;
        private int found;
        /** Of the datagram that is put next, if it is to be another than was drawn; -1 = as it was. */
        long source = -1;

        long asked;
        long answered;

        void clear() {
            count = 0;
            found = 0;
            datagrams.clear();
        }

        void put(long drawn, byte[] datagram) {
            long from = source < 0 ? drawn : source;
            source = -1;
            memory.put(start(count), datagram);
            ends[count] = start(count) + datagram.length;
            sources[count++] = from;
            datagrams.add(datagram);
            asked += datagram.length;
        }

        /** Returns what became this packet: one of the datagrams behind the one that was found before. */
        Origin originOf(byte[] packet, long low) {
            while (found < count) {
                byte[] each = datagrams.get(found);
                long from = sources[found++];
                long selector = each.length < 8 ? 0 : ByteBuffer.wrap(each).getLong(0);
                if (address(from) != low) {
                    continue;
                }
                if (Arrays.equals(packet, each) || selector == Selector.TUNNEL && isBehind(packet, each, 8)) {
                    return Origin.ITSELF;
                }
                Known bound = known.get(selector);
                if (bound != null && bound.source == from && isOf(packet, bound.header, each)) {
                    return Origin.SELECTOR;
                }
            }
            return Origin.NONE;
        }

        private static boolean isBehind(byte[] payload, byte[] datagram, int header) {
            return Arrays.equals(payload, 0, payload.length, datagram, header, datagram.length);
        }

        private static boolean isOf(byte[] packet, byte[] header, byte[] datagram) {
            byte[] whole = Arrays.copyOf(header, header.length + datagram.length - 8);
            System.arraycopy(datagram, 8, whole, header.length, datagram.length - 8);
            ByteBuffer.wrap(whole).putShort(6, (short) whole.length);
            return Arrays.equals(whole, packet);
        }

        private static long address(long source) {
            return 0xFFFF_0A00_0000L | source;
        }

        // ---- answers

        @Override
        public void add(ByteBuffer buffer, int offset, int length, long high, long low, int port) {
            answered += length;
            if (buffer.getShort(offset + 8) == Control.BOUND && buffer.getLong(offset + 20) != Selector.NONE) {
                long request = buffer.getLong(offset + Control.CONTENT);
                byte[] header = requests.get(request);
                long selector = buffer.getLong(offset + Control.CONTENT + 8);
                if (header != null && !known.containsKey(selector)) {
                    Known made = new Known(selector, request, header, low & 0xFF_FFFF);
                    known.put(selector, made);
                    all.add(made);
                }
            }
        }

        @Override
        public void discard() {}

        @Override
        public void flush() {}

        @Override
        public long sentPackets() {
            return 0;
        }

        @Override
        public long sentBytes() {
            return 0;
        }

        @Override
        public long failedPackets() {
            return 0;
        }

        @Override
        public String lastError() {
            return "";
        }

        // ---- socket

        @Override
        public InetSocketAddress localAddress() {
            return HERE;
        }

        @Override
        public void receiveInTransit() {}

        @Override
        public UdpBatch newBatch() {
            return this;
        }

        @Override
        public UdpSender newSender() {
            return this;
        }

        @Override
        public int receive(UdpBatch batch) {
            return count;
        }

        @Override
        public boolean awaitReadable(Duration timeout) {
            return true;
        }

        @Override
        public void close() {}

        // ---- batch

        @Override
        public ByteBuffer buffer(int message) {
            return memory;
        }

        @Override
        public int start(int message) {
            return message * 1_024;
        }

        @Override
        public int end(int message) {
            return ends[message];
        }

        @Override
        public int segmentBytes(int message) {
            return ends[message] - start(message);
        }

        @Override
        public long addressHigh(int message) {
            return 0;
        }

        @Override
        public long addressLow(int message) {
            return address(sources[message]);
        }

        @Override
        public int port(int message) {
            return 3322;
        }
    }
}
