package org.tamanoir.repository;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Part of a file (RFC 9110, section 14): octets {@code first} to {@code last}, both included.
 *
 * <pre>
 * Range: bytes=100-199     bytes=100-     bytes=-100 (the last 100)
 * </pre>
 */
record ByteRange(long first, long last) {
    private static final Pattern ONE = Pattern.compile("bytes=\\s*(\\d{0,18})-(\\d{0,18})\\s*");

    /** The file has no such octets. */
    static final ByteRange UNSATISFIABLE = new ByteRange(0, -1);

    /** Null where the whole file is to be sent: without the header, with one that cannot be read, or several ranges. */
    static @Nullable ByteRange of(@Nullable String header, long size) {
        Matcher parts = ONE.matcher(header == null ? "" : header);
        if (!parts.matches() || parts.group(1).isEmpty() && parts.group(2).isEmpty()) {
            return null;
        }
        if (parts.group(1).isEmpty()) {
            long suffix = Long.parseLong(parts.group(2));
            return suffix == 0 || size == 0 ? UNSATISFIABLE : new ByteRange(Math.max(0, size - suffix), size - 1);
        }
        long first = Long.parseLong(parts.group(1));
        long last = parts.group(2).isEmpty() ? Long.MAX_VALUE : Long.parseLong(parts.group(2));
        if (last < first) {
            return null;
        }
        return first >= size ? UNSATISFIABLE : new ByteRange(first, Math.min(last, size - 1));
    }

    long length() {
        return last - first + 1;
    }
}
