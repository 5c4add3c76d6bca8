package org.tamanoir.cluster;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.deploy.BoundedBody;
import org.tamanoir.deploy.HttpCalls;
import org.tamanoir.platform.Causes;
import org.tamanoir.tls.TlsFiles;

/**
 * Asks admin APIs of nodes: many at once on few threads, each question bounded in time and in what is read. Questions go
 * out by the network namespace of the thread that made this.
 *
 * <p>Thread contract: any thread; what is done with an answer runs on a thread of the client and must not wait.
 */
public final class NodeQuestions implements AutoCloseable {
    private static final int THREADS = 2;
    /** More than all its back-ends' questions can need; what does not fit fails, as a question without an answer. */
    private static final int MAX_WAITING = 16_384;

    private final HttpClient client;
    private final Function<URI, @Nullable String> authorizations;
    private final ThreadPoolExecutor threads;

    /**
     * Begins with no question, and shows nobody a token.
     *
     * @param name of the threads
     * @throws ClusterException if the TLS files cannot be used
     */
    public NodeQuestions(String name, @Nullable TlsFiles tls) throws ClusterException {
        this(name, tls, admin -> null);
    }

    /**
     * Begins with no question.
     *
     * @param name of the threads
     * @param authorizations the header {@code Authorization} for an admin API by its address; null = none; any thread asks
     * @throws ClusterException if the TLS files cannot be used
     */
    NodeQuestions(String name, @Nullable TlsFiles tls, Function<URI, @Nullable String> authorizations)
            throws ClusterException {
        this.authorizations = authorizations;
        threads = new ThreadPoolExecutor(
                THREADS, THREADS, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MAX_WAITING), task -> {
                    Thread thread = new Thread(task, name + " asks");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.prestartAllCoreThreads();
        try {
            client = HttpCalls.client(tls == null ? null : tls.context())
                    .proxy(HttpClient.Builder.NO_PROXY)
                    .executor(threads)
                    .build();
        } catch (IOException e) {
            threads.shutdown();
            throw new ClusterException(String.valueOf(e.getMessage()), e);
        }
    }

    /** What came. */
    public record Answer(int status, String body) {}

    /** Why none came, one line. */
    static final class NoAnswerException extends Exception {
        private static final long serialVersionUID = 1L;

        NoAnswerException(String message) {
            super(message);
        }
    }

    /** Completes within {@code timeout}, with an answer or a {@link NoAnswerException}. */
    public CompletableFuture<Answer> get(URI admin, String path, Duration timeout, int limitBytes) {
        HttpRequest.Builder request = HttpRequest.newBuilder(admin.resolve(path))
                .setHeader("User-Agent", "tamanoir")
                .timeout(timeout);
        String authorization = authorizations.apply(admin);
        if (authorization != null) {
            request.setHeader("Authorization", authorization);
        }
        CompletableFuture<HttpResponse<String>> exchange =
                client.sendAsync(request.build(), head -> BoundedBody.text(limitBytes));
        CompletableFuture<Answer> answer =
                exchange.thenApply(response -> new Answer(response.statusCode(), response.body()));
        CompletableFuture<Answer> bounded = new CompletableFuture<>();
        bounded.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS).whenComplete((done, late) -> exchange.cancel(true));
        CompletableFuture<Answer> result = new CompletableFuture<>();
        answer.whenComplete((done, error) -> complete(bounded, done, error));
        bounded.whenComplete((done, error) -> complete(
                result, done, error == null ? null : new NoAnswerException(reason(admin.getScheme(), error, timeout))));
        return result;
    }

    private static void complete(CompletableFuture<Answer> future, @Nullable Answer answer, @Nullable Throwable error) {
        if (error != null) {
            future.completeExceptionally(error);
        } else if (answer != null) {
            future.complete(answer);
        }
    }

    private static String reason(String scheme, Throwable error, Duration timeout) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof TimeoutException || cause instanceof HttpTimeoutException) {
            return "no answer within " + Bounds.text(timeout);
        }
        Optional<String> otherProtocol = HttpCalls.otherProtocol(scheme, cause);
        if (otherProtocol.isPresent()) {
            return otherProtocol.get();
        }
        String said = Bounds.line(Causes.text(cause));
        if (cause instanceof ConnectException) {
            return cause.getMessage() == null ? "takes no connection" : "takes no connection: " + said;
        }
        return (cause instanceof SSLException ? "TLS failed: " : "connection broke: ") + said;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
