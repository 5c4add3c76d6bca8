package org.tamanoir.node.director;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.NodeQuestions;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.tls.TlsFiles;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Asks nodes whether they are ready, and what their hosts lack. One thread. */
final class DirectorProbe implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int MAX_BYTES = 256 * 1024;
    private static final int OK = 200;
    private static final int UNAVAILABLE = 503;
    private static final JsonMapper MAPPER = new JsonMapper();

    private final NodeQuestions questions;

    /** @throws ClusterException if the TLS files are no good */
    DirectorProbe(@Nullable TlsFiles tls) throws ClusterException {
        questions = new NodeQuestions("probe", tls);
    }

    /** What a back-end lacks, and what could not be looked at. */
    record Answer(String backEnd, List<String> findings, List<String> notes) {}

    /** Asks all at once; returns the answers in the order of the list, after {@link #PATIENCE} at the latest. */
    List<Answer> ask(List<BackEnd> backEnds) {
        List<CompletableFuture<Answer>> asked = backEnds.stream().map(this::ask).toList();
        return asked.stream().map(CompletableFuture::join).toList();
    }

    private CompletableFuture<Answer> ask(BackEnd backEnd) {
        return get(backEnd, "/ready")
                .thenCombine(get(backEnd, "/v1/cluster"), (ready, cluster) -> {
                    List<String> findings = new ArrayList<>();
                    List<String> notes = new ArrayList<>();
                    ready(backEnd, ready, findings);
                    member(cluster, findings, notes);
                    return new Answer(backEnd.name(), findings, notes);
                })
                .exceptionally(e -> new Answer(backEnd.name(), List.of(unreachable(backEnd, e)), List.of()));
    }

    private CompletableFuture<NodeQuestions.Answer> get(BackEnd backEnd, String path) {
        return questions.get(backEnd.admin(), path, PATIENCE, MAX_BYTES);
    }

    private static void ready(BackEnd backEnd, NodeQuestions.Answer ready, List<String> findings) {
        if (ready.status() == UNAVAILABLE) {
            String reason = OneLine.of(json(ready).path("reason").asString("no reason given"));
            findings.add("not ready: " + reason + "; it gets no streams until that is put right");
        } else if (ready.status() != OK) {
            findings.add("answers " + ready.status() + " to " + backEnd.admin()
                    + "/ready: is that a node's admin API? correct the back-end's admin");
        }
    }

    private static void member(NodeQuestions.Answer cluster, List<String> findings, List<String> notes) {
        JsonNode member = json(cluster);
        if (cluster.status() != OK || !member.path("problems").isArray()) {
            notes.add("its host was not looked at: it is no member; start it with node --cluster URL of this director, "
                    + "or set its host up as docs/cluster.md says");
            return;
        }
        member.path("problems").forEach(each -> findings.add(OneLine.of(each.asString())));
    }

    private static JsonNode json(NodeQuestions.Answer reply) {
        try {
            return MAPPER.readTree(reply.body().isBlank() ? "{}" : reply.body());
        } catch (JacksonException e) {
            return MAPPER.createObjectNode();
        }
    }

    private static String unreachable(BackEnd backEnd, Throwable e) {
        String why = String.valueOf((e.getCause() == null ? e : e.getCause()).getMessage());
        return "cannot be reached at " + backEnd.admin() + " (" + OneLine.of(why)
                + "): start its node with --admin ADDRESS:PORT that this host reaches, or correct the back-end's admin";
    }

    @Override
    public void close() {
        questions.close();
    }
}
