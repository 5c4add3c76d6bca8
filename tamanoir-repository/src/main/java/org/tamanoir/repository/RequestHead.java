package org.tamanoir.repository;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a request's head must not leave in doubt: which host it names and where it ends. Checks that build on these, as
 * the one against rebound names, would otherwise look at another value than whoever else handles the request. Any
 * thread.
 */
final class RequestHead {
    /** A name or an address, and perhaps a port, by RFC 9110, section 7.2; empty where the target names no host. */
    private static final Pattern HOST = Pattern.compile("(?:[A-Za-z0-9._~-]*|\\[[0-9A-Fa-f:.]+])(?::\\d{0,5})?");

    private static final int MAX_HOST = 255 + 6;

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

    /** Finds what is wrong with it, one line; null = nothing. */
    static @Nullable String problem(HttpServerRequest request) {
        List<String> hosts = request.headers().getAll("Host");
        if (hosts.size() != 1) { // Of HTTP/1.0 too: Vert.x's router takes no request without.
            return hosts.size() + " Host headers: exactly one is wanted";
        }
        String host = hosts.get(0);
        if (host.length() > MAX_HOST || !HOST.matcher(host).matches() || request.authority() == null) {
            return "the Host header is no host: a name or an address is wanted, and perhaps ':' and a port";
        }
        String target = request.uri();
        if (target == null || !target.startsWith("/")) {
            return "the request's target must be a path that begins with '/'; leave the scheme and the host out";
        }
        List<String> codings = request.headers().getAll("Transfer-Encoding");
        if (codings.size() > 1 || codings.size() == 1 && !codings.get(0).equalsIgnoreCase("chunked")) {
            return "Transfer-Encoding: 'chunked' alone is understood";
        }
        return null;
    }
}
