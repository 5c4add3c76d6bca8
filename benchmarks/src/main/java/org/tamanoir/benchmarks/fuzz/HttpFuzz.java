package org.tamanoir.benchmarks.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.SplittableRandom;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;

/**
 * Heads and bodies to the admin API of a node in a process of its own, with its token and without. Whatever it is, the
 * answer is no 5xx but 503 and 507, a connection ends in bounded time, and the node goes on answering.
 */
final class HttpFuzz implements FuzzTarget {
    private static final int INPUTS = 4;
    private static final int MAX_BODY = 80 * 1024;
    private static final int MAX_ANSWER = 1 << 20;
    /** For a request that is not whole, and for answers that go on until the client leaves. */
    private static final int PATIENCE_MS = 1000;

    /** Longer than the API's own bounds. */
    private static final int END_TIMEOUT_MS = 45_000;

    private static final double START_TIMEOUT_S = 120;
    private static final String TOKEN = "fuzz-0123456789abcdef";
    private static final String[] METHODS = {"GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "BREW"
    };
    private static final String[] PATHS =
            ("/ /health /ready /metrics /v1/node /v1/services /v1/services/org.example.Foo "
                            + "/v1/services/org.example.Foo/1.0 /v1/services/org.example.Foo/deploy "
                            + "/v1/services/Monitor/undeploy /v1/services/Monitor/release /v1/services/Monitor/level "
                            + "/v1/instances /v1/streams /v1/threads /v1/levels /v1/routes /v1/routes/10.0.0.0%2f8 "
                            + "/v1/qos /v1/qos/status /v1/traffic /v1/load /v1/cluster /v1/deployments /v1/config "
                            + "/v1/events /v1/revocations /openapi.yaml")
                    .split(" ");
    private static final String[] BODIES = {
        "{}",
        "{\"version\":\"1.0\"}",
        "{\"routes\":[{\"to\":\"10.0.0.0/8\",\"via\":\"127.0.0.1:9\",\"kind\":\"host\"}]}",
        "{\"to\":\"10.0.0.0/8\",\"via\":\"127.0.0.1:9\",\"transport\":\"tcp\",\"kind\":\"active\"}",
        "{\"pre\":{\"discipline\":\"drr\",\"processors\":1,\"classes\":[{\"name\":\"a\",\"weight\":3,\"match\":{\"class\":\"1-3\"}}]}}",
        "{\"post\":{\"discipline\":\"wfq\",\"links\":[{\"to\":\"10.0.0.0/8\",\"rate\":\"1Mbit\"}],\"classes\":[]}}",
        "{\"revoke\":\"0123456789abcdef\"}",
        "{\"level\":\"tc\"}",
        "{\"deadline\":\"10s\"}"
    };
    private static final String[] PIECES =
            ("{|}|[|]|:|,|\"|\\|%2e%2e|%00|%|..|?|&|=|#|null|-1|1e999|0x7fffffff|9223372036854775808|"
                            + "\r\n|\r\n\r\n|\n|\u00e9|Transfer-Encoding: chunked\r\n|Content-Length: 99999999999\r\n|"
                            + "Content-Length: -1\r\n|Expect: 100-continue\r\n|Upgrade: h2c\r\n|"
                            + "Connection: keep-alive\r\n|Host: a\r\n|Range: bytes=0-\r\n|\"10.0.0.0/33\"|"
                            + "[[[[[[[[[[[[[[[[")
                    .split("\\|");

    private final Processes processes;
    private final Child process;
    private final InetSocketAddress address;

    private HttpFuzz(Processes processes, Child process, InetSocketAddress address) {
        this.processes = processes;
        this.process = process;
        this.address = address;
    }

    /** Starts a node. */
    static HttpFuzz ofJar(Path jar, String... flags) throws IOException {
        String missing = NodeJvm.missing("--node-jar", jar);
        if (!missing.isEmpty()) {
            throw new IOException(missing);
        }
        Processes processes = new Processes();
        Path token = Files.writeString(processes.folder().resolve("token"), TOKEN + "\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        int port = Load.freePort();
        Path config = Files.writeString(processes.folder().resolve("node.yaml"), """
                listen: {tcp: ["127.0.0.1:0"], udp: ["127.0.0.1:0"]}
                admin: {listen: "127.0.0.1:%d", token-file: %s}
                """.formatted(port, token));
        NodeJvm jvm = new NodeJvm(Processes.ownJava(), List.of("-Xmx256m"), jar.toAbsolutePath()).with(List.of(flags));
        Child process = processes.start("node", jvm.line("-c", config.toString()));
        HttpFuzz fuzz = new HttpFuzz(processes, process, Load.loopback(port));
        if (!Threads.await(START_TIMEOUT_S, 50, () -> fuzz.isAnswering() || !process.isAlive()) || !process.isAlive()) {
            String said = process.lastWords();
            fuzz.close();
            throw new IOException("the node does not start: " + said);
        }
        return fuzz;
    }

    private boolean isAnswering() {
        try {
            return status(exchange(
                            "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII),
                            END_TIMEOUT_MS))
                    == 200;
        } catch (IOException | FuzzFault e) {
            return false;
        }
    }

    @Override
    public String name() {
        return "http";
    }

    @Override
    public long round(SplittableRandom random) throws Exception {
        for (int i = 0; i < INPUTS; i++) {
            byte[] request = request(random);
            byte[] answer = exchange(request, PATIENCE_MS);
            int status = status(answer);
            if (status == 500 || (status > 500 && status != 501 && status != 503 && status != 505 && status != 507)) {
                throw new FuzzFault(
                        "answered " + new String(answer, StandardCharsets.ISO_8859_1) + " to " + shown(request));
            }
            if (!process.isAlive()) {
                throw new FuzzFault("the node ended with " + process.exitCode() + " after " + shown(request));
            }
        }
        if (!isAnswering()) {
            throw new FuzzFault("the node does not answer any more; it said last: " + process.lastWords());
        }
        return INPUTS;
    }

    private static String shown(byte[] request) {
        String text = new String(request, 0, Math.min(request.length, 1500), StandardCharsets.ISO_8859_1);
        return text.replace("\r", "\\r").replace("\n", "\\n") + " (" + request.length + " bytes)";
    }

    private static byte[] request(SplittableRandom random) {
        byte[] body = random.nextInt(3) == 0
                ? new byte[0]
                : BODIES[random.nextInt(BODIES.length)].getBytes(StandardCharsets.UTF_8);
        for (int changes = random.nextInt(4); changes > 0; changes--) {
            body = Mutations.text(random, body, PIECES, MAX_BODY);
        }
        String method = METHODS[random.nextInt(random.nextBoolean() ? 4 : METHODS.length)];
        byte[] path = PATHS[random.nextInt(PATHS.length)].getBytes(StandardCharsets.UTF_8);
        if (random.nextInt(3) == 0) {
            path = Mutations.text(random, path, PIECES, 5000);
        }
        String head = " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                + (random.nextInt(5) == 0 ? "" : "Authorization: Bearer " + TOKEN + "\r\n")
                + (random.nextInt(8) == 0 ? "" : "Content-Type: application/json\r\n")
                + "Content-Length: " + (random.nextInt(20) == 0 ? body.length / 2 : body.length) + "\r\n\r\n";
        byte[] bytes = head.getBytes(StandardCharsets.ISO_8859_1);
        if (random.nextInt(4) == 0) {
            bytes = Mutations.text(random, bytes, PIECES, 20_000);
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(method.getBytes(StandardCharsets.US_ASCII));
        all.write(' ');
        all.writeBytes(path);
        all.writeBytes(bytes);
        all.writeBytes(body);
        return all.toByteArray();
    }

    /**
     * Sends bytes and reads to the end. Where the request is not whole, or the answer goes on until the client leaves,
     * it leaves after the patience: then the connection must end.
     */
    private byte[] exchange(byte[] request, int patienceMs) throws IOException, FuzzFault {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        try (Socket socket = new Socket()) {
            socket.connect(address, END_TIMEOUT_MS);
            socket.setSoTimeout(patienceMs);
            socket.getOutputStream().write(request);
            try {
                read(socket.getInputStream(), answer);
            } catch (SocketTimeoutException e) {
                socket.setSoTimeout(END_TIMEOUT_MS);
                socket.shutdownOutput();
                read(socket.getInputStream(), answer);
            }
        } catch (SocketTimeoutException e) {
            throw new FuzzFault("no end of the connection in " + END_TIMEOUT_MS + " ms after " + shown(request), e);
        } catch (IOException e) {
            // Closed in mid-request: refused, as it may be. A node that is gone is found by the question that follows.
        }
        return answer.toByteArray();
    }

    private static void read(InputStream in, ByteArrayOutputStream answer) throws IOException {
        byte[] piece = new byte[8192];
        int bytes;
        while (answer.size() < MAX_ANSWER && (bytes = in.read(piece)) > 0) {
            answer.write(piece, 0, bytes);
        }
    }

    /** The answer's status; 0 when there was none. */
    private static int status(byte[] answer) {
        String text = new String(answer, 0, Math.min(answer.length, 12), StandardCharsets.ISO_8859_1);
        return text.matches("HTTP/1\\.[01] \\d{3}") ? Integer.parseInt(text.substring(9)) : 0;
    }

    @Override
    public void close() throws IOException {
        process.terminate(20);
        processes.close();
    }
}
