package org.tamanoir.node.ui;

import com.google.common.hash.Hashing;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * A file as it is served.
 *
 * @param gzip the same, compressed
 * @param digest of the plain bytes
 */
record Asset(String contentType, byte[] plain, byte[] gzip, String digest) {
    private static final int DIGEST_DIGITS = 16;

    static Asset of(String name, byte[] plain) {
        String digest = Hashing.sha256().hashBytes(plain).toString().substring(0, DIGEST_DIGITS);
        return new Asset(contentType(name), plain, compressed(plain), digest);
    }

    /** Returns the strong entity tag of these bytes (RFC 9110, section 8.8.3), another one for each coding. */
    String tag(boolean isCompressed) {
        return '"' + digest + (isCompressed ? "-gzip" : "") + '"';
    }

    private static String contentType(String name) {
        return switch (name.substring(name.lastIndexOf('.') + 1)) {
            case "html" -> "text/html; charset=utf-8";
            case "css" -> "text/css; charset=utf-8";
            case "js" -> "text/javascript; charset=utf-8";
            case "svg" -> "image/svg+xml";
            default -> throw new IllegalArgumentException(name + ": a file of an unknown kind");
        };
    }

    private static byte[] compressed(byte[] plain) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes) {
            {
                def.setLevel(Deflater.BEST_COMPRESSION);
            }
        }) {
            out.write(plain);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
