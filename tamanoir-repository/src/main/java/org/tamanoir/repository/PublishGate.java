package org.tamanoir.repository;

import io.vertx.core.Handler;
import io.vertx.ext.web.RoutingContext;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Lets changes through that show the token. A page in somebody's browser cannot make one: the token is sent in a
 * header that browsers do not add by themselves. The event loop's thread.
 */
final class PublishGate implements Handler<RoutingContext> {
    private final @Nullable Token token;
    private final @Nullable URI mirrorOf;

    PublishGate(@Nullable Token token, @Nullable URI mirrorOf) {
        this.token = token;
        this.mirrorOf = mirrorOf;
    }

    @Override
    public void handle(RoutingContext context) {
        if (mirrorOf != null) {
            Answers.refuse(context, 403, "this is a mirror of " + mirrorOf + " and read-only: publish there");
        } else if (token == null) {
            Answers.refuse(
                    context,
                    403,
                    "publishing is off: start the repository with --token-file FILE, or TAMANOIR_TOKEN set, to turn "
                            + "it on");
        } else if (!token.matches(context.request().getHeader("Authorization"))) {
            context.response().putHeader("WWW-Authenticate", "Bearer");
            Answers.refuse(
                    context,
                    401,
                    context.request().getHeader("Authorization") == null
                            ? "a token is missing: send 'Authorization: Bearer TOKEN'"
                            : "this token is not the repository's: correct it");
        } else {
            context.next();
        }
    }

    static void requireJson(RoutingContext context) {
        String type = context.request().getHeader("Content-Type");
        if (type == null || !type.split(";", 2)[0].strip().equalsIgnoreCase(TreeFile.JSON)) {
            Answers.refuse(context, 415, "content type '" + type + "': send application/json");
        } else {
            context.next();
        }
    }
}
