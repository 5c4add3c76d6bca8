package org.tamanoir.rtp;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * RTCP (RFC 3550, 6): packets one behind the other, the first a report of a sender or receiver, or whatever RFC 5506
 * allows. Of SRTCP (RFC 3711, 3.4) all behind the first 8 octets is encrypted, with a trailer: so nothing is wrong with
 * padding or a reason there, and what is behind the first packet is read as far as it makes sense. Stateless.
 */
final class RtpControl {
    private static final int SENDER_REPORT = 200;
    private static final int RECEIVER_REPORT = 201;
    private static final int BYE = 203;
    private static final int HEAD_OCTETS = 4;
    private static final int SENDER_INFO_OCTETS = 20;
    private static final int BLOCK_OCTETS = 24;
    private static final int SSRC_OCTETS = 4;

    private RtpControl() {}

    /** Reads a datagram's packets; returns null, or what is wrong with the first: then nothing has been said. */
    static @Nullable String read(ByteBuffer memory, int at, int octets, RtcpListener said) {
        int end = at + octets;
        int next = at;
        String wrong;
        do {
            wrong = readNext(memory, next, end, said);
            if (wrong != null) {
                return next == at ? wrong : null;
            }
            next += lengthOf(memory, next);
        } while (next < end);
        return null;
    }

    private static int lengthOf(ByteBuffer memory, int at) {
        return HEAD_OCTETS * (1 + (memory.getShort(at + 2) & 0xFFFF));
    }

    private static @Nullable String readNext(ByteBuffer memory, int at, int end, RtcpListener said) {
        if (end - at < HEAD_OCTETS) {
            return "RTCP of " + (end - at) + " octets: at least 4 are wanted";
        }
        int first = memory.get(at) & 0xFF;
        int length = lengthOf(memory, at);
        if (first >> 6 != 2 || length > end - at) {
            return "RTCP of another version than 2, or beyond its datagram";
        }
        return readOne(memory, at, length, memory.get(at + 1) & 0xFF, first & 0x1F, said);
    }

    private static @Nullable String readOne(
            ByteBuffer memory, int at, int length, int type, int count, RtcpListener said) {
        if (type == BYE) {
            if (HEAD_OCTETS + count * SSRC_OCTETS > length) {
                return "RTCP BYE of " + count + " sources beyond its end";
            }
            for (int i = 0; i < count; i++) {
                said.bye(memory.getInt(at + HEAD_OCTETS + i * SSRC_OCTETS));
            }
        } else if (type == SENDER_REPORT || type == RECEIVER_REPORT) {
            int head = HEAD_OCTETS + SSRC_OCTETS + (type == SENDER_REPORT ? SENDER_INFO_OCTETS : 0);
            if (head + count * BLOCK_OCTETS > length) {
                return "RTCP report of " + count + " blocks beyond its end";
            }
            for (int i = 0; i < count; i++) {
                int block = at + head + i * BLOCK_OCTETS;
                int loss = memory.getInt(block + 4);
                said.report(
                        memory.getInt(block),
                        new RtpReport(
                                loss >>> 24,
                                loss << 8 >> 8,
                                memory.getInt(block + 8) & 0xFFFF_FFFFL,
                                memory.getInt(block + 12) & 0xFFFF_FFFFL));
            }
        }
        return null;
    }
}
