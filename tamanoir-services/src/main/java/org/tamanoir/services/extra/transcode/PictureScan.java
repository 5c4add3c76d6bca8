package org.tamanoir.services.extra.transcode;

import org.jspecify.annotations.Nullable;

/**
 * Follows the structure of a PNG or JPEG file, whose bytes come one after the other, to its end, and reads from it how
 * large the picture is; nothing is decoded.
 *
 * <pre>
 *   PNG    89 50 4E 47 0D 0A 1A 0A, then chunks: length 4 | type 4 | data | CRC 4; the first is IHDR, the last IEND
 *   JPEG   FF D8, then segments: FF | marker | length 2, itself included | data; behind SOS coded data, in which FF 00 and
 *          FF D0 to D7 are no marker; FF D9 ends it
 * </pre>
 *
 * <p>Thread contract: one thread.
 */
final class PictureScan {
    /** Passes over the picture of a progressive JPEG: each costs as much as decoding it. */
    private static final int MAX_SCANS = 64;

    private static final long PNG_SIGNATURE = 0x89504E470D0A1A0AL;
    private static final int IHDR = 0x49484452;
    private static final int IEND = 0x49454E44;
    private static final int CHUNK_BYTES = 12;

    private boolean isPng;
    private boolean isBegun;
    private boolean isCoded;
    private int at;
    private int end;
    private int scans;
    private int width;
    private int height;
    private @Nullable String fault;

    /** Goes on with the file, of which there are so many bytes now. */
    void scan(byte[] file, int bytes) {
        if (!isBegun) {
            begin(file, bytes);
        }
        while (isBegun && fault == null && end == 0 && (isPng ? chunk(file, bytes) : segment(file, bytes))) {
            // Steps on.
        }
    }

    private void begin(byte[] file, int bytes) {
        if (bytes >= 2 && file[0] == (byte) 0xFF && file[1] == (byte) 0xD8) {
            isBegun = true;
            at = 2;
        } else if (bytes >= Long.BYTES) {
            isPng = (integer(file, 0) & 0xFFFFFFFFL) == PNG_SIGNATURE >>> 32 && integer(file, 4) == (int) PNG_SIGNATURE;
            isBegun = isPng;
            at = Long.BYTES;
            fault = isPng ? null : "not a picture";
        } else if (bytes > 0 && file[0] != (byte) 0x89 && file[0] != (byte) 0xFF) {
            fault = "not a picture";
        }
    }

    /** Steps over a chunk whose first bytes are there. */
    private boolean chunk(byte[] file, int bytes) {
        if (at > bytes - 8) {
            return false;
        }
        int length = integer(file, at);
        int type = integer(file, at + 4);
        if (length < 0 || length > Integer.MAX_VALUE - CHUNK_BYTES - at || (type == IHDR) != (at == Long.BYTES)) {
            return refuse();
        }
        if (type == IHDR) {
            if (length != 13) {
                return refuse();
            }
            if (at > bytes - 16) {
                return false;
            }
            width = integer(file, at + 8);
            height = integer(file, at + 12);
        }
        at += CHUNK_BYTES + length;
        if (type == IEND) {
            end = at;
        }
        return true;
    }

    /** Steps over a segment whose first bytes are there, or over coded data. */
    private boolean segment(byte[] file, int bytes) {
        if (isCoded) {
            return coded(file, bytes);
        }
        if (at > bytes - 2) {
            return false;
        }
        int marker = file[at + 1] & 0xFF;
        if (file[at] != (byte) 0xFF || marker == 0) {
            return refuse();
        }
        if (marker == 0xFF) {
            at++; // A byte to fill.
            return true;
        }
        if (marker == 0xD9) {
            end = at + 2;
            return true;
        }
        if (marker == 0x01 || marker >= 0xD0 && marker <= 0xD8) {
            return refuse(); // None has a place outside coded data.
        }
        if (at > bytes - 4) {
            return false;
        }
        int length = number(file, at + 2);
        if (length < 2) {
            return refuse();
        }
        if (isFrame(marker)) {
            if (width != 0 || length < 8) {
                return refuse(); // A second frame could be larger than the first.
            }
            if (at > bytes - 9) {
                return false;
            }
            height = number(file, at + 5);
            width = number(file, at + 7);
            if (width == 0 || height == 0) {
                return refuse();
            }
        }
        isCoded = marker == 0xDA;
        if (isCoded && ++scans > MAX_SCANS) {
            fault = "too many scans in a picture";
            return false;
        }
        at += 2 + length;
        return true;
    }

    private static boolean isFrame(int marker) {
        return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    }

    private boolean coded(byte[] file, int bytes) {
        while (at <= bytes - 2) {
            int marker = file[at + 1] & 0xFF;
            if (file[at] == (byte) 0xFF && marker != 0 && marker != 0xFF && (marker < 0xD0 || marker > 0xD7)) {
                isCoded = false;
                return true;
            }
            at++;
        }
        return false;
    }

    private boolean refuse() {
        fault = "bad picture";
        return false;
    }

    private static int integer(byte[] file, int at) {
        return number(file, at) << 16 | number(file, at + 2);
    }

    private static int number(byte[] file, int at) {
        return (file[at] & 0xFF) << 8 | file[at + 1] & 0xFF;
    }

    /** Returns what is wrong with the file; null = nothing up to here. */
    @Nullable
    String fault() {
        return fault;
    }

    /** Returns its length; 0 as long as the structure leads on. It may be more than have come. */
    int end() {
        return end;
    }

    boolean isPng() {
        return isPng;
    }

    /** Returns its pixels; 0 as long as they are not known, a negative number if that is nonsense. */
    long pixels() {
        return width < 0 || height < 0 ? -1 : (long) width * height;
    }
}
