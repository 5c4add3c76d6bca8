package org.tamanoir.deploy;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** SHA-256 in hexadecimal, lower case. */
final class Sha256 {
    private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

    private Sha256() {}

    /** 64 hexadecimal digits. */
    static String hex(byte[] octets) {
        return HexFormat.of().formatHex(digest().digest(octets));
    }

    /** A digest to feed piece by piece. */
    static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Whether this is what {@link #hex} returns. */
    static boolean isHex(String text) {
        return HEX.matcher(text).matches();
    }
}
