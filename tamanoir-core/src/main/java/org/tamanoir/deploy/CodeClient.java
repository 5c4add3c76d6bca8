package org.tamanoir.deploy;

import java.io.ByteArrayOutputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * GET requests whose sizes and waits hold against any server: time-outs count from the last octet and from the begin,
 * no redirect is followed, no octet is read past the limit.
 *
 * <p>Thread contract: any thread; calls block. The JDK's client has one thread for its connections, and workers that
 * end when they are idle.
 */
final class CodeClient implements AutoCloseable {
    /** Of an answer that is not wanted, so that its connection can be used again. */
    private static final int IGNORED_OCTETS = 4096;

    /** Characters of a reason in a message. */
    private static final int MAX_REASON = 160;

    private static final int WORKER_IDLE_SECONDS = 5;
    private static final AtomicInteger WORKERS = new AtomicInteger();

    static {
        // Of the JDK's client: by default it keeps idle connections for 20 minutes (JDK 17), and any number of them.
        System.getProperties().putIfAbsent("jdk.httpclient.keepalive.timeout", "30");
        System.getProperties().putIfAbsent("jdk.httpclient.connectionPoolSize", "32");
    }

    private final HttpClient client;
    private final Duration connectTimeout;
    private final Duration idleTimeout;
    private final ThreadPoolExecutor workers;
    private final Set<CompletableFuture<?>> running = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    CodeClient(CodeFetcher.Settings settings) {
        this.connectTimeout = settings.connectTimeout();
        this.idleTimeout = settings.idleTimeout();
        this.workers = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, WORKER_IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "code-fetch-" + WORKERS.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(connectTimeout)
                .executor(workers);
        if (settings.tls() != null) {
            builder.sslContext(settings.tls());
        }
        this.client = builder.build();
    }

    /**
     * A small file.
     *
     * @return null when the source has none
     * @throws CodeRefusedException {@link Refusal#MALFORMED} when it has more octets
     */
    byte @Nullable [] file(CodeSource source, String path, int maxOctets, long deadlineNs)
            throws SourceException, CodeRefusedException, InterruptedException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        BoundedBody.Sink sink = octets -> {
            while (octets.hasRemaining()) {
                file.write(octets.get());
            }
        };
        Answer answer;
        try {
            answer = get(
                    source.at(path),
                    Map.of(),
                    deadlineNs,
                    head -> new Expected(maxOctets, head.statusCode() == 200 ? sink : null));
        } catch (LocalException e) {
            throw new IllegalStateException("memory takes all octets", e);
        }
        if (answer.status() == 404 || answer.status() == 410) {
            return null;
        }
        if (answer.status() != 200) {
            throw unexpected(answer.status(), path);
        }
        if (answer.end() == BoundedBody.End.TOO_LONG) {
            throw new CodeRefusedException(
                    Refusal.MALFORMED, path + " has more than " + maxOctets + " octets, the most that it may have");
        }
        return file.toByteArray();
    }

    static SourceException unexpected(int status, String path) {
        String why = status >= 300 && status < 400 ? ", a redirect, which is not followed" : "";
        return new SourceException("answered " + status + why + " for " + path, false);
    }

    /** What is wanted of an answer's body. @param sink null = nothing of it */
    record Expected(long limitOctets, BoundedBody.@Nullable Sink sink) {}

    /** What came. */
    record Answer(int status, BoundedBody.End end) {}

    /** Asks; the body goes where {@code choice} says when the head is there, on a thread of the client. */
    Answer get(
            URI uri, Map<String, String> headers, long deadlineNs, Function<HttpResponse.ResponseInfo, Expected> choice)
            throws SourceException, LocalException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).setHeader("User-Agent", "tamanoir");
        headers.forEach(request::setHeader);
        Exchange exchange = new Exchange(choice, System.nanoTime() + connectTimeout.toNanos());
        CompletableFuture<HttpResponse<BoundedBody.End>> future = client.sendAsync(request.build(), exchange);
        running.add(future);
        try {
            if (closed) {
                throw new SourceException("not asked: this node ends", false);
            }
            HttpResponse<BoundedBody.End> response = await(future, exchange, deadlineNs);
            return new Answer(response.statusCode(), response.body());
        } finally {
            future.cancel(true);
            exchange.stop();
            running.remove(future);
        }
    }

    private <T> T await(CompletableFuture<T> future, Exchange exchange, long deadlineNs)
            throws SourceException, LocalException, InterruptedException {
        for (; ; ) {
            long nowNs = System.nanoTime();
            long idleLeftNs = exchange.lastProgressNs.get() + idleTimeout.toNanos() - nowNs;
            long leftNs = deadlineNs - nowNs;
            if (leftNs <= 0) {
                throw new SourceException("did not end in its time, " + exchange.octets() + " octets came", true);
            }
            if (idleLeftNs <= 0) {
                throw new SourceException(
                        exchange.isAnswered()
                                ? "sent nothing for " + seconds(idleTimeout)
                                : "did not answer within " + seconds(connectTimeout.plus(idleTimeout)),
                        true);
            }
            try {
                return future.get(Math.min(leftNs, idleLeftNs), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                continue;
            } catch (CancellationException e) {
                throw new SourceException("cancelled: this node ends", true);
            } catch (ExecutionException e) {
                throw failure(e.getCause());
            }
        }
    }

    private SourceException failure(@Nullable Throwable cause) throws LocalException {
        for (Throwable at = cause; at != null; at = at.getCause()) {
            if (at instanceof LocalException local) {
                throw local;
            }
            if (at instanceof HttpConnectTimeoutException) {
                return new SourceException("took no connection within " + seconds(connectTimeout), false);
            }
            if (at instanceof ConnectException) {
                return new SourceException("cannot be reached" + reason(at), false);
            }
            if (at instanceof SSLException) {
                return new SourceException("TLS failed" + reason(at), false);
            }
        }
        return new SourceException("connection broke" + (cause == null ? "" : reason(cause)), true);
    }

    private static String reason(Throwable error) {
        for (Throwable at = error; at != null; at = at.getCause()) {
            if (at instanceof java.nio.channels.UnresolvedAddressException) {
                return ": host name is not known";
            }
            String text = at.getMessage();
            if (text != null) {
                return ": " + OneLine.of(text.substring(0, Math.min(text.length(), MAX_REASON)));
            }
        }
        return "";
    }

    static String seconds(Duration time) {
        return time.toMillis() % 1000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
    }

    /** Ends what runs; it fails. */
    @Override
    public void close() {
        closed = true;
        running.forEach(future -> future.cancel(true));
        workers.shutdown();
    }

    /** One request. The caller waits, the client's threads bring the answer. */
    private static final class Exchange implements HttpResponse.BodyHandler<BoundedBody.End> {
        private final Function<HttpResponse.ResponseInfo, Expected> choice;
        private final AtomicLong lastProgressNs;
        private @Nullable BoundedBody body;
        private boolean stopped;

        Exchange(Function<HttpResponse.ResponseInfo, Expected> choice, long startNs) {
            this.choice = choice;
            this.lastProgressNs = new AtomicLong(startNs);
        }

        @Override
        public synchronized HttpResponse.BodySubscriber<BoundedBody.End> apply(HttpResponse.ResponseInfo head) {
            lastProgressNs.set(System.nanoTime());
            Expected expected = stopped ? new Expected(0, null) : choice.apply(head);
            BoundedBody.Sink sink = expected.sink;
            BoundedBody made = sink == null
                    ? new BoundedBody(IGNORED_OCTETS, ByteBuffer::remaining, lastProgressNs)
                    : new BoundedBody(expected.limitOctets, sink, lastProgressNs);
            body = made;
            if (stopped) {
                made.stop();
            }
            return made;
        }

        synchronized void stop() {
            stopped = true;
            if (body != null) {
                body.stop();
            }
        }

        synchronized boolean isAnswered() {
            return body != null;
        }

        synchronized long octets() {
            return body == null ? 0 : body.octets();
        }
    }
}
