package org.tamanoir.anep;

/**
 * The numbers of the Active Network Encapsulation Protocol (RFC draft of July 1997) and of Tamanoir's
 * private options. All multi-octet fields are big-endian.
 *
 * <pre>
 *  octet 0        1        2        3
 *       +--------+--------+--------+--------+
 *     0 |Version | Flags  |     Type ID     |   basic header, 8 octets
 *       +--------+--------+--------+--------+
 *     4 | ANEP Hdr Length | ANEP Pkt Length |   32-bit words | octets
 *       +--------+--------+--------+--------+
 *     8 | options (TLVs), (HdrLen-2)*4 oct. |
 *       +-----------------------------------+
 *   4*H | payload, PktLen - 4*HdrLen octets |
 *       +-----------------------------------+
 *
 *       +--+--------------+-----------------+
 *     0 |FL| Option Type  |  Option Length  |   FL 2 bits, type 14 bits, length in 32-bit words
 *       +--+--------------+-----------------+
 *     4 | option payload, (OptLen-1)*4 oct. |
 *       +-----------------------------------+
 * </pre>
 */
public final class Anep {
    /** The only version there is. */
    public static final int VERSION = 1;

    /** Flag of the basic header: a node that does not know the Type ID discards the packet. */
    public static final int FLAG_DISCARD = 0x80;

    /** Octets of the basic header. */
    public static final int BASIC_HEADER_OCTETS = 8;

    /** The smallest Header Length, in 32-bit words. */
    public static final int MIN_HEADER_WORDS = 2;

    /** The largest packet, in octets: Packet Length has 16 bits. */
    public static final int MAX_PACKET_OCTETS = 65_535;

    /** Where the packet length, in 16 bits, stands in the header. */
    public static final int LENGTH_AT = 6;

    /** The largest packet that fits one UDP datagram over IPv4. */
    public static final int MAX_DATAGRAM_OCTETS = 65_507;

    /** IANA's active-net port, TCP and UDP. */
    public static final int DEFAULT_PORT = 3322;

    /** Tamanoir's Type ID unless configured otherwise: "TM". No registry assigned it. */
    public static final int DEFAULT_TYPE_ID = 0x544D;

    /** Option flag: the type means something only to the execution environment named by the Type ID. */
    public static final int OPTION_PRIVATE = 0x8000;

    /** Option flag: a node that does not know the option discards the packet. */
    public static final int OPTION_DISCARD = 0x4000;

    /** The 14 bits of the option type. */
    public static final int OPTION_TYPE_MASK = 0x3FFF;

    /** Flag of a round: the packet is a marker, which says that its path has none in this round. */
    public static final int ROUND_EMPTY = 1;

    /** Flag of a round: the packet is the last of its round on its path. */
    public static final int ROUND_LAST = 2;

    /** Flag of a round: nothing follows on this path, since its unit leaves. */
    public static final int ROUND_PATH_ENDS = 4;

    /** Flag of a round: the path that is named, not the one that the marker takes, has packets from the next round on. */
    public static final int ROUND_PATH_BEGINS = 8;

    /** Flag of a round: it is the first of a start of the distributor, of exact order. */
    public static final int ROUND_FIRST = 16;

    /** Identifier scheme of options 1 and 2: IPv4, 4 octets. */
    public static final int SCHEME_IPV4 = 1;

    /** Identifier scheme of options 1 and 2: IPv6, 16 octets. */
    public static final int SCHEME_IPV6 = 2;

    /** Identifier scheme of options 1 and 2: IEEE 802.3, 6 octets and 2 zero octets. */
    public static final int SCHEME_802_3 = 3;

    private Anep() {}
}
