package org.tamanoir.repository;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.BoundedBody;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.FormatFile;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceJar;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.format.Format;
import org.tamanoir.preemption.CheckpointPolicy;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Publishes to a repository.
 *
 * <p>Thread contract: any thread; calls block, for bounded times.
 */
public final class Publisher {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int MAX_ANSWER_BYTES = 64 << 10;
    /** Of the same jar, where another publisher of it takes the upload away in between. */
    private static final int MAX_UPLOADS = 3;

    private final Calls calls;
    private final @Nullable Token token;

    /**
     * Makes a client of one repository.
     *
     * @param tls for https; null = the JDK's own
     * @param token null = none: programs of the repository's own host may bring formats without one
     * @throws IllegalArgumentException in one line, for an address that cannot be one
     */
    public Publisher(URI repository, @Nullable SSLContext tls, @Nullable Token token) {
        calls = new Calls(repository, tls);
        this.token = token;
    }

    /**
     * What is said about a jar instead of what it says itself.
     *
     * @param mainClass null = the jar's
     * @param name of the service; null = that of the class
     * @param version null = the jar's
     * @param description null = the jar's
     */
    public record Description(
            @Nullable String mainClass,
            @Nullable String name,
            @Nullable String version,
            @Nullable String description,
            ServiceLimits limits) {
        /** All as the jar says it, without limits. */
        public static final Description OF_JAR = new Description(null, null, null, null, ServiceLimits.NONE);
    }

    /**
     * Returns the manifest of a jar.
     *
     * @param maxUnpackedBytes the most that it may unpack to
     * @throws CodeRefusedException if the jar is no good
     * @throws IllegalArgumentException in one line, if class or version are missing or wrong
     */
    public static Manifest describe(Path jar, Description given, long maxUnpackedBytes) throws CodeRefusedException {
        return describe(jar, given, maxUnpackedBytes, CheckpointPolicy.REQUIRED);
    }

    /** Returns the manifest of a jar for nodes whose {@code deploy.checkpoints} is this. */
    public static Manifest describe(Path jar, Description given, long maxUnpackedBytes, CheckpointPolicy checkpoints)
            throws CodeRefusedException {
        ServiceJar found = ServiceJar.inspect(jar, maxUnpackedBytes, checkpoints);
        String mainClass = given.mainClass == null ? found.mainClass() : given.mainClass;
        if (mainClass == null) {
            throw new IllegalArgumentException(jar + ": it holds several services, " + found.services()
                    + "; choose one with --class, or with the attribute Tamanoir-Service of its manifest");
        }
        if (!found.services().contains(mainClass)) {
            String fault = found.faults().get(mainClass);
            throw new IllegalArgumentException(jar + ": class " + mainClass + " is none of its services "
                    + found.services() + (fault == null ? "" : ": it " + fault));
        }
        String version = given.version == null ? found.version() : given.version;
        if (version == null) {
            throw new IllegalArgumentException(jar
                    + ": no version; give one with --version, or with the attribute Implementation-Version of its "
                    + "manifest");
        }
        return new Manifest(
                new ServiceId(given.name == null ? mainClass.replace('$', '_') : given.name, version),
                mainClass,
                found.sha256(),
                found.bytes(),
                java.util.List.of("jvm"),
                given.limits,
                given.description == null ? found.description() : given.description);
    }

    /**
     * Signs, uploads and publishes.
     *
     * @param manifest of this jar
     * @return CREATED, or SAME where exactly this was there
     * @throws IOException in one line
     */
    public RepositoryTree.Outcome publish(Path jar, Manifest manifest, SigningKey key)
            throws IOException, InterruptedException {
        byte[] bytes = manifest.encode();
        Map<String, String> body = Map.of(
                "manifest",
                Base64.getEncoder().encodeToString(bytes),
                "signature",
                new String(key.sign(bytes).encode(), StandardCharsets.US_ASCII));
        // Asked before the upload too: a refusal then comes in words, and not as a connection reset in its middle.
        HttpResponse<byte[]> answer = post("api/" + manifest.id().path(), body);
        for (int uploads = 0; answer.statusCode() == 404 && uploads < MAX_UPLOADS; uploads++) {
            upload(jar, manifest);
            answer = post("api/" + manifest.id().path(), body);
        }
        require(answer, 200, 201);
        return answer.statusCode() == 201 ? RepositoryTree.Outcome.CREATED : RepositoryTree.Outcome.SAME;
    }

    private void upload(Path jar, Manifest manifest) throws IOException, InterruptedException {
        HttpRequest request;
        try {
            request = request("api/uploads/" + manifest.jarSha256())
                    .header("Content-Type", TreeFile.JAR)
                    .PUT(BodyPublishers.ofFile(jar))
                    .build();
        } catch (FileNotFoundException e) {
            throw new IOException(jar + ": cannot be read any more", e);
        }
        require(call(request, manifest.jarBytes()), 200, 201);
    }

    /** Yanks a version. @param reason one line that users of the service see */
    public void yank(ServiceId id, String reason) throws IOException, InterruptedException {
        IndexEntry.requireReason(reason);
        require(post("api/" + id.path() + "/yank", Map.of("reason", reason)), 200);
    }

    /** Takes a yank back. */
    public void unyank(ServiceId id) throws IOException, InterruptedException {
        require(post("api/" + id.path() + "/unyank", Map.of()), 200);
    }

    /**
     * Publishes a format: with a key, signed; else as FFS's own programs do.
     *
     * @return CREATED, or SAME where exactly this was there; null where the repository does not tell
     * @throws IOException in one line
     */
    public RepositoryTree.@Nullable Outcome publish(Format format, @Nullable SigningKey key)
            throws IOException, InterruptedException {
        String digits = HexFormat.of().formatHex(format.description());
        if (key == null) {
            require(post("v1/formats", Map.of("format_rep", digits)), 200);
            return null;
        }
        String signature = new String(key.sign(FormatFile.signed(format)).encode(), StandardCharsets.US_ASCII);
        HttpResponse<byte[]> answer = post("api/formats", Map.of("format_rep", digits, "signature", signature));
        require(answer, 200, 201);
        return answer.statusCode() == 201 ? RepositoryTree.Outcome.CREATED : RepositoryTree.Outcome.SAME;
    }

    private HttpRequest.Builder request(String path) {
        HttpRequest.Builder request = calls.request(path);
        return token == null ? request : request.header("Authorization", token.authorization());
    }

    private HttpResponse<byte[]> post(String path, Object body) throws IOException, InterruptedException {
        return call(
                request(path)
                        .header("Content-Type", TreeFile.JSON)
                        .POST(BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)))
                        .build(),
                0);
    }

    private HttpResponse<byte[]> call(HttpRequest request, long bytes) throws IOException, InterruptedException {
        return calls.send(request, bytes, BoundedBody.bytes(MAX_ANSWER_BYTES));
    }

    private void require(HttpResponse<byte[]> answer, Integer... wanted) throws IOException {
        if (java.util.List.of(wanted).contains(answer.statusCode())) {
            return;
        }
        String line = null;
        try {
            JsonNode error = JSON.readTree(answer.body()).get("error");
            line = error == null ? null : error.asString();
        } catch (JacksonException e) {
            line = null; // Not a repository's answer: the status alone is told.
        }
        throw new IOException(calls.base() + ": "
                + (line == null
                        ? "answers " + answer.statusCode() + "; is this the address of a repository?"
                        : line.replaceAll("\\p{Cntrl}+", " ")));
    }
}
