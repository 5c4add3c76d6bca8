package org.tamanoir.node.ctl;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.HttpCalls;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Json;
import org.tamanoir.platform.Causes;
import org.tamanoir.repository.Token;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Talks to the admin API of a node or a director. What goes wrong is a {@link CommandException}: with
 * {@link ExitCode#USAGE} when it cannot be reached, with {@link ExitCode#FAILED} when it refuses. Any thread may call.
 */
public final class AdminClient {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(30);
    /** A deployment asks several sources, one after another. */
    private static final Duration CHANGE_TIMEOUT = Duration.ofMinutes(10);

    private static final int UNAUTHORIZED = 401;
    private static final int OK = 200;
    private static final JsonMapper MAPPER = new JsonMapper();

    private final AdminKind kind;
    private final URI url;
    private final @Nullable Token token;
    private final HttpClient http;

    AdminClient(AdminKind kind, URI url, @Nullable Token token, @Nullable SSLContext tls) {
        this.kind = kind;
        this.url = url;
        this.token = token;
        http = HttpCalls.client(tls)
                .proxy(HttpClient.Builder.NO_PROXY)
                .connectTimeout(CONNECT_TIMEOUT)
                .build();
    }

    /** What it answers to a question. */
    public String text(String path) {
        return answer(request(path).GET(), ANSWER_TIMEOUT);
    }

    /** The same, of JSON. */
    JsonNode get(String path) {
        return json(text(path));
    }

    /** What it answers to a change. */
    public String change(String method, String path, @Nullable Object body) {
        HttpRequest.Builder request = request(path);
        if (body == null) {
            request.method(method, HttpRequest.BodyPublishers.noBody());
        } else {
            request.header("Content-Type", "application/json")
                    .method(method, HttpRequest.BodyPublishers.ofString(Json.of(body)));
        }
        return answer(request, CHANGE_TIMEOUT);
    }

    /** What it answers, as it comes; the caller closes it. */
    InputStream open(String path, String accept) {
        HttpRequest request = request(path).header("Accept", accept).GET().build();
        HttpResponse<InputStream> response = send(() -> http.send(request, HttpResponse.BodyHandlers.ofInputStream()));
        if (response.statusCode() == OK) {
            return response.body();
        }
        try (InputStream in = response.body()) {
            throw refused(response.statusCode(), new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw lost(e);
        }
    }

    /** Gives each server-sent event to {@code sink}, until the server or the sink ends that. */
    void follow(String path, Predicate<ServerEvent> sink) {
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(open(path, "text/event-stream"), StandardCharsets.UTF_8))) {
            String kind = "";
            StringBuilder data = new StringBuilder();
            String line;
            while ((line = in.readLine()) != null) {
                if (line.startsWith("event: ")) {
                    kind = line.substring("event: ".length());
                } else if (line.startsWith("data: ")) {
                    data.append(line, "data: ".length(), line.length());
                } else if (line.isEmpty() && data.length() > 0) {
                    if (!sink.test(new ServerEvent(kind, data.toString(), json(data.toString())))) {
                        return;
                    }
                    data.setLength(0);
                }
            }
        } catch (IOException e) {
            throw lost(e);
        }
        throw new CommandException(
                ExitCode.FAILED, "the " + kind.who + " at " + url + " has ended the connection; does it stop?", null);
    }

    /**
     * An event as it comes.
     *
     * @param text its data, JSON of one line
     */
    record ServerEvent(String kind, String text, JsonNode data) {}

    /** Reads JSON that it sent. */
    public JsonNode json(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (JacksonException e) {
            throw new CommandException(
                    ExitCode.FAILED, "what answers at " + url + " is no admin API of a " + kind.who, e);
        }
    }

    private HttpRequest.Builder request(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path));
        return token == null ? request : request.header("Authorization", token.authorization());
    }

    private String answer(HttpRequest.Builder request, Duration total) {
        HttpResponse<String> response = send(() -> whole(request.build(), total));
        if (response.statusCode() != OK) {
            throw refused(response.statusCode(), response.body());
        }
        return response.body();
    }

    /** Sends a request whose whole answer has this time: that of a {@link HttpRequest} ends with the answer's head. */
    private HttpResponse<String> whole(HttpRequest request, Duration total) throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<String>> call = http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        try {
            return call.get(total.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new HttpTimeoutException("no whole answer within " + total.toSeconds() + " s");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
        } finally {
            call.cancel(true);
        }
    }

    private interface Exchange<T> {
        HttpResponse<T> run() throws IOException, InterruptedException;
    }

    private <T> HttpResponse<T> send(Exchange<T> exchange) {
        try {
            return exchange.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException(ExitCode.FAILED, "interrupted", e);
        } catch (HttpTimeoutException e) {
            throw new CommandException(
                    ExitCode.USAGE, "no answer from " + url + " in time; does the " + kind.who + " hang?", e);
        } catch (IOException e) {
            throw notReached(e);
        }
    }

    private CommandException notReached(IOException e) {
        Optional<String> otherProtocol = HttpCalls.otherProtocol(url.getScheme(), e);
        if (otherProtocol.isPresent()) {
            return new CommandException(ExitCode.USAGE, "no admin API at " + url + ": " + otherProtocol.get(), e);
        }
        if (e instanceof SSLException) {
            return new CommandException(
                    ExitCode.USAGE,
                    "no TLS with " + url + ": " + Causes.text(e) + "; give the certificate of its authority with --ca, "
                            + "or http:// where the " + kind.who + " has no TLS",
                    e);
        }
        return new CommandException(
                ExitCode.USAGE,
                "cannot connect to " + url + " (" + Causes.text(e) + "): is the " + kind.who
                        + " running, and its admin API there? " + kind.option + " URL names another",
                e);
    }

    private CommandException lost(IOException e) {
        return new CommandException(
                ExitCode.FAILED,
                "the connection to " + url + " broke (" + Causes.text(e) + "): has the " + kind.who + " ended?",
                e);
    }

    private CommandException refused(int status, String body) {
        if (status == UNAUTHORIZED) {
            return new CommandException(
                    ExitCode.FAILED,
                    token == null
                            ? "the " + kind.who
                                    + " wants its token: give it with --token-file FILE or in TAMANOIR_TOKEN"
                            : "the " + kind.who + " refuses this token: give the one of its admin.token-file",
                    null);
        }
        JsonNode answer = json(body);
        JsonNode error = answer.get("error");
        List<String> problems = new ArrayList<>();
        answer.path("problems").forEach(problem -> problems.add(problem.asString()));
        if (problems.size() == 1 && error != null && error.asString().endsWith(problems.get(0))) {
            problems.clear(); // It is told already.
        }
        return new CommandException(
                ExitCode.FAILED,
                error == null ? "the " + kind.who + " answers with status " + status : error.asString(),
                null,
                problems);
    }
}
