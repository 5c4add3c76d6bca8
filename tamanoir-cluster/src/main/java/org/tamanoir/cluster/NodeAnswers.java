package org.tamanoir.cluster;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.format.text.JsonFaults;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads what nodes answer, believing nothing. */
final class NodeAnswers {
    /** What {@code GET /ready} of a node says from when it is told to stop until its last stream has ended. */
    static final String STOPS = "the node stops";

    static final int MAX_READY_BYTES = 4 * 1024;
    static final int MAX_LOAD_BYTES = 16 * 1024;
    static final int MAX_SERVICES_BYTES = 4 * 1024 * 1024;

    private static final int OK = 200;
    private static final int UNAVAILABLE = 503;
    private static final JsonMapper MAPPER = new JsonMapper();

    private NodeAnswers() {}

    /** Returns why a node is not ready, by its answer to {@code GET /ready}; null = it is. */
    static @Nullable String notReady(NodeQuestions.Answer answer) {
        if (answer.status() == OK) {
            return null;
        }
        if (answer.status() != UNAVAILABLE) {
            return "answers status " + answer.status() + " for /ready: is there a node's admin API?";
        }
        try {
            String reason = MAPPER.readTree(answer.body()).path("reason").asString("");
            return reason.isEmpty() ? "is not ready" : Bounds.line(reason);
        } catch (JacksonException e) {
            return "is not ready";
        }
    }

    /**
     * Returns the answer to {@code GET /v1/load}.
     *
     * @throws IllegalArgumentException if it is none, one line
     */
    static Load load(NodeQuestions.Answer answer) {
        requireOk(answer, "/v1/load");
        try {
            Load load = MAPPER.readValue(answer.body(), Load.class);
            if (load == null) {
                throw new IllegalArgumentException("answers no load: null");
            }
            return load;
        } catch (JacksonException e) {
            throw new IllegalArgumentException("answers no load: " + JsonFaults.why(e), e);
        }
    }

    /**
     * Counters of each version of each service, by {@code name version}, from the answer to {@code GET /v1/services}.
     *
     * @throws IllegalArgumentException if it is none, one line
     */
    static Map<String, Map<String, Long>> services(NodeQuestions.Answer answer) {
        requireOk(answer, "/v1/services");
        try {
            Map<String, Map<String, Long>> all = new TreeMap<>();
            for (JsonNode service : MAPPER.readTree(answer.body()).path("services")) {
                String name = service.path("name").asString("");
                all.put(name + " " + service.path("version").asString(""), counters(service));
            }
            return all;
        } catch (JacksonException e) {
            throw new IllegalArgumentException("answers no services: " + JsonFaults.why(e), e);
        }
    }

    private static Map<String, Long> counters(JsonNode service) {
        Map<String, Long> counters = new TreeMap<>();
        service.path("counters").properties().forEach(each -> put(counters, each.getKey(), each.getValue()));
        JsonNode traffic = service.path("traffic");
        for (String name : new String[] {"packetsIn", "packetsOut", "bytesIn", "bytesOut", "dropped"}) {
            put(counters, name, traffic.path(name));
        }
        return counters;
    }

    private static void put(Map<String, Long> counters, String name, JsonNode value) {
        if (value.isIntegralNumber()) {
            counters.put(name, Math.max(0, value.asLong(0)));
        }
    }

    private static void requireOk(NodeQuestions.Answer answer, String path) {
        if (answer.status() != OK) {
            throw new IllegalArgumentException(
                    "answers status " + answer.status() + " for " + path + ": is the node as new as the director?");
        }
    }
}
