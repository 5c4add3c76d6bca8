package org.tamanoir.deploy;

import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.Callable;
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
    private final HttpClient.Builder builder;
    private @Nullable HttpClient client;

    /**
     * Begins with no thread, and without the JDK's client: that reads the JDK's certificates and starts a thread, an
     * eighth of a node's start, which a node that fetches nothing need not wait for.
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
        builder = client.executor(threads);
    }

    private synchronized HttpClient client() {
        HttpClient built = client;
        if (built == null) {
            built = builder.build();
            client = built;
        }
        return built;
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
     * Sends a request; to cancel the call ends its connection. The first one makes the JDK's client, before it returns;
     * where that is impossible the call fails, and the next one tries again.
     *
     * @param ended runs on any thread when the call has ended
     * @throws java.util.concurrent.RejectedExecutionException after {@link #close}
     */
    public <T> Future<HttpResponse<T>> send(HttpRequest request, HttpResponse.BodyHandler<T> body, Runnable ended) {
        Callable<HttpResponse<T>> exchange;
        try {
            HttpClient ready = client();
            exchange = () -> ready.send(request, body);
        } catch (UncheckedIOException e) {
            exchange = () -> {
                throw e.getCause();
            };
        }
        FutureTask<HttpResponse<T>> call = new FutureTask<>(exchange) {
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
