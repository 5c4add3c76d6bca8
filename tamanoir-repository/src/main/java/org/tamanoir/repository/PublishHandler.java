package org.tamanoir.repository;

import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.FormatFile;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.Refusal;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.Signature;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.text.ExactJson;
import org.tamanoir.platform.Causes;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Publishes uploaded versions, yanks them and takes that back. Who comes here has shown the token.
 *
 * <p>Thread contract: the event loop's thread; files and signatures are worked on by a worker thread.
 */
final class PublishHandler {
    private static final Logger LOG = LoggerFactory.getLogger(PublishHandler.class);
    private static final JsonMapper JSON = new JsonMapper();

    private final RepositoryTree tree;
    private final Uploads uploads;
    private final long maxJarBytes;
    private final @Nullable TrustPolicy publishers;

    PublishHandler(RepositoryTree tree, Uploads uploads, long maxJarBytes, @Nullable TrustPolicy publishers) {
        this.tree = tree;
        this.uploads = uploads;
        this.maxJarBytes = maxJarBytes;
        this.publishers = publishers;
    }

    private record Answer(int status, Object body) {
        static Answer error(int status, @Nullable String line) {
            return new Answer(status, Map.of("error", String.valueOf(line)));
        }
    }

    void publish(RoutingContext context) {
        work(context, () -> {
            ServiceId id = id(context);
            JsonNode body = body(context);
            byte[] manifest = Base64.getDecoder().decode(text(body, "manifest"));
            byte[] signature = text(body, "signature").getBytes(StandardCharsets.UTF_8);
            return publish(
                    id, manifest, signature, String.valueOf(context.request().remoteAddress()));
        });
    }

    private Answer publish(ServiceId id, byte[] manifest, byte[] signature, String client)
            throws IOException, ConflictException, CodeRefusedException {
        if (manifest.length > Manifest.MAX_BYTES || signature.length > Signature.MAX_BYTES) {
            throw new CodeRefusedException(
                    Refusal.TOO_LARGE,
                    id + ": manifest of " + manifest.length + " bytes and signature of " + signature.length + ": "
                            + Manifest.MAX_BYTES + " and " + Signature.MAX_BYTES + " at most");
        }
        Manifest decoded = publishers == null ? Manifest.decode(manifest) : publishers.verify(manifest, signature);
        Signature.decode(signature);
        if (!decoded.id().equals(id)) {
            throw new CodeRefusedException(
                    Refusal.WRONG_SERVICE, "the manifest is for " + decoded.id() + ", the address for " + id);
        }
        if (decoded.jarBytes() > maxJarBytes) {
            throw new CodeRefusedException(
                    Refusal.TOO_LARGE,
                    id + ": a jar of " + decoded.jarBytes() + " bytes is too large: " + maxJarBytes
                            + " at most; make it smaller, or start the repository with a greater --max-jar");
        }
        StagedJar jar = uploads.take(decoded.jarSha256());
        try {
            RepositoryTree.Outcome outcome = tree.publish(manifest, signature, jar, null);
            if (outcome == RepositoryTree.Outcome.CREATED) {
                LOG.info("{}: published from {}, signed by key {}", id, client, signer(id));
            }
            return new Answer(outcome == RepositoryTree.Outcome.CREATED ? 201 : 200, told(outcome, id));
        } finally {
            if (jar != null) {
                Uploads.remove(jar.file());
            }
        }
    }

    void publishFormat(RoutingContext context) {
        work(context, () -> {
            JsonNode body = body(context);
            Format format = Format.of(FormatFile.ofJson(context.body().buffer().getBytes()));
            byte[] signature = text(body, "signature").getBytes(StandardCharsets.UTF_8);
            if (publishers != null) {
                publishers.verify(format, signature);
            }
            RepositoryTree.Outcome outcome = tree.formats().publish(format, signature);
            boolean isNew = outcome == RepositoryTree.Outcome.CREATED;
            if (isNew) {
                LOG.info(
                        "format {}: published from {}",
                        format.id(),
                        context.request().remoteAddress());
            }
            return new Answer(
                    isNew ? 201 : 200,
                    Map.of(
                            "outcome",
                            isNew ? "published" : "unchanged",
                            "id",
                            format.id().toString()));
        });
    }

    private String signer(ServiceId id) {
        IndexEntry entry = tree.find(id);
        return entry == null ? "?" : entry.publisher();
    }

    private Map<String, Object> told(RepositoryTree.Outcome outcome, ServiceId id) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("outcome", outcome == RepositoryTree.Outcome.CREATED ? "published" : "unchanged");
        IndexEntry entry = tree.find(id);
        if (entry != null) {
            told.put("service", entry);
        }
        return told;
    }

    void yank(RoutingContext context) {
        work(context, () -> {
            ServiceId id = id(context);
            String reason = text(body(context), "reason");
            tree.yank(id, reason);
            LOG.info("{}: yanked from {}: {}", id, context.request().remoteAddress(), reason);
            return new Answer(200, Map.of("outcome", "yanked"));
        });
    }

    void unyank(RoutingContext context) {
        work(context, () -> {
            ServiceId id = id(context);
            tree.unyank(id);
            LOG.info("{}: no longer yanked, from {}", id, context.request().remoteAddress());
            return new Answer(200, Map.of("outcome", "unyanked"));
        });
    }

    private static void work(RoutingContext context, Callable<Answer> work) {
        context.vertx()
                .executeBlocking(() -> answer(work), false)
                .onSuccess(answer -> Answers.json(context, answer.status, answer.body))
                .onFailure(cause -> Answers.failed(context, cause));
    }

    private static Answer answer(Callable<Answer> work) throws Exception {
        try {
            return work.call();
        } catch (ConflictException e) {
            return Answer.error(409, e.getMessage());
        } catch (CodeRefusedException e) {
            return new Answer(
                    422,
                    Map.of(
                            "error",
                            String.valueOf(e.getMessage()),
                            "refusal",
                            e.refusal().name()));
        } catch (FormatException e) {
            return Answer.error(422, "no format: " + e.getMessage());
        } catch (NoSuchFileException e) {
            return Answer.error(
                    404,
                    e.getMessage() + " is not here; what is to be published must be uploaded before: PUT "
                            + "/api/uploads/SHA-256");
        } catch (IllegalArgumentException e) {
            return Answer.error(400, Causes.text(e));
        } catch (IOException e) {
            LOG.warn("cannot publish: {}", Causes.text(e));
            return Answer.error(507, "the repository cannot store it: " + Causes.text(e));
        }
    }

    private static ServiceId id(RoutingContext context) {
        return new ServiceId(context.pathParam("name"), context.pathParam("version"));
    }

    private static JsonNode body(RoutingContext context) {
        try {
            JsonNode body = JSON.readTree(ExactJson.text(context.body().buffer().getBytes()));
            if (body.isObject()) {
                return body;
            }
        } catch (JacksonException | NullPointerException e) {
            throw new IllegalArgumentException("the body is no JSON object", e);
        } catch (FormatException e) {
            throw new IllegalArgumentException("the body is refused: " + e.getMessage(), e);
        }
        throw new IllegalArgumentException("the body is no JSON object");
    }

    private static String text(JsonNode body, String field) {
        JsonNode value = body.get(field);
        if (value == null || !value.isString()) {
            throw new IllegalArgumentException("the body lacks the text '" + field + "'");
        }
        return value.asString();
    }
}
