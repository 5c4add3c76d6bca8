package org.tamanoir.node;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.BackEnd;
import org.tamanoir.tls.TlsFiles;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Asks nodes whether they are ready, and what their hosts lack. One thread. */
final class DirectorProbe implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** For both questions to all nodes: they are asked side by side. */
    private static final Duration ALL = Duration.ofSeconds(30);

    private static final int MAX_OCTETS = 256 * 1024;
    private static final int THREADS = 16;
    private static final int OK = 200;
    private static final int UNAVAILABLE = 503;
    private static final JsonMapper MAPPER = new JsonMapper();

    private final HttpClient http;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS, task -> {
        Thread thread = new Thread(task, "probe");
        thread.setDaemon(true);
        return thread;
    });

    /** @throws IOException if the TLS files are no good */
    DirectorProbe(@Nullable TlsFiles tls) throws IOException {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .proxy(HttpClient.Builder.NO_PROXY)
                .connectTimeout(PATIENCE);
        http = (tls == null ? builder : builder.sslContext(tls.context())).build();
    }

    /** What a back-end lacks, and what could not be looked at. */
    record Answer(String backEnd, List<String> findings, List<String> notes) {}

    private record Reply(int status, String body) {}

    /** All at once; in the order of the list. */
    List<Answer> ask(List<BackEnd> backEnds) {
        Map<BackEnd, Future<Answer>> asked = new LinkedHashMap<>();
        backEnds.forEach(backEnd -> asked.put(backEnd, threads.submit(() -> ask(backEnd))));
        long end = System.nanoTime() + ALL.toNanos();
        List<Answer> answers = new ArrayList<>();
        asked.forEach((backEnd, answer) -> answers.add(await(backEnd, answer, end)));
        return answers;
    }

    private static Answer await(BackEnd backEnd, Future<Answer> answer, long end) {
        try {
            return answer.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return new Answer(backEnd.name(), List.of(unreachable(backEnd, "no whole answer in time")), List.of());
        } catch (ExecutionException e) {
            return new Answer(backEnd.name(), List.of(unreachable(backEnd, String.valueOf(e.getCause()))), List.of());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException(Main.FAILED, "interrupted", e);
        }
    }

    private Answer ask(BackEnd backEnd) {
        List<String> findings = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        try {
            ready(backEnd, get(backEnd.admin(), "/ready"), findings);
            member(backEnd, get(backEnd.admin(), "/v1/cluster"), findings, notes);
        } catch (IOException e) {
            findings.add(
                    unreachable(backEnd, e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return new Answer(backEnd.name(), findings, notes);
    }

    private static void ready(BackEnd backEnd, Reply ready, List<String> findings) {
        if (ready.status == UNAVAILABLE) {
            String reason = CtlTables.printable(json(ready).path("reason").asString("no reason given"));
            findings.add("not ready: " + reason + "; it gets no streams until that is put right");
        } else if (ready.status != OK) {
            findings.add("answers " + ready.status + " to " + backEnd.admin()
                    + "/ready: is that a node's admin API? correct the back-end's admin");
        }
    }

    private static void member(BackEnd backEnd, Reply cluster, List<String> findings, List<String> notes) {
        JsonNode member = json(cluster);
        if (cluster.status != OK || !member.path("problems").isArray()) {
            notes.add("its host was not looked at: it is no member; start it with node --cluster URL of this director, "
                    + "or set its host up as docs/cluster.md says");
            return;
        }
        member.path("problems").forEach(each -> findings.add(CtlTables.printable(each.asString())));
    }

    private static JsonNode json(Reply reply) {
        try {
            return MAPPER.readTree(reply.body.isBlank() ? "{}" : reply.body);
        } catch (JacksonException e) {
            return MAPPER.createObjectNode();
        }
    }

    private static String unreachable(BackEnd backEnd, String why) {
        return "cannot be reached at " + backEnd.admin() + " (" + CtlTables.printable(why)
                + "): start its node with --admin ADDRESS:PORT that this host reaches, or correct the back-end's admin";
    }

    private Reply get(URI admin, String path) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(admin.resolve(path)).timeout(PATIENCE).build();
        HttpResponse<InputStream> response = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream in = response.body()) {
            return new Reply(response.statusCode(), new String(in.readNBytes(MAX_OCTETS), StandardCharsets.UTF_8));
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
