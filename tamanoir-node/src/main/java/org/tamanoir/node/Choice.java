package org.tamanoir.node;

import java.util.Map;
import java.util.TreeMap;
import org.tamanoir.routing.NextHop;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.transport.TransportKind;

/** The words that settings choose from, in the file and on the command line alike. */
final class Choice {
    private static final Map<String, FailurePolicy> POLICIES =
            Map.of("drop", FailurePolicy.DROP, "pass", FailurePolicy.PASS, "close", FailurePolicy.CLOSE);
    private static final Map<String, TransportKind> SOCKETS =
            Map.of("auto", TransportKind.AUTO, "native", TransportKind.NATIVE, "nio", TransportKind.NIO);
    private static final Map<String, NextHop.Transport> TRANSPORTS = Map.of(
            "same",
            NextHop.Transport.SAME,
            "tcp",
            NextHop.Transport.TCP,
            "udp",
            NextHop.Transport.UDP,
            "tls",
            NextHop.Transport.TLS);
    private static final Map<String, NextHop.Kind> KINDS =
            Map.of("active", NextHop.Kind.ACTIVE_NODE, "host", NextHop.Kind.HOST);

    private static final Map<String, Boolean> FLAGS = Map.of("true", true, "false", false);

    private Choice() {}

    static boolean flag(String text) {
        return of(text, FLAGS);
    }

    static FailurePolicy failurePolicy(String text) {
        return of(text, POLICIES);
    }

    static TransportKind sockets(String text) {
        return of(text, SOCKETS);
    }

    static NextHop.Transport transport(String text) {
        return of(text, TRANSPORTS);
    }

    static NextHop.Kind kind(String text) {
        return of(text, KINDS);
    }

    /** Is this one of the words for a route's transport? */
    static boolean isTransport(String text) {
        return TRANSPORTS.containsKey(text);
    }

    static <T> T of(String text, Map<String, T> words) {
        T value = words.get(text);
        if (value == null) {
            String known = String.join(", ", new TreeMap<>(words).keySet());
            throw new IllegalArgumentException("'" + text + "' is none of " + known
                    + Suggestion.nearest(text, words.keySet())
                            .map(nearest -> "; did you mean '" + nearest + "'?")
                            .orElse(""));
        }
        return value;
    }
}
