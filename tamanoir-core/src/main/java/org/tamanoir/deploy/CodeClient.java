package org.tamanoir.deploy;

import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;

/**
 * GET requests whose sizes and waits hold against any server: time-outs count from the last byte and from the begin,
 * no redirect is followed, no byte is read past the limit.
 *
 * <p>Thread contract: any thread; calls block.
 */
final class CodeClient implements AutoCloseable {
    /** Of an answer that is not wanted, so that its connection can be used again. */
    private static final int IGNORED_BYTES = 4096;

    /** Characters of a reason in a message. */
    private static final int MAX_REASON = 160;

    private final HttpCalls calls;
    private final Duration connectTimeout;
    private final Duration idleTimeout;

    CodeClient(CodeFetcher.Settings settings) {
        this("code-fetch", settings.connectTimeout(), settings.idleTimeout(), settings.tls());
    }

    /** @param threads their name */
    CodeClient(String threads, Duration connectTimeout, Duration idleTimeout, @Nullable SSLContext tls) {
        this.connectTimeout = connectTimeout;
        this.idleTimeout = idleTimeout;
        this.calls = new HttpCalls(threads, HttpCalls.client(tls).connectTimeout(connectTimeout));
    }

    /**
     * Returns a small file.
     *
     * @return null when the source has none
     * @throws CodeRefusedException {@link Refusal#MALFORMED} when it has more bytes
     */
    byte @Nullable [] file(CodeSource source, String path, int maxBytes, long deadlineNs)
            throws SourceException, CodeRefusedException, LocalException, InterruptedException {
        Answer<byte[]> answer = get(source.at(path), deadlineNs, BoundedBody.bytes(maxBytes));
        if (answer.status() == 404 || answer.status() == 410) {
            return null;
        }
        if (answer.status() != 200) {
            throw unexpected(answer.status(), path);
        }
        if (answer.body() == null) {
            throw new CodeRefusedException(
                    Refusal.MALFORMED, path + " has more than " + maxBytes + " bytes, the most that it may have");
        }
        return answer.body();
    }

    static SourceException unexpected(int status, String path) {
        String why = status >= 300 && status < 400 ? ", a redirect, which is not followed" : "";
        return new SourceException("answered " + status + why + " for " + path);
    }

    /**
     * An answer.
     *
     * @param body null where the status is not 200, or it was longer than it may be
     */
    record Answer<T>(int status, @Nullable T body) {}

    /** Asks for a file; the body of an answer with status 200 goes where {@code wanted} says, on threads of the client. */
    <T> Answer<T> get(URI uri, long deadlineNs, BoundedBody<T> wanted)
            throws SourceException, LocalException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(uri).setHeader("User-Agent", "tamanoir").build();
        Exchange<T> exchange = new Exchange<>(uri.getScheme(), wanted);
        Future<HttpResponse<T>> call;
        try {
            call = calls.send(request, exchange, () -> {});
        } catch (RejectedExecutionException e) {
            throw new SourceException("not asked: this node ends");
        }
        try {
            HttpResponse<T> response = await(call, exchange, deadlineNs);
            return new Answer<>(response.statusCode(), response.body());
        } catch (BoundedBody.TooLongException e) {
            return new Answer<>(exchange.status, null);
        } finally {
            call.cancel(true);
        }
    }

    private <T> HttpResponse<T> await(Future<HttpResponse<T>> call, Exchange<T> exchange, long deadlineNs)
            throws SourceException, LocalException, BoundedBody.TooLongException, InterruptedException {
        long firstNs = System.nanoTime() + connectTimeout.toNanos();
        for (; ; ) {
            BoundedBody<T> body = exchange.body;
            long nowNs = System.nanoTime();
            long idleLeftNs = (body == null ? firstNs : body.lastNs()) + idleTimeout.toNanos() - nowNs;
            long leftNs = deadlineNs - nowNs;
            if (leftNs <= 0) {
                throw new SourceException(
                        "did not end in its time, " + (body == null ? 0 : body.received()) + " bytes came");
            }
            if (idleLeftNs <= 0) {
                throw new SourceException(
                        body != null
                                ? "sent nothing for " + seconds(idleTimeout)
                                : "did not answer within " + seconds(connectTimeout.plus(idleTimeout)));
            }
            try {
                return call.get(Math.min(leftNs, idleLeftNs), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                continue;
            } catch (ExecutionException e) {
                throw failure(exchange.scheme, e.getCause());
            }
        }
    }

    private SourceException failure(String scheme, @Nullable Throwable cause)
            throws LocalException, BoundedBody.TooLongException {
        Optional<String> otherProtocol = cause == null ? Optional.empty() : HttpCalls.otherProtocol(scheme, cause);
        if (otherProtocol.isPresent()) {
            return new SourceException("gave nothing: " + otherProtocol.get());
        }
        for (Throwable at = cause; at != null; at = at.getCause()) {
            if (at instanceof BoundedBody.SinkException local) {
                throw new LocalException(local.reason());
            }
            if (at instanceof BoundedBody.TooLongException tooLong) {
                throw tooLong;
            }
            if (at instanceof HttpConnectTimeoutException) {
                return new SourceException("took no connection within " + seconds(connectTimeout));
            }
            if (at instanceof ConnectException) {
                return new SourceException("cannot be reached" + reason(at));
            }
            if (at instanceof InterruptedException) {
                return new SourceException("cancelled: this node ends");
            }
            if (at instanceof SSLException) {
                return new SourceException("TLS failed" + reason(at));
            }
        }
        return new SourceException("connection broke" + (cause == null ? "" : reason(cause)));
    }

    private static String reason(Throwable error) {
        String text = Causes.text(error);
        return ": " + OneLine.of(text.substring(0, Math.min(text.length(), MAX_REASON)));
    }

    static String seconds(Duration time) {
        return time.toMillis() % 1000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
    }

    /** Ends the calls that run; they fail. */
    @Override
    public void close() {
        calls.close();
    }

    /** What has come of one call: the client's threads write, the caller reads. */
    private static final class Exchange<T> implements HttpResponse.BodyHandler<T> {
        /** In which the other side is spoken to. */
        private final String scheme;

        private final BoundedBody<T> wanted;
        private volatile @Nullable BoundedBody<T> body;
        private volatile int status;

        Exchange(String scheme, BoundedBody<T> wanted) {
            this.scheme = scheme;
            this.wanted = wanted;
        }

        @Override
        public HttpResponse.BodySubscriber<T> apply(HttpResponse.ResponseInfo head) {
            status = head.statusCode();
            BoundedBody<T> taken = status == 200 ? wanted : BoundedBody.ignored(IGNORED_BYTES);
            taken.touch();
            body = taken;
            return taken;
        }
    }
}
