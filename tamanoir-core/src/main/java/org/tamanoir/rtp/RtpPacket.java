package org.tamanoir.rtp;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * An RTP packet where it lies (RFC 3550, 5.1), or RTCP on the same port (RFC 5761):
 *
 * <pre>
 *   octet 0     version (2 bits, 2), padding, extension, number of CSRCs (4 bits)
 *         1     marker, payload type (7 bits); of RTCP the type, 192 to 223
 *         2, 3  sequence number
 *         4..7  timestamp
 *         8..11 SSRC
 *         12..  CSRCs, 4 octets each; with an extension 4 octets and as many words as the last 2 of them say; media;
 *               with padding the last octet says how many are padding, itself among them
 * </pre>
 *
 * <p>Thread contract: one thread. It holds until what it was read from changes; nothing is allocated, but for
 * {@link #readControl}.
 */
public final class RtpPacket {
    /** Of the header of every RTP packet. */
    public static final int FIXED_OCTETS = 12;

    private static final int VERSION = 2;
    private static final int WORD = 4;

    private @Nullable ByteBuffer memory;
    private int at;
    private int octets;
    private int headerOctets;
    private int mediaOctets;
    private int paddingOctets;

    /** Reads the payload of a packet, as {@link #read(ByteBuffer, int, int)}. */
    public @Nullable String read(Packet packet) {
        ByteBuffer whole = packet.look();
        return read(whole, whole.position() + packet.headerLength(), packet.payloadLength());
    }

    /**
     * Reads what lies there.
     *
     * @param memory big-endian
     * @return null, or in a few words what is wrong with it; nothing is to be asked of it then
     */
    public @Nullable String read(ByteBuffer memory, int at, int octets) {
        this.memory = memory;
        this.at = at;
        this.octets = octets;
        headerOctets = 0;
        mediaOctets = 0;
        paddingOctets = 0;
        if (octets < WORD) {
            return octets + " octets: at least 4 are wanted";
        }
        if ((memory.get(at) & 0xFF) >> 6 != VERSION) {
            return "version " + ((memory.get(at) & 0xFF) >> 6) + ": 2 is wanted";
        }
        if (isControl()) {
            return null;
        }
        int first = memory.get(at);
        int header = FIXED_OCTETS + (first & 0xF) * WORD;
        if ((first & 0x10) != 0) {
            header += WORD;
            if (header <= octets) {
                header += (memory.getShort(at + header - 2) & 0xFFFF) * WORD;
            }
        }
        if (octets < FIXED_OCTETS) {
            return octets + " octets: at least 12 are wanted";
        }
        if (header > octets) {
            return "CSRCs or an extension beyond its end";
        }
        headerOctets = header;
        if ((first & 0x20) != 0) {
            int padding = memory.get(at + octets - 1) & 0xFF;
            paddingOctets = padding == 0 || padding > octets - header ? -1 : padding;
        }
        mediaOctets = octets - header - Math.max(0, paddingOctets);
        return null;
    }

    private ByteBuffer memory() {
        ByteBuffer known = memory;
        if (known == null) {
            throw new IllegalStateException("no packet was read");
        }
        return known;
    }

    /**
     * Reads RTCP, and says what it says; only of what {@link #isControl}. A report is made for each that it has.
     *
     * @return null, or in a few words what is wrong with its first packet: nothing has been said then
     */
    public @Nullable String readControl(RtcpListener said) {
        return RtpControl.read(memory(), at, octets, said);
    }

    /** Returns whether it is RTCP, of which nothing else is to be asked here. */
    public boolean isControl() {
        int second = memory().get(at + 1) & 0xFF;
        return second >= 192 && second <= 223;
    }

    public boolean marker() {
        return memory().get(at + 1) < 0;
    }

    /** Returns the payload type, 0 to 127. */
    public int payloadType() {
        return memory().get(at + 1) & 0x7F;
    }

    /** Returns the sequence number, 0 to 65535. */
    public int sequence() {
        return memory().getShort(at + 2) & 0xFFFF;
    }

    /** Returns the timestamp, of which 32 bits count. */
    public int timestamp() {
        return memory().getInt(at + 4);
    }

    /** Returns the synchronization source, of which 32 bits count. */
    public int ssrc() {
        return memory().getInt(at + 8);
    }

    /** Returns how many contributing sources there are, 0 to 15. */
    public int csrcs() {
        return memory().get(at) & 0xF;
    }

    /** Returns the octets of the header, CSRCs and extension among them: where the media begin, from its own beginning. */
    public int headerOctets() {
        return headerOctets;
    }

    /**
     * Returns the octets of padding; -1 where the last one says that there are none, or more than there is room for. Of SRTP
     * it may say anything: padding is encrypted, and a tag stands behind it (RFC 3711, 3.1).
     */
    public int paddingOctets() {
        return paddingOctets;
    }

    /** Returns the octets of the media, without padding that there is room for. */
    public int mediaOctets() {
        return mediaOctets;
    }
}
