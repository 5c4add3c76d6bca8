package org.tamanoir.cluster;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.regex.Pattern;

/** Bounds of what configuration files, nodes and operators say; each is refused in one line. */
final class Bounds {
    /** What a label of the domain name system may hold, with dots and underscores. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

    /** Of a URI, which has brackets around IPv6. */
    private static final Pattern ADDRESS = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-fA-F:.]+]");

    private static final int MAX_SHOWN = 200;

    private Bounds() {}

    static void check(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " " + value + " must be " + least + " to " + most);
        }
    }

    static void check(String what, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(
                    what + " " + text(value) + " must be " + text(least) + " to " + text(most));
        }
    }

    /** The name of a back-end, a director or a service of the cluster. */
    static void name(String what, String value) {
        if (!NAME.matcher(value).matches()) {
            throw new IllegalArgumentException(what + " '" + line(value)
                    + "' must be 1 to 63 letters, digits, '-', '_' or '.', the first a letter or digit");
        }
    }

    /** The base address of an admin API; {@link BackEnd} looks at its parts. */
    static URI admin(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("admin address '" + line(text) + "' must be http://ADDRESS:PORT", e);
        }
    }

    /** Refuses what is no base address of an admin API. */
    static void admin(URI value) {
        boolean http = "http".equals(value.getScheme()) || "https".equals(value.getScheme());
        boolean bare = value.getRawPath() == null
                || value.getRawPath().isEmpty()
                || value.getRawPath().equals("/");
        if (!http || value.getHost() == null || !bare || value.getRawQuery() != null || value.getUserInfo() != null) {
            throw new IllegalArgumentException("admin address '" + line(value.toString())
                    + "' must be http://ADDRESS:PORT or https://ADDRESS:PORT, and no more");
        }
    }

    /** Refuses names: what registers must not have all health checks wait for a name server. */
    static void numeric(URI value) {
        if (!value.getHost().equals("localhost")
                && !ADDRESS.matcher(value.getHost()).matches()) {
            throw new IllegalArgumentException("admin address '" + line(value.toString())
                    + "' must have an IP address instead of a name: health does not depend on name servers");
        }
    }

    /** {@code 2 s}, {@code 250 ms}, {@code 5 min}. */
    static String text(Duration value) {
        if (value.isZero() || value.toMillis() % 1000 != 0) {
            return value.toMillis() + " ms";
        }
        return value.toSeconds() % 60 != 0 ? value.toSeconds() + " s" : value.toMinutes() + " min";
    }

    /** Another's text for a line of ours: shortened, and without characters that could forge a log. */
    static String line(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints().limit(MAX_SHOWN).forEach(c -> line.appendCodePoint(isShown(c) ? c : ' '));
        return line.toString().strip();
    }

    private static boolean isShown(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
