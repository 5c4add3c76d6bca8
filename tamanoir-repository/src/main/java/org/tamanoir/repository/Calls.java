package org.tamanoir.repository;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.BoundedBody;
import org.tamanoir.deploy.HttpCalls;
import org.tamanoir.platform.Causes;

/**
 * HTTP calls to one repository, each bounded in bytes and in time as a whole: an answer that may be long has the time that
 * what has come of it takes at {@value #MIN_BYTES_PER_SECOND} bytes a second, and some seconds. Follows no redirects: a
 * repository is where it is said to be.
 *
 * <p>Thread contract: any thread; calls block.
 */
final class Calls {
    private static final Duration CONNECT = Duration.ofSeconds(5);
    /** For an answer without a long body. */
    private static final Duration SHORT = Duration.ofSeconds(30);
    /** The slowest transfer that is waited for. */
    private static final long MIN_BYTES_PER_SECOND = 64 << 10;

    private final URI base;
    private final Duration least;
    private final HttpCalls calls;

    /** @param tls for https; null = the JDK's own */
    Calls(URI base, @Nullable SSLContext tls) {
        this(base, tls, SHORT);
    }

    /** @param least time of an answer without a long body */
    Calls(URI base, @Nullable SSLContext tls, Duration least) {
        this.base = requireBase(base);
        this.least = least;
        calls = new HttpCalls("repository-call", HttpCalls.client(tls).connectTimeout(CONNECT));
    }

    /**
     * Checks the address of a repository.
     *
     * @return it without a slash at its end
     * @throws IllegalArgumentException in one line
     */
    static URI requireBase(URI base) {
        String scheme = base.getScheme();
        if (scheme == null
                || !scheme.equals("http") && !scheme.equals("https")
                || base.getHost() == null
                || base.getRawQuery() != null
                || base.getRawFragment() != null
                || base.getRawUserInfo() != null) {
            throw new IllegalArgumentException("repository '" + base
                    + "': an address without query and user is wanted, as in http://127.0.0.1:3325");
        }
        return URI.create(base.toString().replaceAll("/+$", ""));
    }

    URI base() {
        return base;
    }

    /** Returns a request to a path below the repository's address. */
    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + "/" + path));
    }

    /** Returns the time that an answer, or a request, may take of which so many bytes have come, or are to go. */
    private Duration timeFor(long bytes) {
        return least.plusMillis(1000 * bytes / MIN_BYTES_PER_SECOND);
    }

    /**
     * Sends a request and waits for its whole answer, as long as that comes fast enough.
     *
     * @throws IOException in one line that begins with the address
     */
    <T> HttpResponse<T> send(HttpRequest request, BoundedBody<T> body) throws IOException, InterruptedException {
        return send(request, 0, body);
    }

    /** The same, of a request that has so many bytes itself. */
    <T> HttpResponse<T> send(HttpRequest request, long requestBytes, BoundedBody<T> body)
            throws IOException, InterruptedException {
        Future<HttpResponse<T>> call = calls.send(request, answer -> body, () -> {});
        long beganNs = System.nanoTime();
        try {
            while (true) {
                long received = body.received();
                long allowedNs = timeFor(requestBytes + received).toNanos();
                try {
                    return call.get(allowedNs - (System.nanoTime() - beganNs), TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) {
                    if (body.received() == received) {
                        throw new IOException(
                                request.uri() + ": no whole answer within "
                                        + Duration.ofNanos(allowedNs).toSeconds() + " s, in which " + received
                                        + " bytes came; at least " + MIN_BYTES_PER_SECOND + " a second are wanted",
                                e);
                    }
                }
            }
        } catch (ExecutionException e) {
            throw new IOException(request.uri() + ": " + line(e.getCause() == null ? e : e.getCause()), e);
        } finally {
            call.cancel(true); // Without an effect when it is done; else the connection ends.
        }
    }

    private static String line(Throwable cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof SSLException) {
                return "no TLS connection: " + Causes.text(each)
                        + "; give the certificate of its authority (--ca FILE), or correct http or https";
            } else if (each instanceof ConnectException) {
                return "cannot be reached: " + Causes.text(each) + "; is the repository running there?";
            }
        }
        return "the call failed: " + Causes.text(cause);
    }
}
