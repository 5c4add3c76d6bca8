package org.tamanoir.deploy;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * HTTP calls on threads of their own, which end when they are idle: what the JDK's client sends without a thread of the
 * caller's ends on the common pool, which a service may hold up.
 *
 * <p>Thread contract: any thread.
 */
public final class HttpCalls implements AutoCloseable {
    private static final int IDLE_SECONDS = 5;

    static {
        // Of the JDK's client: by default it keeps idle connections for 20 minutes (JDK 17), and any number of them.
        System.getProperties().putIfAbsent("jdk.httpclient.keepalive.timeout", "30");
        System.getProperties().putIfAbsent("jdk.httpclient.connectionPoolSize", "32");
    }

    private final ThreadPoolExecutor threads;
    private final HttpClient client;

    /**
     * Begins with no thread.
     *
     * @param name of the threads, which get a number each
     * @param client its executor will be these threads
     */
    public HttpCalls(String name, HttpClient.Builder client) {
        AtomicInteger number = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        this.client = client.executor(threads).build();
    }

    /**
     * Returns the settings of all clients here: HTTP/1.1, and no redirect is followed.
     *
     * @param tls for https; null = the JDK's own
     */
    public static HttpClient.Builder client(@Nullable SSLContext tls) {
        HttpClient.Builder client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER);
        return tls == null ? client : client.sslContext(tls);
    }

    /**
     * Returns what is wrong where the other side speaks another protocol than it was spoken to in, with the remedy;
     * empty where it is something else. The JDK's client tells of bytes that its parser did not get.
     *
     * @param scheme {@code http} or {@code https}, in which it was spoken to
     */
    public static Optional<String> otherProtocol(String scheme, Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            String said = String.valueOf(at.getMessage());
            if (scheme.equals("https")) {
                if (said.contains("unrecognized SSL message") || said.contains("plaintext connection")) {
                    return Optional.of("it speaks no TLS: say http, or ask its TLS port");
                }
            } else if (said.contains("parser received no bytes")) {
                return Optional.of("it ended the connection without an answer: where it speaks TLS say https");
            } else if (said.contains("status line")) {
                return Optional.of("what it answers is no HTTP: where it speaks TLS say https, else ask another port");
            }
        }
        return Optional.empty();
    }

    /**
     * Sends a request; to cancel the call ends its connection.
     *
     * @param ended runs on any thread when the call has ended
     * @throws java.util.concurrent.RejectedExecutionException after {@link #close}
     */
    public <T> Future<HttpResponse<T>> send(HttpRequest request, HttpResponse.BodyHandler<T> body, Runnable ended) {
        FutureTask<HttpResponse<T>> call = new FutureTask<>(() -> client.send(request, body)) {
            @Override
            protected void done() {
                ended.run();
            }
        };
        threads.execute(call);
        return call;
    }

    /** Ends the calls that run; they fail. */
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
