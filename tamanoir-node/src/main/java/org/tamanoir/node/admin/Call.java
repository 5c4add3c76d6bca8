package org.tamanoir.node.admin;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.text.Decimals;
import tools.jackson.databind.JsonNode;

/** What one request asks. The thread that answers it. */
final class Call {
    /** Under this name a request has the full name of the service that its path means, where that was looked up. */
    static final String SERVICE = "service";

    private static final int DEFAULT_LIMIT = 1000;
    static final int MAX_LIMIT = 100_000;

    private final RoutingContext context;

    Call(RoutingContext context) {
        this.context = context;
    }

    /** A part of the path, decoded. */
    String path(String name) {
        return String.valueOf(context.pathParam(name));
    }

    /** The service's name in the path. */
    String serviceName() throws ApiException {
        return ServiceNames.required(path("name"));
    }

    /** The full name of the service whose control the token was admitted to. */
    String admittedService() {
        return Objects.requireNonNull(context.get(SERVICE));
    }

    /** A parameter of the query; null when it is not given. */
    @Nullable
    String query(String name) {
        List<String> values = context.queryParam(name);
        return values.isEmpty() ? null : values.get(0);
    }

    /** A whole number of the query. */
    long number(String name, long min, long max, long absent) throws ApiException {
        String text = query(name);
        if (text == null) {
            return absent;
        }
        try {
            long number = Long.parseLong(text);
            if (number >= min && number <= max && Decimals.isWhole(text)) {
                return number;
            }
        } catch (NumberFormatException e) {
            // The line below says it.
        }
        throw new ApiException(
                ApiException.BAD_REQUEST,
                name + "=" + (text.length() <= 40 ? text : text.substring(0, 40) + "...") + ": a whole number from "
                        + min + " to " + max + " is wanted");
    }

    /** How many items of a list are wanted. */
    int limit() throws ApiException {
        return (int) number("limit", 1, MAX_LIMIT, DEFAULT_LIMIT);
    }

    /** Items of a list to leave out before the first. */
    int offset() throws ApiException {
        return (int) number("offset", 0, Integer.MAX_VALUE, 0);
    }

    /** Whether the text has in it what the query's {@code match} says, in letters of either case. */
    Predicate<String> matching() {
        String wanted = query("match");
        String lower = wanted == null ? "" : wanted.toLowerCase(Locale.ROOT);
        return text -> lower.isEmpty() || text.toLowerCase(Locale.ROOT).contains(lower);
    }

    /** The address that it comes from. */
    InetAddress from() {
        SocketAddress peer = context.request().remoteAddress();
        try {
            return InetAddress.getByName(peer.hostAddress()); // An address: nothing is looked up.
        } catch (UnknownHostException e) {
            throw new IllegalStateException(peer + " is no address", e);
        }
    }

    /** A header; null when it is not given. */
    @Nullable
    String header(String name) {
        return context.request().getHeader(name);
    }

    /** The body's fields. */
    JsonFields fields() throws ApiException {
        return JsonFields.read(body());
    }

    /** The body as it stands. */
    JsonNode json() throws ApiException {
        return JsonFields.object(body());
    }

    private byte[] body() {
        Buffer body = context.body() == null ? null : context.body().buffer();
        return body == null ? new byte[0] : body.getBytes();
    }
}
