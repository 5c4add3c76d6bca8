package org.tamanoir.benchmarks.netns;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Threads;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The admin API of a node. Any thread.
 *
 * @param base such as {@code http://127.0.0.1:3324}
 * @param token for changes; empty = none
 * @param namespace in whose loopback the API is; null = this process's
 */
public record NodeApi(String base, String token, @Nullable Namespace namespace) {
    /** Where a node has it unless it is told otherwise. */
    public static final int PORT = 3324;

    /** On processors that streams have taken, or that are emulated, a node answers late. */
    private static final int LOOK_TIMEOUT_MS = 60_000;

    /** Longer than a deployment may take. */
    private static final int CHANGE_TIMEOUT_MS = 150_000;

    private static final int MAX_ANSWER_BYTES = 16 << 20;
    private static final double ASK_AGAIN_MS = 50;

    /** Makes that of a node on its usual port in a namespace. */
    public static NodeApi in(Namespace namespace) {
        return new NodeApi("http://127.0.0.1:" + PORT, "", namespace);
    }

    /**
     * Waits until the node does its work.
     *
     * @throws IOException if its process ends, or is not ready in time
     */
    public void awaitReady(Child process, long timeoutS) throws IOException {
        boolean isInTime = Threads.await(timeoutS, ASK_AGAIN_MS, () -> {
            if (isReady()) {
                return true;
            }
            process.requireAlive();
            return false;
        });
        if (!isInTime) {
            throw new IOException("the node was not ready in " + timeoutS + " s: " + process.lastWords());
        }
    }

    private boolean isReady() {
        try {
            ask("GET", "/ready", "");
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns what it answers. */
    public JsonNode get(String path) throws IOException {
        return JsonMapper.shared().readTree(ask("GET", path, ""));
    }

    /** Makes one request and returns the text of its answer. */
    public String ask(String method, String path, String body) throws IOException {
        return namespace == null ? request(method, path, body) : namespace.call(() -> request(method, path, body));
    }

    private String request(String method, String path, String body) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(base + path).toURL().openConnection();
        int timeoutMs = method.equals("GET") ? LOOK_TIMEOUT_MS : CHANGE_TIMEOUT_MS;
        connection.setConnectTimeout(timeoutMs);
        connection.setReadTimeout(timeoutMs);
        connection.setRequestMethod(method);
        // A connection that is kept would be another thread's, of another namespace.
        connection.setRequestProperty("Connection", "close");
        if (!token.isEmpty() && !method.equals("GET")) {
            connection.setRequestProperty("Authorization", "Bearer " + token);
        }
        if (!body.isEmpty()) {
            connection.setRequestProperty("Content-Type", "application/json");
            connection.setDoOutput(true);
            try (OutputStream out = connection.getOutputStream()) {
                out.write(body.getBytes(StandardCharsets.UTF_8));
            }
        }
        int code = connection.getResponseCode();
        try (InputStream in = code < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            String answer = in == null ? "" : new String(in.readNBytes(MAX_ANSWER_BYTES), StandardCharsets.UTF_8);
            if (code >= 400) {
                throw new IOException(method + " " + path + ": " + code + " " + answer.strip());
            }
            return answer;
        } finally {
            connection.disconnect();
        }
    }
}
