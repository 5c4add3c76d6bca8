package org.tamanoir.repository;

import com.google.common.base.CharMatcher;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.io.ByteArrayOutputStream;
import java.nio.charset.CharacterCodingException;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.text.StrictUtf8;
import org.tamanoir.service.Suggestion;

/**
 * What a request's head must not leave in doubt: which host, path and query it names and where it ends. Checks that build
 * on these, as the one against rebound names, or a proxy's that lets some paths through, would otherwise look at another
 * value than whoever else handles the request. Any thread.
 */
final class RequestHead {
    /** A name or an address, and perhaps a port, by RFC 9110, section 7.2; empty where the target names no host. */
    private static final Pattern HOST = Pattern.compile("(?:[A-Za-z0-9._~-]*|\\[[0-9A-Fa-f:.]+])(?::\\d{0,5})?");

    private static final int MAX_HOST = 255 + 6;

    /** Characters that stand in a path as they are; brackets, as of IPv6 addresses, are let through. */
    private static final CharMatcher PLAIN = CharMatcher.inRange('A', 'Z')
            .or(CharMatcher.inRange('a', 'z'))
            .or(CharMatcher.inRange('0', '9'))
            .or(CharMatcher.anyOf("-._~!$&'()*+,;=:@[]"));

    /** Those that need no encoding anywhere (RFC 3986, section 2.3), and those that separate for some. */
    private static final CharMatcher NEVER_ENCODED = CharMatcher.inRange('A', 'Z')
            .or(CharMatcher.inRange('a', 'z'))
            .or(CharMatcher.inRange('0', '9'))
            .or(CharMatcher.anyOf("-._~/\\\u007f"))
            .or(CharMatcher.inRange('\0', '\u001f'));

    /** The slash of a prefix, as in 10.0.0.0%2F8, behind its percent sign. */
    private static final Pattern PREFIX_SLASH = Pattern.compile("2[Ff]\\d{1,3}");

    /** Of an absolute target (RFC 9112, section 3.2.2): the host and port of an http or https URL. */
    private static final Pattern ABSOLUTE = Pattern.compile("(?i)https?://([^/?#]*)(/.*)");

    private static final Set<String> HEALTH = Set.of("/health", "/ready");

    private RequestHead() {}

    /** Answers a request whose head could not be read. */
    static void refuse(HttpServerRequest request) {
        Throwable cause = request.decoderResult().cause();
        if (cause instanceof TooLongHttpLineException) {
            Answers.malformed(
                    request, 414, "the request's line is too long: " + HttpListener.MAX_LINE_BYTES + " bytes are read");
        } else if (cause instanceof TooLongHttpHeaderException) {
            Answers.malformed(
                    request, 431, "the request's head is too long: " + HttpListener.MAX_HEAD_BYTES + " bytes are read");
        } else {
            Answers.malformed(
                    request, 400, "the request's head cannot be read: correct it, and give the body one length alone");
        }
    }

    /**
     * Returns whether a request asks as load balancers do how the server is, by HTTP/1.0 without a Host: the answer tells
     * nothing that pages of other sites must not learn.
     */
    static boolean isHealthCheck(HttpServerRequest request) {
        return request.version() == HttpVersion.HTTP_1_0
                && (request.method() == HttpMethod.GET || request.method() == HttpMethod.HEAD)
                && HEALTH.contains(request.uri());
    }

    /** Finds what is wrong with it, one line; null = nothing. */
    static @Nullable String problem(HttpServerRequest request) {
        List<String> hosts = request.headers().getAll("Host");
        if (hosts.size() != 1 && !(hosts.isEmpty() && isHealthCheck(request))) {
            return hosts.size() + " Host headers: exactly one is wanted";
        }
        String host = hosts.isEmpty() ? "" : hosts.get(0);
        if (host.length() > MAX_HOST
                || !HOST.matcher(host).matches()
                || !hosts.isEmpty() && request.authority() == null) {
            return "the Host header is no host: a name or an address is wanted, and perhaps ':' and a port";
        }
        String target = request.uri();
        Matcher absolute = ABSOLUTE.matcher(target == null ? "" : target);
        if (absolute.matches()) {
            if (!absolute.group(1).equalsIgnoreCase(host)) {
                return "the request's target names another host than its Host header: leave the scheme and the host out";
            }
            target = absolute.group(2);
        }
        if (target == null || !target.startsWith("/")) {
            return "the request's target must be a path that begins with '/'; leave the scheme and the host out";
        }
        if (!isNormal(target.split("\\?", 2)[0])) {
            return "the request's path is not in normal form: leave out empty segments, '.' and '..', and encode nothing "
                    + "that may stand as it is; a slash is encoded in a prefix alone, as in 10.0.0.0%2F8";
        }
        String octets = octetsProblem(target);
        if (octets != null) {
            return octets;
        }
        List<String> codings = request.headers().getAll("Transfer-Encoding");
        if (codings.size() > 1 || codings.size() == 1 && !codings.get(0).equalsIgnoreCase("chunked")) {
            return "Transfer-Encoding: 'chunked' alone is understood";
        }
        return null;
    }

    /** Returns whether there is a slash at the path's end, behind something. */
    static boolean endsInSlash(HttpServerRequest request) {
        String path = request.path();
        return path != null && path.length() > 1 && path.endsWith("/");
    }

    /**
     * Finds what is wrong with the names of a query, one line; null = nothing.
     *
     * @param known those that the call understands, each once
     */
    static @Nullable String queryProblem(MultiMap query, Collection<String> known) {
        for (String name : query.names()) {
            String shown = name.length() <= 40 ? name : name.substring(0, 40) + "...";
            if (!known.contains(name)) {
                return "query parameter '" + shown + "' is not known here: "
                        + (known.isEmpty() ? "leave it out" : "there are " + String.join(", ", known))
                        + Suggestion.of(name.length() <= 40 ? name : "", known);
            }
            int count = query.getAll(name).size();
            if (count > 1) {
                return "query parameter '" + shown + "' is given " + count + " times: give it once";
            }
        }
        return null;
    }

    /** Finds what in a target would be read as something else than was sent; null = nothing. */
    private static @Nullable String octetsProblem(String target) {
        ByteArrayOutputStream octets = new ByteArrayOutputStream(target.length());
        for (int at = 0; at < target.length(); at++) {
            char next = target.charAt(at);
            if (next >= 0x80) {
                return "the request's target has octets beyond ASCII: encode each as '%' and two hexadecimal digits";
            }
            if (next != '%') {
                octets.write(next);
            } else if (at + 2 < target.length()
                    && HexFormat.isHexDigit(target.charAt(at + 1))
                    && HexFormat.isHexDigit(target.charAt(at + 2))) {
                octets.write(HexFormat.fromHexDigits(target, at + 1, at + 3));
                at += 2;
            } else {
                return "the request's target has a '%' without two hexadecimal digits behind it: write '%25' for the sign";
            }
        }
        try {
            StrictUtf8.decode(octets.toByteArray());
            return null;
        } catch (CharacterCodingException e) {
            return "path and query are refused: " + e.getMessage();
        }
    }

    /** Returns whether a path is in normal form (RFC 3986, section 6.2.2), with no empty segment but a last one. */
    private static boolean isNormal(String path) {
        int segment = 1;
        for (int at = 1; at <= path.length(); at++) {
            char next = at == path.length() ? '/' : path.charAt(at);
            if (next == '/') {
                String name = path.substring(segment, at);
                if (name.equals(".") || name.equals("..") || name.isEmpty() && at < path.length()) {
                    return false;
                }
                segment = at + 1;
            } else if (next == '%' ? !isEncodedWell(path.substring(at + 1)) : !PLAIN.matches(next)) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether behind a percent sign stands what has to be encoded. */
    private static boolean isEncodedWell(String behind) {
        if (PREFIX_SLASH.matcher(behind).matches()) {
            return true;
        }
        int high = behind.isEmpty() ? -1 : Character.digit(behind.charAt(0), 16);
        int low = behind.length() < 2 ? -1 : Character.digit(behind.charAt(1), 16);
        return high >= 0 && low >= 0 && !NEVER_ENCODED.matches((char) (high << 4 | low));
    }
}
