package org.tamanoir.anep;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * ANEP headers for datagrams that have none: what an operator's rule says of a datagram stands in front of it, so that
 * all behind sees a packet. They never leave the node with it.
 *
 * <pre>
 *   0  basic header                 8
 *   8  source identifier            12, of IPv6 24
 *  20  destination identifier       12, of IPv6 24   (behind here of IPv6 24 more)
 *  32  destination port             8
 *  40  service key                  12
 *  52  class of service             8, where the rule names a class
 * </pre>
 *
 * <p>Thread contract: any thread.
 */
public final class PlainHeaders {
    /** The longest, a multiple of 4. */
    public static final int MAX_BYTES = 84;

    /** In place of a class. */
    public static final int NO_CLASS = -1;

    private static final int SOURCE_AT = Anep.BASIC_HEADER_OCTETS;
    private static final int V4_WORDS = 3;
    private static final int V6_WORDS = 6;

    private final List<byte[]> v4;
    private final List<byte[]> v6;
    private final long dropsOnFailure;

    /** What one rule says: the service, {@link #NO_CLASS} or a class, and whether what its service fails is dropped. */
    public record Wish(long serviceKey, int classOfService, boolean dropsOnFailure) {}

    /** Prepares the headers of all rules, by their index. */
    public PlainHeaders(int typeId, List<Wish> wishes) {
        v4 = wishes.stream().map(wish -> template(typeId, wish, V4_WORDS)).toList();
        v6 = wishes.stream().map(wish -> template(typeId, wish, V6_WORDS)).toList();
        long drops = 0;
        for (int rule = 0; rule < wishes.size(); rule++) {
            drops |= wishes.get(rule).dropsOnFailure() ? 1L << rule : 0;
        }
        dropsOnFailure = drops;
    }

    private static byte[] template(int typeId, Wish wish, int identifierWords) {
        boolean hasClass = wish.classOfService() != NO_CLASS;
        int bytes = SOURCE_AT + 8 * identifierWords + 8 + 12 + (hasClass ? 8 : 0);
        ByteBuffer header = ByteBuffer.allocate(bytes).order(ByteOrder.BIG_ENDIAN);
        header.put((byte) Anep.VERSION).put((byte) 0).putShort((short) typeId);
        header.putShort((short) (bytes / 4)).putShort((short) 0);
        int scheme = identifierWords == V4_WORDS ? Anep.SCHEME_IPV4 : Anep.SCHEME_IPV6;
        for (Option end : List.of(Option.SOURCE, Option.DESTINATION)) {
            put(header, end, identifierWords).putInt(scheme);
            header.position(header.position() + 4 * identifierWords - 8);
        }
        put(header, Option.DESTINATION_PORT, 2).putInt(0);
        put(header, Option.SERVICE_KEY, 3).putLong(wish.serviceKey());
        if (hasClass) {
            put(header, Option.CLASS_OF_SERVICE, 2).putInt(wish.classOfService() << 24);
        }
        return header.array();
    }

    private static ByteBuffer put(ByteBuffer header, Option option, int words) {
        return header.putShort((short) option.wireType()).putShort((short) words);
    }

    /** Returns how many rules there are. */
    public int rules() {
        return v4.size();
    }

    /** Returns whether datagrams of a rule are dropped where its service fails them. */
    public boolean dropsOnFailure(int rule) {
        return (dropsOnFailure >>> rule & 1) != 0;
    }

    /** Returns the bytes of the header of a rule's datagrams. */
    public int bytes(int rule, boolean isIpv6) {
        return (isIpv6 ? v6 : v4).get(rule).length;
    }

    /**
     * Writes the header in front of a datagram; addresses as {@code ::ffff:a.b.c.d} where they are IPv4's.
     *
     * @param buffer big-endian
     * @param at of the header's first byte
     */
    public void put(
            ByteBuffer buffer,
            int at,
            int rule,
            boolean isIpv6,
            int payloadBytes,
            long sourceHigh,
            long sourceLow,
            long destinationHigh,
            long destinationLow,
            int destinationPort) {
        byte[] template = (isIpv6 ? v6 : v4).get(rule);
        buffer.put(at, template);
        buffer.putShort(at + 6, (short) (template.length + payloadBytes));
        int source = at + SOURCE_AT + 8;
        if (isIpv6) {
            int destination = source + 4 * V6_WORDS;
            buffer.putLong(source, sourceHigh).putLong(source + 8, sourceLow);
            buffer.putLong(destination, destinationHigh).putLong(destination + 8, destinationLow);
            buffer.putShort(destination + 20, (short) destinationPort);
        } else {
            int destination = source + 4 * V4_WORDS;
            buffer.putInt(source, (int) sourceLow).putInt(destination, (int) destinationLow);
            buffer.putShort(destination + 8, (short) destinationPort);
        }
    }
}
