package org.tamanoir.benchmarks.netns;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The admin API of a node that listens on loopback in a namespace. Any thread.
 *
 * @param namespace of the node
 * @param port of the API
 */
public record AdminApi(Namespace namespace, int port) {
    private static final int TIMEOUT_MS = 20_000;

    /** Whether the node does its work. */
    public boolean isReady() {
        try {
            ask("GET", "/ready", "");
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** What it answers. */
    public JsonNode get(String path) throws IOException {
        return JsonMapper.shared().readTree(ask("GET", path, ""));
    }

    /** One request; its answer. */
    public String ask(String method, String path, String body) throws IOException {
        return namespace.call(() -> {
            HttpURLConnection connection = (HttpURLConnection)
                    URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
            connection.setConnectTimeout(TIMEOUT_MS);
            connection.setReadTimeout(TIMEOUT_MS);
            connection.setRequestMethod(method);
            // A connection that is kept would be another thread's, of another namespace.
            connection.setRequestProperty("Connection", "close");
            if (!body.isEmpty()) {
                connection.setRequestProperty("Content-Type", "application/json");
                connection.setDoOutput(true);
                try (OutputStream out = connection.getOutputStream()) {
                    out.write(body.getBytes(StandardCharsets.UTF_8));
                }
            }
            int code = connection.getResponseCode();
            try (InputStream in = code < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                String answer = in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
                if (code >= 400) {
                    throw new IOException(method + " " + path + ": " + code + " " + answer.strip());
                }
                return answer;
            } finally {
                connection.disconnect();
            }
        });
    }
}
