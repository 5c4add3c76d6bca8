package org.tamanoir.node.admin;

import com.google.common.net.InetAddresses;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.net.InetAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.repository.HttpListener;
import org.tamanoir.repository.Token;

/**
 * Who may ask for what. A web page that the operator looks at must not reach the API, neither by a request that
 * browsers send without asking (it carries an Origin, and no token or JSON) nor under a name that suddenly resolves
 * to this host (the Host header then carries that name; an address cannot be rebound). The page that this server serves
 * itself may: its Origin is the Host that was asked. Any thread may call.
 */
final class AdminGate {
    private static final Pattern ADDRESS = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-f:.%]+]");

    private static final String BASIC = "Basic ";
    /** What load balancers and collectors of metrics ask for. */
    private static final Set<String> OPEN = Set.of("/health", "/ready", "/metrics");
    /** What a director asks of a node that has registered with it. */
    private static final Set<String> OF_DIRECTORS = Set.of("/v1/load", "/v1/services");

    private static final String SERVICES = "/v1/services/";

    private static final String READ_KEY = "admin.read-token-file";
    private static final String CHANGE_KEY = "admin.token-file";

    private final AdminSettings settings;
    private final String who;
    private final boolean isConfigurable;
    private Predicate<InetAddress> isDirector = from -> false;
    private Names names = typed -> typed;

    /** Finds services. */
    interface Names {
        /** Returns the full name of a service as somebody typed it. */
        String full(String typed) throws ApiException;
    }

    /**
     * A gate.
     *
     * @param who it is that is asked, in errors: {@code node}
     */
    AdminGate(AdminSettings settings, String who) {
        this(settings, who, true);
    }

    /** @param isConfigurable whether there are {@code admin.read-token-file} and {@code admin.hosts}, in errors */
    AdminGate(AdminSettings settings, String who, boolean isConfigurable) {
        this.settings = settings;
        this.who = who;
        this.isConfigurable = isConfigurable;
    }

    /** For every request. */
    void admit(HttpServerRequest request) throws ApiException {
        String host = request.getHeader(HttpHeaders.HOST);
        if (host == null ? !HttpListener.isHealthCheck(request) : !isOwn(host.toLowerCase(Locale.ROOT))) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "host '" + shortened(host) + "' is not a name of this server: use its address or localhost"
                            + (isConfigurable ? ", or add the name to admin.hosts" : ""));
        }
        String origin = request.getHeader(HttpHeaders.ORIGIN);
        if (origin != null
                && !origin.equalsIgnoreCase("http://" + host)
                && !origin.equalsIgnoreCase("https://" + host)) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "requests from other web pages than this server's are refused: leave the Origin header out");
        }
        if (request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD)) {
            admitRead(request);
        }
    }

    private boolean isOwn(String host) {
        String name = host.replaceFirst("\\.?(:\\d{1,5})?$", ""); // A name with a dot at its end is the same one.
        return name.equals("localhost")
                || ADDRESS.matcher(name).matches()
                || settings.hosts().contains(name);
    }

    /**
     * Lets directors ask for a node's load and services without a token. Before the first request.
     *
     * @param from whether a director asks from this address; must not block
     */
    void letDirectorsRead(Predicate<InetAddress> from) {
        isDirector = from;
    }

    /**
     * Resolves names of services for tokens that are for services alone. Before the first request.
     *
     * @param names must not block
     */
    void letControlsRead(Names names) {
        this.names = names;
    }

    /**
     * For questions: all but {@link #OPEN} want a token beyond loopback, and wherever there is one for reading. Browsers
     * and collectors of metrics may show it as the password of HTTP's basic scheme, whatever the user's name.
     */
    private void admitRead(HttpServerRequest request) throws ApiException {
        if (!settings.guardsReading() || OPEN.contains(request.path()) || isOfDirector(request)) {
            return;
        }
        if (settings.tokens().isEmpty()) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "beyond loopback only /health, /ready and /metrics answer without a token, and the " + who
                            + " has none: give it one with " + (isConfigurable ? READ_KEY : CHANGE_KEY));
        }
        String given = request.getHeader(HttpHeaders.AUTHORIZATION);
        if (given == null) {
            throw new ApiException(
                    ApiException.UNAUTHORIZED,
                    "a token is wanted: send the header 'Authorization: Bearer TOKEN' with that of the " + who + "'s "
                            + readKey());
        }
        AdminToken token = shown(given);
        if (token == null) {
            throw new ApiException(
                    ApiException.UNAUTHORIZED, "the token is wrong: send that of the " + who + "'s " + readKey());
        }
        if (token.right() == AdminToken.Right.CONTROL && !isOwnService(token, request.path())) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "token " + token.name() + " reads its own services alone: send that of the " + who + "'s "
                            + readKey());
        }
    }

    /** Returns the key of a token for reading: one that the configuration has, if any. */
    private String readKey() {
        return isConfigurable && (settings.has(AdminToken.Right.READ) || !settings.has(AdminToken.Right.CHANGE))
                ? READ_KEY
                : CHANGE_KEY;
    }

    /** Returns whether a path, in normal form, is of a service that a token is for. */
    private boolean isOwnService(AdminToken token, @Nullable String path) {
        if (path == null || !path.startsWith(SERVICES)) {
            return false;
        }
        String name = path.substring(SERVICES.length()).split("/", 2)[0];
        try {
            return token.services().contains(names.full(URLDecoder.decode(name, StandardCharsets.UTF_8)));
        } catch (ApiException | IllegalArgumentException e) {
            return false;
        }
    }

    private boolean isOfDirector(HttpServerRequest request) {
        return OF_DIRECTORS.contains(request.path())
                && isDirector.test(
                        InetAddresses.forString(request.remoteAddress().hostAddress()));
    }

    /** Returns the token that the header shows; null when it is none of the settings'. */
    private @Nullable AdminToken shown(String authorization) {
        String bearer = bearer(authorization);
        AdminToken found = null;
        for (AdminToken token : settings.tokens()) {
            if (token.token().matches(bearer) && (found == null || token.right().compareTo(found.right()) > 0)) {
                found = token;
            }
        }
        return found;
    }

    /** Returns the name of the token that a request shows by whatever scheme; {@code none} if it is none of the settings'. */
    String shownName(HttpServerRequest request) {
        String given = request.getHeader(HttpHeaders.AUTHORIZATION);
        AdminToken token = given == null ? null : shown(given);
        return token == null ? ChangeLog.NO_TOKEN : token.name();
    }

    /** Returns the header as the other scheme would have it, where it is basic. */
    private static String bearer(String authorization) {
        if (!authorization.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            return authorization;
        }
        try {
            byte[] decoded = Base64.getDecoder()
                    .decode(authorization.substring(BASIC.length()).strip());
            String pair = new String(decoded, StandardCharsets.UTF_8);
            return "Bearer " + pair.substring(pair.indexOf(':') + 1);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    /**
     * For changes, before the body is read.
     *
     * @return the token that was shown
     */
    AdminToken admitChange(HttpServerRequest request) throws ApiException {
        if (settings.readOnly()) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "the admin API is read-only: start the " + who + " without admin.read-only");
        }
        if (!settings.has(AdminToken.Right.CHANGE)) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "changes need a token and the " + who + " has none: give it one with " + CHANGE_KEY);
        }
        return requireChange(request);
    }

    private AdminToken requireChange(HttpServerRequest request) throws ApiException {
        String given = given(request);
        AdminToken token = shownForChange(given);
        if (token == null || token.right() == AdminToken.Right.CONTROL) {
            throw new ApiException(
                    ApiException.UNAUTHORIZED, "the token is wrong: send that of the " + who + "'s " + CHANGE_KEY);
        }
        if (token.right() != AdminToken.Right.CHANGE) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "token " + token.name() + " is not for that: send that of the " + who + "'s " + CHANGE_KEY);
        }
        return token;
    }

    /** A browser sends basic credentials to this server for pages of others: for changes they do not count. */
    private @Nullable AdminToken shownForChange(String authorization) {
        return bearer(authorization).equals(authorization) ? shown(authorization) : null;
    }

    /**
     * For changes of a service by its control: the token for all changes, or one for some services, which {@link
     * #requireControl} looks at when the service is known.
     *
     * @return the token that was shown
     */
    AdminToken admitControl(HttpServerRequest request) throws ApiException {
        String given = request.getHeader(HttpHeaders.AUTHORIZATION);
        AdminToken token = given == null ? null : shownForChange(given);
        return token != null && token.right() == AdminToken.Right.CONTROL && !settings.readOnly()
                ? token
                : admitChange(request);
    }

    /**
     * Refuses a token for services that is not for this one.
     *
     * @param token that {@link #admitControl} returned
     * @param service its full name
     */
    static void requireControl(AdminToken token, String service) throws ApiException {
        if (token.right() == AdminToken.Right.CONTROL && !token.services().contains(service)) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "the token is not for service " + shortened(service)
                            + ": name the service beside it in admin.control, or send that of " + CHANGE_KEY);
        }
    }

    /** For what packets carry: the token where there is one, else loopback alone. */
    void admitContents(HttpServerRequest request) throws ApiException {
        if (settings.has(AdminToken.Right.CHANGE)) {
            requireChange(request);
        } else if (!settings.address().getAddress().isLoopbackAddress()) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "packets are shown beyond loopback only with a token and the " + who + " has none: give it one "
                            + "with admin.token-file");
        }
    }

    private static String given(HttpServerRequest request) throws ApiException {
        String given = request.getHeader(HttpHeaders.AUTHORIZATION);
        if (given == null) {
            throw new ApiException(
                    ApiException.UNAUTHORIZED, "a token is wanted: send the header 'Authorization: Bearer TOKEN'");
        }
        return given;
    }

    /**
     * For those who show a token.
     *
     * @param key of the configuration, that names the token's file
     */
    void requireToken(HttpServerRequest request, Token token, String key) throws ApiException {
        if (!token.matches(given(request))) {
            throw new ApiException(
                    ApiException.UNAUTHORIZED, "the token is wrong: send that of the " + who + "'s " + key);
        }
    }

    /** For requests with a body. Browsers ask the server before they send JSON for another site's page. */
    static void requireJson(HttpServerRequest request) throws ApiException {
        String type = request.getHeader(HttpHeaders.CONTENT_TYPE);
        String bare = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        if (!bare.equals("application/json")) {
            throw new ApiException(
                    ApiException.UNSUPPORTED_TYPE,
                    "content type '" + shortened(type) + "': send the header 'Content-Type: application/json'");
        }
    }

    private static String shortened(@Nullable String text) {
        return text == null ? "" : text.length() <= 80 ? text : text.substring(0, 80) + "...";
    }
}
