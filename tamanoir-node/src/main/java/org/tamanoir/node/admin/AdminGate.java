package org.tamanoir.node.admin;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.Locale;
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

    private final AdminSettings settings;
    private final String who;

    /**
     * A gate.
     *
     * @param who it is that is asked, in errors: {@code node}
     */
    AdminGate(AdminSettings settings, String who) {
        this.settings = settings;
        this.who = who;
    }

    /** For every request. */
    void admit(HttpServerRequest request) throws ApiException {
        String host = request.getHeader(HttpHeaders.HOST);
        if (host == null ? !HttpListener.isHealthCheck(request) : !isOwn(host.toLowerCase(Locale.ROOT))) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "host '" + shortened(host) + "' is not a name of this server: use its address or localhost, or "
                            + "add the name to admin.hosts");
        }
        String origin = request.getHeader(HttpHeaders.ORIGIN);
        if (origin != null
                && !origin.equalsIgnoreCase("http://" + host)
                && !origin.equalsIgnoreCase("https://" + host)) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "requests from other web pages than this server's are refused: leave the Origin header out");
        }
    }

    private boolean isOwn(String host) {
        String name = host.replaceFirst("\\.?(:\\d{1,5})?$", ""); // A name with a dot at its end is the same one.
        return name.equals("localhost")
                || ADDRESS.matcher(name).matches()
                || settings.hosts().contains(name);
    }

    /** For changes, before the body is read. */
    void admitChange(HttpServerRequest request) throws ApiException {
        if (settings.readOnly()) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "the admin API is read-only: start the " + who + " without admin.read-only");
        }
        Token token = settings.token();
        if (token == null) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "changes need a token and the " + who + " has none: give it one with admin.token-file");
        }
        requireToken(request, token, "admin.token-file");
    }

    /** For changes of a service by its control: the token for all changes, or one for this service. */
    void admitControl(HttpServerRequest request, String service) throws ApiException {
        String given = request.getHeader(HttpHeaders.AUTHORIZATION);
        boolean isKnown = false;
        for (AdminSettings.ControlRight right : settings.rights()) {
            if (right.token().matches(given)) {
                if (!settings.readOnly() && right.services().contains(service)) {
                    return;
                }
                isKnown = true;
            }
        }
        if (isKnown && !settings.readOnly()) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "the token is not for service " + shortened(service)
                            + ": name the service beside it in admin.control, or send that of admin.token-file");
        }
        admitChange(request);
    }

    /** For what packets carry: the token where there is one, else loopback alone. */
    void admitContents(HttpServerRequest request) throws ApiException {
        Token token = settings.token();
        if (token != null) {
            requireToken(request, token, "admin.token-file");
        } else if (!settings.address().getAddress().isLoopbackAddress()) {
            throw new ApiException(
                    ApiException.FORBIDDEN,
                    "packets are shown beyond loopback only with a token and the " + who + " has none: give it one "
                            + "with admin.token-file");
        }
    }

    /**
     * For those who show a token.
     *
     * @param key of the configuration, that names the token's file
     */
    void requireToken(HttpServerRequest request, Token token, String key) throws ApiException {
        String given = request.getHeader(HttpHeaders.AUTHORIZATION);
        if (given == null) {
            throw new ApiException(
                    ApiException.UNAUTHORIZED, "a token is wanted: send the header 'Authorization: Bearer TOKEN'");
        }
        if (!token.matches(given)) {
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
