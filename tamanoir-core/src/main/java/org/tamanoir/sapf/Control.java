package org.tamanoir.sapf;

import java.nio.ByteBuffer;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * The messages by which neighbours agree on selectors, each a datagram of its own.
 *
 * <pre>
 *  octet 0               8        10       12
 *       +---------------+--------+--------+------------------------------------------------+
 *       | selector 1    |  type  | length |                                                |
 *       +---------------+--------+--------+------------------------------------------------+
 *        BIND              1               request (8)  lifetime (4)  header of ANEP (8 to 256)
 *        BOUND             2               request (8)  selector (8)  lifetime (4)
 *        REFUSED           3               request (8)  reason (4)
 *        REFRESH           4               request (8)  selector (8)  lifetime (4)
 *        RELEASE           5               selector (8)
 *        UNKNOWN           6               selector (8)
 * </pre>
 *
 * The length is that of type, length and content in 32-bit words, as in options of ANEP; lifetimes are in seconds. BOUND
 * with selector 0 says that packets of this flow are to stay ANEP. No answer is longer than what it answers.
 *
 * <p>Thread contract: one thread.
 */
final class Control {
    static final int BIND = 1;
    static final int BOUND = 2;
    static final int REFUSED = 3;
    static final int REFRESH = 4;
    static final int RELEASE = 5;
    static final int UNKNOWN = 6;

    /** Where a message's content begins. */
    static final int CONTENT = 12;

    static final int BIND_HEADER = CONTENT + 12;
    static final int BOUND_OCTETS = CONTENT + 20;
    static final int REFUSED_OCTETS = CONTENT + 12;
    static final int SELECTOR_OCTETS = CONTENT + 8;

    private static final int LONGEST = BIND_HEADER + HeaderTemplate.MAX_OCTETS;
    private static final int MESSAGES = 64;

    private final UdpSender sender;
    private final ByteBuffer memory = ByteBuffer.allocateDirect(MESSAGES * LONGEST);
    private int next;

    /** Sends through this socket, beside those who send packets, so that their counts are of packets alone. */
    Control(UdpSocket socket, int scope) {
        sender = socket.newSender(scope);
    }

    /** Has messages leave from this address of the host, as {@link UdpSender#from}. */
    void from(long high, long low, int device) {
        sender.from(high, low, device);
    }

    /** Returns the type of the message of that many octets; 0 when its length is not that of its type. */
    static int type(ByteBuffer memory, int at, int octets) {
        if (octets < SELECTOR_OCTETS || (memory.getShort(at + 10) & 0xFFFF) * 4 + Selector.OCTETS != octets) {
            return 0;
        }
        int type = memory.getShort(at + 8);
        boolean fits = switch (type) {
            case BIND -> octets >= BIND_HEADER + 8;
            case BOUND, REFRESH -> octets == BOUND_OCTETS;
            case REFUSED -> octets == REFUSED_OCTETS;
            case RELEASE, UNKNOWN -> octets == SELECTOR_OCTETS;
            default -> false;
        };
        return fits ? type : 0;
    }

    void bind(long request, int lifetimeS, HeaderTemplate header, long high, long low, int port) {
        int at = begin(BIND, BIND_HEADER + header.octets());
        memory.putLong(at + CONTENT, request).putInt(at + CONTENT + 8, lifetimeS);
        header.writeAlone(memory, at + BIND_HEADER);
        end(at, BIND_HEADER + header.octets(), high, low, port);
    }

    void bound(int type, long request, long selector, int lifetimeS, long high, long low, int port) {
        int at = begin(type, BOUND_OCTETS);
        memory.putLong(at + CONTENT, request)
                .putLong(at + CONTENT + 8, selector)
                .putInt(at + CONTENT + 16, lifetimeS);
        end(at, BOUND_OCTETS, high, low, port);
    }

    void refused(long request, Refused reason, long high, long low, int port) {
        int at = begin(REFUSED, REFUSED_OCTETS);
        memory.putLong(at + CONTENT, request).putInt(at + CONTENT + 8, reason.number());
        end(at, REFUSED_OCTETS, high, low, port);
    }

    void selector(int type, long selector, long high, long low, int port) {
        int at = begin(type, SELECTOR_OCTETS);
        memory.putLong(at + CONTENT, selector);
        end(at, SELECTOR_OCTETS, high, low, port);
    }

    private int begin(int type, int octets) {
        if (next == MESSAGES) {
            flush();
        }
        int at = next++ * LONGEST;
        putHead(memory, at, type, octets);
        return at;
    }

    /** Puts what a message of that many octets begins with. */
    static void putHead(ByteBuffer memory, int at, int type, int octets) {
        memory.putLong(at, Selector.CONTROL).putShort(at + 8, (short) type).putShort(at + 10, (short)
                (octets - Selector.OCTETS >>> 2));
    }

    private void end(int at, int octets, long high, long low, int port) {
        sender.add(memory, at, octets, high, low, port);
    }

    void flush() {
        if (next > 0) {
            sender.flush();
            next = 0;
        }
    }
}
