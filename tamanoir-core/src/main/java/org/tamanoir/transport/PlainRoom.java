package org.tamanoir.transport;

import org.tamanoir.anep.PlainGenerations;
import org.tamanoir.anep.PlainHeaders;

/**
 * The headers in front of the plain datagrams of one batch. The kernel says where a datagram was sent, and by its mark
 * which rule is for it.
 *
 * <p>Thread contract: that of its batch.
 */
final class PlainRoom {
    /** In front of a datagram: two cache lines, of which the header takes what lies next to it. */
    static final int BYTES = 128;

    private static final int MARK_MASK = 0xFFF0_0000;
    private static final int RULE_MASK = 0x3F;

    private final PlainGenerations generations;
    private final int mark;
    private final int[] headerBytes = new int[NativeUdpBatch.SLOTS];
    private final int[] payloadBytes = new int[NativeUdpBatch.SLOTS];
    /** Where the sockaddr of each datagram's destination stands among the messages. */
    private final int[] destinations = new int[NativeUdpBatch.SLOTS];

    /** @param mark upper bits of the marks of datagrams that rules are for */
    PlainRoom(PlainGenerations generations, int mark) {
        this.generations = generations;
        this.mark = mark;
    }

    /** Returns a room of the same headers for another batch. */
    PlainRoom another() {
        return new PlainRoom(generations, mark);
    }

    /**
     * Puts its header in front of a message that came; one that no rule has sent up is empty from now on.
     *
     * @param at where its first byte lies
     */
    void head(NativeUdpBatch batch, MessageArray messages, int m, int at) {
        int seen = batch.mark(m);
        int destination = messages.originalDestination(m);
        int rule = seen & RULE_MASK;
        PlainHeaders headers = generations.of(seen);
        headerBytes[m] = 0;
        payloadBytes[m] = 0;
        destinations[m] = destination;
        if ((seen & MARK_MASK) != mark || destination == 0 || headers == null || rule >= headers.rules()) {
            return;
        }
        long sourceHigh = messages.addressHigh(m);
        long sourceLow = messages.addressLow(m);
        boolean isIpv6 = !UdpAddress.isV4(sourceHigh, sourceLow);
        int bytes = headers.bytes(rule, isIpv6);
        int payload = messages.length(m);
        headers.put(
                batch.buffer(m),
                at - bytes,
                rule,
                isIpv6,
                payload,
                sourceHigh,
                sourceLow,
                destinationHigh(messages, m),
                destinationLow(messages, m),
                destinationPort(messages, m));
        headerBytes[m] = bytes;
        payloadBytes[m] = payload;
    }

    /** Returns the bytes of a message's header; 0 when it has none. */
    int headerBytes(int m) {
        return headerBytes[m];
    }

    /** Returns the bytes of the datagram itself. */
    int payloadBytes(int m) {
        return payloadBytes[m];
    }

    long destinationHigh(MessageArray messages, int m) {
        return destinations[m] == 0 ? 0 : MessageArray.sockaddrHigh(messages.memory(), destinations[m]);
    }

    long destinationLow(MessageArray messages, int m) {
        return destinations[m] == 0 ? 0 : MessageArray.sockaddrLow(messages.memory(), destinations[m]);
    }

    int destinationPort(MessageArray messages, int m) {
        return destinations[m] == 0 ? 0 : MessageArray.sockaddrPort(messages.memory(), destinations[m]);
    }
}
