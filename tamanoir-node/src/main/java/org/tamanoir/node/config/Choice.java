package org.tamanoir.node.config;

import java.util.Map;
import java.util.TreeMap;
import org.tamanoir.platform.ServiceGrouping;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.platform.ThreadPriorities;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.routing.NextHop;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Suggestion;
import org.tamanoir.transport.TransportKind;

/** The words that settings choose from, in the file and on the command line alike. */
public final class Choice {
    static final Map<String, FailurePolicy> POLICIES =
            Map.of("drop", FailurePolicy.DROP, "pass", FailurePolicy.PASS, "close", FailurePolicy.CLOSE);
    static final Map<String, CheckpointPolicy> CHECKPOINTS = Map.of(
            "required",
            CheckpointPolicy.REQUIRED,
            "preferred",
            CheckpointPolicy.PREFERRED,
            "off",
            CheckpointPolicy.OFF);
    static final Map<String, TransportKind> SOCKETS =
            Map.of("auto", TransportKind.AUTO, "native", TransportKind.NATIVE, "nio", TransportKind.NIO);
    static final Map<String, ThreadKind> THREADS =
            Map.of("platform", ThreadKind.PLATFORM, "virtual", ThreadKind.VIRTUAL);
    static final Map<String, ServiceGrouping> GROUPS =
            Map.of("off", ServiceGrouping.OFF, "services", ServiceGrouping.SERVICES);
    static final Map<String, ThreadPriorities> PRIORITIES = Map.of(
            "off",
            ThreadPriorities.OFF,
            "auto",
            ThreadPriorities.AUTO,
            "lower",
            ThreadPriorities.LOWER,
            "realtime",
            ThreadPriorities.REALTIME);
    public static final Map<String, NextHop.Transport> TRANSPORTS = Map.of(
            "same",
            NextHop.Transport.SAME,
            "tcp",
            NextHop.Transport.TCP,
            "udp",
            NextHop.Transport.UDP,
            "tls",
            NextHop.Transport.TLS,
            "quic",
            NextHop.Transport.QUIC);
    public static final Map<String, NextHop.Kind> KINDS =
            Map.of("active", NextHop.Kind.ACTIVE_NODE, "host", NextHop.Kind.HOST);

    static final Map<String, Boolean> FLAGS = Map.of("true", true, "false", false);

    private Choice() {}

    public static boolean flag(String text) {
        return of(text, FLAGS);
    }

    /**
     * Returns the policy of {@code deploy.checkpoints} that a word means.
     *
     * @throws IllegalArgumentException in one line
     */
    public static CheckpointPolicy checkpoints(String text) {
        return of(text, CHECKPOINTS);
    }

    public static TransportKind sockets(String text) {
        return of(text, SOCKETS);
    }

    /** Returns the word of a value that has one. */
    public static <T> String word(T value, Map<String, T> words) {
        return words.entrySet().stream()
                .filter(each -> each.getValue().equals(value))
                .findFirst()
                .orElseThrow()
                .getKey();
    }

    public static <T> T of(String text, Map<String, T> words) {
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
