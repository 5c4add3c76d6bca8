package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;

/**
 * Datagrams with numbers from the client to the server, of which each must arrive once, with the octets of the service that
 * it went through, if any. Few are under way, so that no buffer overflows.
 *
 * <p>Thread contract: one thread, but for two of its own.
 */
final class PlainDatagrams {
    static final int PORT = 5004;
    static final int UNDER_WAY = 32;
    /** In place of the octet of a service. */
    static final int NONE = 0;

    private static final int PAYLOAD_BYTES = 64;
    private static final int IP_UDP_BYTES = 28;
    private static final byte[] NOTHING = {};
    private static final long PATIENCE_NS = Waiting.PATIENCE.toNanos();

    private final PlainBed bed;
    private final AtomicInteger sent = new AtomicInteger();
    private final AtomicInteger arrived = new AtomicInteger();
    /** By number: the octet of the service that it went through, -1 before it arrived. */
    private final List<Integer> through = new ArrayList<>();

    private volatile boolean isEnding;
    private volatile boolean hasSentAll;
    private final CompletableFuture<Void> sender;
    private final CompletableFuture<Void> receiver;

    PlainDatagrams(PlainBed bed) {
        this.bed = bed;
        receiver = Waiting.async(this::receive);
        sender = Waiting.async(this::send);
    }

    /** What a service of these tests does: it adds an octet to all of them but the number's. */
    static Verdict mark(Packet packet, int octet) {
        byte[] payload = new byte[packet.payloadLength()];
        packet.payload().get(payload);
        for (int i = Integer.BYTES; i < payload.length; i++) {
            payload[i] += (byte) octet;
        }
        packet.setPayload(ByteBuffer.wrap(payload));
        return Verdict.FORWARD;
    }

    private void send() {
        while (!isEnding) {
            int number = sent.get();
            await(() -> number - arrived.get() < UNDER_WAY || receiver.isDone());
            sent.incrementAndGet();
            bed.send(packet(number, 64, NONE));
        }
        hasSentAll = true;
    }

    private static byte[] packet(int number, int hops, int octet) {
        byte[] payload = new byte[PAYLOAD_BYTES];
        Arrays.fill(payload, (byte) (number * 7 + octet));
        ByteBuffer.wrap(payload).putInt(0, number);
        return PlainPackets.udp(TestNet.CLIENT4, TestNet.SERVER4, 7000, PORT, 0, hops, NOTHING, payload);
    }

    private void receive() {
        while (!hasSentAll || arrived.get() < sent.get()) {
            if (arrived.get() == sent.get()) {
                Thread.onSpinWait();
                continue;
            }
            byte[] packet = bed.server().packets(1, PlainDatagrams::isOurs).get(0);
            int number = ByteBuffer.wrap(packet).getInt(IP_UDP_BYTES);
            int octet = (byte) (packet[IP_UDP_BYTES + Integer.BYTES] - number * 7);
            assertThat(PlainPackets.comparable(packet))
                    .as("datagram %s", number)
                    .isEqualTo(PlainPackets.comparable(packet(number, 63, octet)));
            while (through.size() <= number) {
                through.add(-1);
            }
            assertThat(through.set(number, octet))
                    .as("datagram %s before", number)
                    .isEqualTo(-1);
            arrived.incrementAndGet();
        }
    }

    private static boolean isOurs(byte[] packet) {
        return packet[0] == 0x45 && packet[9] == PlainPackets.UDP && packet.length == IP_UDP_BYTES + PAYLOAD_BYTES;
    }

    /** Returns how many were sent so far. */
    int sent() {
        return sent.get();
    }

    /** Waits until so many have arrived. */
    void awaitArrived(int count) {
        await(() -> arrived.get() >= count || receiver.isDone() || sender.isDone());
    }

    private static void await(BooleanSupplier isSo) {
        long endNs = System.nanoTime() + PATIENCE_NS;
        while (!isSo.getAsBoolean()) {
            assertThat(System.nanoTime() - endNs).as("ns of patience").isNegative();
            Thread.onSpinWait();
        }
    }

    /** Sends no more, and returns what each went through when all have arrived. */
    List<Integer> end() {
        isEnding = true;
        sender.join();
        receiver.join();
        assertThat(arrived.get()).isEqualTo(sent.get());
        return through;
    }
}
