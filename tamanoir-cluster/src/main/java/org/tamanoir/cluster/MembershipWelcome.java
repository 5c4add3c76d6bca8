package org.tamanoir.cluster;

import java.net.InetAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.deploy.PublisherKey;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.format.text.JsonFaults;
import org.tamanoir.routing.Addresses;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads a {@link Welcome} that came over a network or from a file, and believes nothing of it before it is checked:
 * what it says becomes commands on the host and trust in code. Fields that it does not know are passed over.
 */
final class MembershipWelcome {
    /** The longest that is read. */
    static final int LIMIT_BYTES = 1 << 20;

    private static final int MAX_SERVED = 64;
    private static final int MAX_SOURCES = 64;
    private static final int MAX_DEPLOYED = 256;
    private static final int MAX_TEXT = 128;
    private static final int MAX_CLUSTER = MAX_SERVED * (MAX_TEXT + 1);
    private static final int MAX_KEY = 4096;
    private static final int MAX_PORT = 65_535;
    /** Control characters, ends of lines, marks of direction, halves of characters: they could forge a log. */
    private static final Pattern HIDDEN = Pattern.compile("\\p{C}");

    private static final JsonMapper MAPPER = new JsonMapper();

    private MembershipWelcome() {}

    /** @throws ClusterException in one line, if it is none */
    static Welcome parse(String json) throws ClusterException {
        try {
            JsonNode root = MAPPER.readTree(json);
            if (root == null || !root.isObject()) {
                throw new IllegalArgumentException("a JSON object is wanted");
            }
            return welcome(root);
        } catch (JacksonException e) {
            throw new ClusterException("no JSON: " + JsonFaults.why(e), e);
        } catch (IllegalArgumentException e) {
            throw new ClusterException(Bounds.line(String.valueOf(e.getMessage())), e);
        }
    }

    static byte[] json(Welcome welcome) {
        return MAPPER.writeValueAsBytes(welcome);
    }

    private static Welcome welcome(JsonNode root) {
        JsonNode code = root.path("code");
        if (!code.isObject()) {
            throw new IllegalArgumentException("code: an object is wanted");
        }
        return new Welcome(
                text(root, "director", MAX_TEXT),
                text(root, "cluster", MAX_CLUSTER),
                state(text(root, "state", MAX_TEXT)),
                number(root, "connections", 0, Long.MAX_VALUE),
                number(root, "intervalMs", 1, Integer.MAX_VALUE),
                list(root, "services", MAX_SERVED, MembershipWelcome::served),
                new Welcome.Code(
                        list(code, "repositories", MAX_SOURCES, each -> repository(text(each, "a repository"))),
                        list(code, "publishers", MAX_SOURCES, MembershipWelcome::publisher),
                        list(code, "services", MAX_DEPLOYED, each -> service(text(each, "a service")))));
    }

    private static String state(String label) {
        for (BackEndState state : BackEndState.values()) {
            if (state.label().equals(label)) {
                return label;
            }
        }
        throw new IllegalArgumentException("state " + Bounds.quoted(label) + ": no state of a back-end");
    }

    private static Welcome.Served served(JsonNode service) {
        String name = text(service, "name", MAX_TEXT);
        String forwarding = Forwarding.of(text(service, "forwarding", MAX_TEXT)).label();
        List<String> protocols = list(
                service,
                "protocols",
                Protocol.values().length,
                each -> Protocol.of(text(each, "a protocol")).label());
        if (protocols.isEmpty()) {
            throw new IllegalArgumentException("service " + Bounds.quoted(name) + ": it has no protocol");
        }
        return new Welcome.Served(
                name,
                address(text(service, "address", MAX_TEXT)),
                (int) number(service, "port", 1, MAX_PORT),
                (int) number(service, "backEndPort", 1, MAX_PORT),
                protocols,
                forwarding);
    }

    /** Returns a literal one that a host can have beside its own: never looked up. */
    private static String address(String text) {
        try {
            InetAddress address = Bounds.address(text);
            if (!address.isAnyLocalAddress() && !address.isMulticastAddress() && !address.isLoopbackAddress()) {
                return Addresses.host(address);
            }
        } catch (IllegalArgumentException e) {
            // The line below says it.
        }
        throw new IllegalArgumentException("address " + Bounds.quoted(text) + ": it cannot be a virtual address");
    }

    private static String repository(String text) {
        URI uri = URI.create(text);
        boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        if (!http || uri.getHost() == null || uri.getQuery() != null || uri.getUserInfo() != null) {
            throw new IllegalArgumentException("repository " + Bounds.quoted(text) + ": http:// or https:// is wanted");
        }
        return text;
    }

    private static CodeSources.Publisher publisher(JsonNode publisher) {
        String key = text(publisher, "key", MAX_KEY, true);
        List<String> names = list(publisher, "names", MAX_DEPLOYED, each -> text(each, "a name"));
        try {
            new TrustPolicy.Publisher(PublisherKey.parse(key), names.isEmpty() ? List.of("*") : names);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("publisher: " + e.getMessage(), e);
        }
        return new CodeSources.Publisher(key, names);
    }

    private static String service(String text) {
        if (text.indexOf(':') < 0) {
            return ServiceId.requireName(text);
        }
        return ServiceId.parse(text).toString();
    }

    private static String text(JsonNode parent, String name, int max) {
        return text(parent, name, max, false);
    }

    private static String text(JsonNode parent, String name, int max, boolean severalLines) {
        JsonNode value = parent.path(name);
        if (!value.isString()) {
            throw new IllegalArgumentException(name + ": a text is wanted");
        }
        String text = value.asString();
        boolean isShown = severalLines || !HIDDEN.matcher(text).find();
        if (text.isBlank() || text.length() > max || !isShown) {
            throw new IllegalArgumentException(
                    name + " " + Bounds.quoted(text) + ": 1 to " + max + " characters of one line are wanted");
        }
        return text;
    }

    private static String text(JsonNode value, String what) {
        if (!value.isString() || value.asString().length() > MAX_KEY) {
            throw new IllegalArgumentException(what + " " + Bounds.quoted(value.toString()) + ": a text is wanted");
        }
        return value.asString();
    }

    private static long number(JsonNode parent, String name, long min, long max) {
        JsonNode value = parent.path(name);
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.asLong() < min || value.asLong() > max) {
            throw new IllegalArgumentException(name + " " + Bounds.quoted(value.toString()) + ": a whole number from "
                    + min + " to " + max + " is wanted");
        }
        return value.asLong();
    }

    private static <T> List<T> list(JsonNode parent, String name, int max, Function<JsonNode, T> reader) {
        JsonNode value = parent.path(name);
        if (!value.isArray() || value.size() > max) {
            throw new IllegalArgumentException(name + ": a list of at most " + max + " is wanted");
        }
        List<T> items = new ArrayList<>();
        value.forEach(item -> items.add(reader.apply(item)));
        return items;
    }
}
