package org.tamanoir.node.admin;

import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.manager.ManagerException;
import tools.jackson.databind.json.JsonMapper;

/** Answers to requests, errors as JSON of one line. Any thread may call. */
final class Replies {
    static final int OK = 200;
    static final int INTERNAL = 500;
    /** For the rest of a body that nobody reads. */
    private static final long LINGER_MS = 500;

    static final String JSON = "application/json";

    private static final Logger LOG = LoggerFactory.getLogger(Replies.class);
    private static final JsonMapper MAPPER = new JsonMapper();

    private Replies() {}

    /** One answer. */
    record Reply(int status, String contentType, byte[] body) {}

    /** What a request is answered with, part by part. */
    interface LiveWork {
        void run(Call call, StreamedAnswer answer)
                throws ApiException, ManagerException, IOException, InterruptedException;
    }

    /** What a request is answered with. */
    interface Question {
        Reply answer(Call call) throws ApiException, ManagerException, IOException;
    }

    /** The same as a view, which becomes JSON. */
    interface View {
        Object of(Call call) throws ApiException, ManagerException;
    }

    /** The same as bytes. */
    interface Text {
        byte[] of(Call call) throws ApiException, IOException;
    }

    static Question of(View view) {
        return call -> new Reply(OK, JSON, json(view.of(call)));
    }

    static byte[] json(Object view) {
        return MAPPER.writeValueAsBytes(view);
    }

    /** Answers; blocks as the question does. */
    static void send(RoutingContext context, Question question) {
        send(context, question, outcome -> {});
    }

    /** Answers. @param told gets the outcome before, {@code done} or a line */
    static void send(RoutingContext context, Question question, Consumer<String> told) {
        Reply reply;
        try {
            reply = question.answer(new Call(context));
        } catch (ApiException | ManagerException | IOException | RuntimeException e) {
            told.accept(outcome(e));
            fail(context, e);
            return;
        } catch (OutOfMemoryError e) {
            ApiException why = noMemory(context);
            told.accept(outcome(why));
            fail(context, why);
            return;
        }
        told.accept("done");
        send(context, reply);
    }

    /** Returns what to answer where memory does not suffice; what the request took is free again. */
    private static ApiException noMemory(RoutingContext context) {
        LOG.error(
                "admin API: {} {}: no memory",
                context.request().method(),
                context.request().path());
        return new ApiException(
                ApiException.BUSY,
                "the memory does not suffice for this request; ask whether anything has changed, and start "
                        + "the process with a larger -Xmx than "
                        + (Runtime.getRuntime().maxMemory() >> 20) + "m");
    }

    /** Answers as the work goes on; blocks as it does. @param isOver whether this process tells no more */
    static void stream(RoutingContext context, LiveWork work, BooleanSupplier isOver) {
        StreamedAnswer answer = new StreamedAnswer(context.request(), isOver);
        try {
            work.run(new Call(context), answer);
            answer.end();
        } catch (ApiException | RuntimeException e) {
            breakOff(context, answer, e);
        } catch (OutOfMemoryError e) {
            breakOff(context, answer, noMemory(context));
        } catch (IOException | ManagerException e) {
            answer.breakOff(); // The client is gone, or does not read.
        } catch (InterruptedException e) {
            answer.breakOff();
            Thread.currentThread().interrupt();
        }
    }

    private static void breakOff(RoutingContext context, StreamedAnswer answer, Exception why) {
        if (answer.hasBegun()) {
            answer.breakOff();
        }
        fail(context, why);
    }

    private static void send(RoutingContext context, Reply reply) {
        if (Context.isOnEventLoopThread()) {
            end(context.response(), reply); // At once: Vert.x ends a failed request itself when nobody has.
        } else {
            try {
                context.vertx().runOnContext(loop -> end(context.response(), reply));
            } catch (RejectedExecutionException e) {
                LOG.debug(
                        "admin API: ended before it answered {}",
                        context.request().path());
            }
        }
    }

    private static void end(HttpServerResponse response, Reply reply) {
        if (!response.ended() && !response.closed()) {
            response.setStatusCode(reply.status())
                    .putHeader(HttpHeaders.CONTENT_TYPE, reply.contentType())
                    .end(Buffer.buffer(reply.body()));
        }
    }

    private static int status(Throwable failure) {
        if (failure instanceof ApiException known) {
            return known.status;
        }
        if (failure instanceof ManagerException known) {
            return switch (known.kind()) {
                case NOT_FOUND -> ApiException.NOT_FOUND;
                case CONFLICT -> ApiException.CONFLICT;
                case INVALID, REFUSED -> ApiException.INVALID;
                case UNAVAILABLE -> ApiException.BUSY;
                case NOT_KEPT -> ApiException.NOT_KEPT;
            };
        }
        return INTERNAL;
    }

    /** Returns what is recorded of a change that failed: a word for what became of it, and the line. */
    static String outcome(Throwable failure) {
        int status = status(failure);
        String word = status < INTERNAL ? "refused: " : status == ApiException.NOT_KEPT ? "done, but " : "failed: ";
        return word + line(failure);
    }

    /** Answers with what went wrong. */
    static void fail(RoutingContext context, Throwable failure) {
        int status = status(failure);
        if (status == INTERNAL) {
            LOG.error(
                    "admin API: {} {} failed",
                    context.request().method(),
                    context.request().path(),
                    failure);
        }
        String error = line(failure);
        Object view = failure instanceof ApiException known && !known.problems.isEmpty()
                ? new Views.Refusal(error, known.problems)
                : new Views.Failure(error);
        send(context, new Reply(status, JSON, json(view)));
    }

    /** Returns what whoever asked is told of a failure, in one line. */
    static String line(Throwable failure) {
        return failure instanceof ApiException || failure instanceof ManagerException
                ? String.valueOf(failure.getMessage()).replaceAll("\\s*\\R\\s*", " ")
                : "the server failed at this request; its log says why";
    }

    /**
     * Answers a request whose body is perhaps still coming, and ends the connection then; not at once, or the sender
     * would learn of the end before the answer. The event loop.
     */
    static void refuse(RoutingContext context, Throwable why) {
        HttpServerRequest request = context.request();
        if (!request.isEnded()) {
            context.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
            context.vertx().setTimer(LINGER_MS, late -> request.connection().close());
        }
        if (why instanceof ApiException known && known.status == ApiException.UNAUTHORIZED) {
            context.response().headers().add("WWW-Authenticate", "Bearer realm=\"tamanoir\"");
        }
        fail(context, why);
    }

    /** Answers what the router itself refuses. The event loop. */
    static void failed(RoutingContext context) {
        refuse(context, failure(context));
    }

    /** Returns why the router itself refuses a request. */
    static Throwable failure(RoutingContext context) {
        // Vert.x has none where it cannot read a path or a body.
        int status = Math.max(context.statusCode(), ApiException.BAD_REQUEST);
        String line = switch (status) {
            case ApiException.NOT_FOUND ->
                "there is no " + shortened(context.request().path()) + "; GET /openapi.yaml describes what there is";
            case ApiException.NOT_ALLOWED ->
                context.request().method() + " is not for "
                        + shortened(context.request().path()) + "; GET /openapi.yaml says what is";
            case ApiException.TOO_LARGE -> "the body is too large: " + context.get(Api.BOUND) + " bytes are allowed";
            case ApiException.EXPECTATION -> "of the header Expect 100-continue alone is understood; leave it out";
            default -> null;
        };
        if (line == null && status == INTERNAL) {
            return context.failure() == null ? new IllegalStateException("no cause") : context.failure();
        }
        return new ApiException(
                status,
                line != null ? line : "the request cannot be understood; check its path, and the chunks of its body");
    }

    /** Returns a text that may come from a client, cut. */
    static String shortened(String text) {
        return text.length() <= 200 ? text : text.substring(0, 200) + "...";
    }
}
