package org.tamanoir.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.Main;
import org.tamanoir.support.Namespaces;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A network namespace that stands for a machine. Any thread. */
final class Machine {
    private static final int PATIENCE_MS = 120_000;
    /** Enters namespaces; has none of its own. */
    private static final Namespaces NAMESPACES = new Namespaces("cluster");

    static {
        System.setProperty("http.keepAlive", "false"); // the JDK would use a connection of another namespace
    }

    /** What a program has said and how it ended. */
    record Ended(int code, String out, String err) {}

    final String name;

    Machine(String name) {
        this.name = name;
    }

    /** Runs code here, at most a minute. */
    <T> T in(Callable<T> code) {
        try {
            return NAMESPACES.in(name, code);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("in " + name, e);
        }
    }

    /** Runs a shell script here and returns what it printed; fails if it does. */
    String run(String script) {
        Ended ended = end(start(List.of("sh", "-ec", script)));
        assertThat(ended.code())
                .as("%s: %s: %s%s", name, script, ended.out(), ended.err())
                .isZero();
        return ended.out();
    }

    /** Runs Tamanoir here to its end. */
    Ended tamanoir(String... arguments) {
        return end(start(command(List.of(arguments))));
    }

    /** The command of Tamanoir with its JVM. */
    static List<String> command(List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ClusterArchive.common());
        command.addAll(ClusterArchive.options());
        command.add(Main.class.getName());
        command.addAll(arguments);
        return command;
    }

    /** Starts a program here; its process is the program's own, so that signals reach it. */
    ProcessBuilder builder(List<String> command) {
        List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", name));
        whole.addAll(command);
        return new ProcessBuilder(whole);
    }

    /** A process is on the machine of the thread that starts it. */
    private Process start(List<String> command) {
        return in(() -> new ProcessBuilder(command).start());
    }

    /** What it says is short: both pipes hold it. */
    private static Ended end(Process process) {
        try {
            process.getOutputStream().close();
            assertThat(process.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS))
                    .as("program has ended")
                    .isTrue();
            return new Ended(
                    process.exitValue(),
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8),
                    new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            process.destroyForcibly();
        }
    }

    /** Asks by HTTP from here. */
    JsonNode ask(String url) {
        return new JsonMapper().readTree(in(() -> get(url)));
    }

    /** Asks by HTTP, with the token that all here have for questions; the answer must be good. */
    static String get(String url) throws IOException {
        return request("GET", url, DirectorMachine.TOKEN, null);
    }

    /**
     * Asks by HTTP.
     *
     * @param token null = none
     * @param body JSON; null = none
     */
    static String request(String method, String url, @Nullable String token, @Nullable String body) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(url).toURL().openConnection();
        connection.setConnectTimeout(PATIENCE_MS);
        connection.setReadTimeout(PATIENCE_MS);
        connection.setRequestMethod(method);
        if (token != null) {
            connection.setRequestProperty("Authorization", "Bearer " + token);
        }
        if (body != null) {
            connection.setRequestProperty("Content-Type", "application/json");
            connection.setDoOutput(true);
            connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
        }
        int status = connection.getResponseCode();
        if (status >= 300) {
            String said = connection.getErrorStream() == null
                    ? ""
                    : new String(connection.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            throw new IOException(method + " " + url + ": " + status + " " + said);
        }
        return new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
