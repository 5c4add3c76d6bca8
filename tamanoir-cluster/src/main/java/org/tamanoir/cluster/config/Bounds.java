package org.tamanoir.cluster.config;

import com.google.common.net.InetAddresses;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.AddressText;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.platform.Causes;

/** Bounds of what configuration files, nodes and operators say; each is refused in one line. */
public final class Bounds {
    /** What a label of the domain name system may hold, with dots and underscores. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

    private static final int MAX_SHOWN = 200;
    private static final int MAX_QUOTED = 80;

    private Bounds() {}

    public static void check(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " " + value + " must be " + least + " to " + most);
        }
    }

    /** Refuses what is no name of a back-end, a director or a service of the cluster. */
    public static void name(String what, String value) {
        if (!NAME.matcher(value).matches()) {
            throw new IllegalArgumentException(what + " '" + line(value)
                    + "' must be 1 to 63 letters, digits, '-', '_' or '.', the first a letter or digit");
        }
    }

    /** Returns the base address of an admin API; {@link BackEnd} looks at its parts. */
    public static URI admin(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("admin address '" + line(text) + "' must be http://ADDRESS:PORT", e);
        }
    }

    /** Refuses what is no base address of an admin API. */
    public static void admin(URI value) {
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
    public static void numeric(URI value) {
        if (!value.getHost().equals("localhost") && !InetAddresses.isUriInetAddress(value.getHost())) {
            throw new IllegalArgumentException("admin address '" + line(value.toString())
                    + "' must have an IP address instead of a name: health does not depend on name servers");
        }
    }

    /**
     * Returns the address of a text, without asking a name server.
     *
     * @throws IllegalArgumentException in one line, if it is none, or has a zone
     */
    public static InetAddress address(String text) {
        try {
            return AddressText.literal(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "'" + line(text) + "' must be an IPv4 or IPv6 address without a length", e);
        }
    }

    /**
     * Returns whether an admin API is at this address; one by name is not, as nobody knows where it leads the next
     * time.
     */
    public static boolean isAt(URI admin, InetAddress address) {
        String host = admin.getHost();
        return host != null
                && InetAddresses.isUriInetAddress(host)
                && InetAddresses.forUriString(host).equals(address);
    }

    /** Returns {@code 2 s}, {@code 250 ms}, {@code 5 min}. */
    public static String text(Duration value) {
        if (value.isZero() || value.toMillis() % 1000 != 0) {
            return value.toMillis() + " ms";
        }
        return value.toSeconds() % 60 != 0 ? value.toSeconds() + " s" : value.toMinutes() + " min";
    }

    /** Returns another's text for a line of ours: shortened, and without characters that could forge a log. */
    public static String line(@Nullable String text) {
        StringBuilder line = new StringBuilder();
        String.valueOf(text)
                .codePoints()
                .limit(MAX_SHOWN)
                .forEach(c -> line.appendCodePoint(OneLine.isShown(c) ? c : ' '));
        return line.toString().strip();
    }

    /** Returns what an error says, or else its kind, for a line of ours. */
    public static String reason(Throwable error) {
        return line(Causes.text(error));
    }

    /** Returns the same in single quotes, and shorter. */
    public static String quoted(String text) {
        String shown = line(text);
        return "'" + (shown.length() <= MAX_QUOTED ? shown : shown.substring(0, MAX_QUOTED) + "...") + "'";
    }
}
