package org.tamanoir.services.extra.transcode;

import java.nio.ByteBuffer;

/**
 * An elementary stream of video, whose pictures are told by their start codes and cut out to the byte, however packets
 * part it.
 *
 * <pre>
 *   00 00 01 | 00 (picture) | temporal reference, 10 bits | coding type, 3 bits …        MPEG-2, ISO/IEC 13818-2, 6.2.3
 *   00 00 01 | 0, ref_idc 2 bits, type 5 bits | first_mb_in_slice ue(v) | slice_type ue(v) …   H.264, 7.3.1 and 7.3.3
 * </pre>
 *
 * <p>In H.264 a picture begins with a slice of its first macroblock; one that is no reference (ref_idc 0) is a B here,
 * whatever its slices are, and one that is a reference is an I or else a P. Other units and headers go on.
 *
 * <p>Thread contract: one thread.
 */
final class PictureStream {
    /** Formats of streams. */
    enum Syntax {
        MPEG2,
        H264
    }

    /** The most bytes that wait for those that follow. */
    static final int MAX_PENDING = 6;

    private static final int CODE_BYTES = 4;
    private static final int MPEG2_EXTENSION = 0xB5;
    private static final int MPEG2_USER_DATA = 0xB2;
    private static final int MPEG2_LAST_SLICE = 0xAF;
    private static final int H264_SLICE = 1;
    private static final int H264_PARTITION_A = 2;
    private static final int H264_PARTITION_C = 4;
    private static final int H264_IDR = 5;

    private final Syntax syntax;
    private final Thinning thinning;
    private final byte[] pending = new byte[MAX_PENDING];
    private int pendingBytes;
    /** Whether the picture in hand goes on, and whether the bytes in hand do. */
    private boolean keepsPicture = true;

    private boolean keeps = true;

    PictureStream(Syntax syntax, Thinning thinning) {
        this.syntax = syntax;
        this.thinning = thinning;
    }

    /** Takes bytes from position to limit, and writes what goes on; {@link #MAX_PENDING} more than came at most. */
    void take(ByteBuffer source, ByteBuffer target, long nowNs) {
        for (int i = source.position(); i < source.limit(); i++) {
            byte octet = source.get(i);
            if (pendingBytes == 0 && octet != 0) {
                release(octet, target);
            } else {
                pending[pendingBytes++] = octet;
                settle(target, nowNs);
            }
        }
        source.position(source.limit());
    }

    /** Writes what waits. */
    void end(ByteBuffer target) {
        for (int i = 0; i < pendingBytes; i++) {
            release(pending[i], target);
        }
        pendingBytes = 0;
    }

    int pendingBytes() {
        return pendingBytes;
    }

    private void settle(ByteBuffer target, long nowNs) {
        while (pendingBytes > 0 && !isStartCode()) {
            if (isPrefix()) {
                return;
            }
            release(pending[0], target);
            System.arraycopy(pending, 1, pending, 0, --pendingBytes);
        }
        if (pendingBytes >= CODE_BYTES && pendingBytes == needed()) {
            if (syntax == Syntax.MPEG2) {
                beginMpeg2(nowNs);
            } else {
                beginH264(nowNs);
            }
            end(target);
        }
    }

    private boolean isStartCode() {
        return pendingBytes >= 3 && pending[0] == 0 && pending[1] == 0 && pending[2] == 1;
    }

    private boolean isPrefix() {
        return pending[0] == 0 && (pendingBytes == 1 || pending[1] == 0 && pendingBytes == 2);
    }

    /** Returns the bytes that say what the start code begins. */
    private int needed() {
        int code = pending[3] & 0xFF;
        if (syntax == Syntax.MPEG2) {
            return code == 0 ? 6 : CODE_BYTES;
        }
        return isSlice(code & 0x1F) ? 5 : CODE_BYTES;
    }

    private static boolean isSlice(int type) {
        return type == H264_SLICE || type == H264_PARTITION_A || type == H264_IDR;
    }

    private void beginMpeg2(long nowNs) {
        int code = pending[3] & 0xFF;
        if (code == 0) {
            int type = pending[5] >> 3 & 7;
            keepsPicture = thinning.begin(
                    type == 1 ? PictureKind.I : type == 2 ? PictureKind.P : type == 3 ? PictureKind.B : PictureKind.I,
                    nowNs);
            keeps = keepsPicture;
        } else if (code > MPEG2_LAST_SLICE && code != MPEG2_EXTENSION && code != MPEG2_USER_DATA) {
            keeps = thinning.begin(PictureKind.NONE, nowNs);
        }
    }

    private void beginH264(long nowNs) {
        int type = pending[3] & 0x1F;
        if (isSlice(type)) {
            boolean isFirst = pending[4] < 0; // first_mb_in_slice is 0, one bit that is set.
            if (isFirst) {
                keepsPicture = thinning.begin(h264Kind(type, pending[3] >> 5 & 3, pending[4]), nowNs);
            }
            keeps = keepsPicture;
        } else if (type > H264_PARTITION_A && type <= H264_PARTITION_C) {
            keeps = keepsPicture;
        } else {
            keeps = thinning.begin(PictureKind.NONE, nowNs);
        }
    }

    private static PictureKind h264Kind(int type, int reference, int sliceHeader) {
        if (type == H264_IDR) {
            return PictureKind.I;
        }
        if (reference == 0) {
            return PictureKind.B;
        }
        // slice_type, 0 to 9, behind the first bit: leading zeros, and as many bits behind the one that is set.
        int zeros = Integer.numberOfLeadingZeros((sliceHeader & 0x7F) << 25);
        int sliceType = zeros > 3 ? -1 : ((sliceHeader & 0x7F) >> 6 - 2 * zeros) - 1;
        return sliceType % 5 == 2 || sliceType % 5 == 4 ? PictureKind.I : PictureKind.P;
    }

    private void release(byte octet, ByteBuffer target) {
        thinning.count(1);
        if (keeps) {
            target.put(octet);
        }
    }
}
