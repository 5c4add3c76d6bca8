package org.tamanoir.cluster.reflect;

import java.nio.ByteBuffer;

/**
 * What is read of RTP and RTCP (RFC 3550, sections 5.1 and 6.4), big-endian:
 *
 * <pre>
 * RTP                                           RTCP
 *  0  version (2 bits: 2), padding, X, CC        0  version (2 bits: 2), padding, report count (5 bits)
 *  1  marker, payload type                       1  packet type: SR 200, RR 201
 *  2  sequence number (2)                        2  length in words less one (2)
 *  4  timestamp (4)                              4  SSRC of the sender (4)
 *  8  SSRC (4)                                   8  RR: report blocks; SR: 20 bytes, then report blocks
 * </pre>
 *
 * A report block has 24 bytes: SSRC (4), fraction lost (1), lost (3), highest sequence (4), jitter (4), LSR, DLSR.
 */
final class Rtp {
    static final int HEADER_BYTES = 12;
    private static final int RTCP_HEADER_BYTES = 8;
    private static final int SENDER_REPORT = 200;
    private static final int RECEIVER_REPORT = 201;
    private static final int SENDER_INFO_BYTES = 20;
    private static final int BLOCK_BYTES = 24;
    /** RFC 5761, section 4: packet types that tell RTCP from RTP on one port. */
    private static final int FIRST_RTCP = 192;

    private static final int LAST_RTCP = 223;

    private Rtp() {}

    static boolean isRtp(ByteBuffer buffer, int at, int bytes) {
        return bytes >= HEADER_BYTES && buffer.get(at) >> 6 == -2;
    }

    static boolean isRtcp(ByteBuffer buffer, int at, int bytes) {
        int type = bytes < RTCP_HEADER_BYTES ? 0 : buffer.get(at + 1) & 0xFF;
        return type >= FIRST_RTCP && type <= LAST_RTCP && buffer.get(at) >> 6 == -2;
    }

    /** Notes what the receiver reports of a compound packet say: the highest loss, of whichever source. */
    static void noteReports(ByteBuffer buffer, int start, int bytes, Member from) {
        int end = start + bytes;
        int worst = -1;
        for (int at = start, next; end - at >= RTCP_HEADER_BYTES; at = next) {
            next = at + 4 * (1 + (buffer.getShort(at + 2) & 0xFFFF));
            int type = buffer.get(at + 1) & 0xFF;
            if (type == SENDER_REPORT || type == RECEIVER_REPORT) {
                int blocks = buffer.get(at) & 31;
                int block = at + RTCP_HEADER_BYTES + (type == SENDER_REPORT ? SENDER_INFO_BYTES : 0);
                for (int i = 0; i < blocks && block + BLOCK_BYTES <= Math.min(next, end); i++, block += BLOCK_BYTES) {
                    int fraction = buffer.get(block + 4) & 0xFF;
                    if (fraction > worst) {
                        worst = fraction;
                        from.reportedLoss = fraction;
                        from.reportedLost = buffer.getInt(block + 4) << 8 >> 8;
                        from.reportedJitter = buffer.getInt(block + 12) & 0xFFFF_FFFFL;
                    }
                }
            }
        }
    }
}
