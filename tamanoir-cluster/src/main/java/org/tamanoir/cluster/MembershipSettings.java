package org.tamanoir.cluster;

import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.tls.TlsFiles;

/**
 * What a node needs to be a back-end.
 *
 * @param directors base addresses of their APIs, http or https, each with a port
 * @param authorization the header that shows the token of registration; never printed
 * @param name of this back-end, unique in the cluster
 * @param address where the cluster's packets are to be sent to; null = the one that the directors see
 * @param admin base address of the node's admin API; the wildcard stands for the address that leads to a director
 * @param weight fixed; null = by the directors' policy
 * @param networkInterface that the cluster's packets come in by; null = the one that leads to the directors
 * @param setUp what becomes of the host
 * @param folder where the node remembers what the directors said, and what was changed on the host
 * @param tls for directors by https; null = authorities of the JDK
 */
public record MembershipSettings(
        List<URI> directors,
        String authorization,
        String name,
        @Nullable String address,
        URI admin,
        @Nullable Integer weight,
        @Nullable String networkInterface,
        SetUp setUp,
        Path folder,
        @Nullable TlsFiles tls,
        Timing timing) {
    /** Whether the node does what its host needs. */
    public enum SetUp {
        /** With the privilege it does, else it prints the commands. */
        AUTO,
        /** It prints the commands. */
        PRINT,
        /** It does not look at it. */
        OFF;

        /** Returns the name in lower case. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * How long things may take.
     *
     * @param joinPatience for the first answer of any director at the start
     * @param requestTimeout of one registration
     * @param maxBackOff longest pause before a director that fails is asked again
     * @param leavePatience for the directors to confirm that the node gets no new streams
     * @param lookInterval between two looks at the host
     */
    public record Timing(
            Duration joinPatience,
            Duration requestTimeout,
            Duration maxBackOff,
            Duration leavePatience,
            Duration lookInterval) {
        /** A director that starts with the node takes some seconds. */
        public static final Timing DEFAULT = new Timing(
                Duration.ofSeconds(30),
                Duration.ofSeconds(3),
                Duration.ofSeconds(30),
                Duration.ofSeconds(5),
                Duration.ofSeconds(30));
    }

    public MembershipSettings {
        directors = List.copyOf(directors);
    }

    /**
     * Returns the base address of the admin API, as a director is to ask it.
     *
     * @param local the address of this host that leads there
     */
    String adminAt(InetAddress local) {
        String host = admin.getHost();
        boolean anyAddress = host.equals("0.0.0.0") || host.equals("[::]") || host.equals("[0:0:0:0:0:0:0:0]");
        if (!anyAddress) {
            return admin.toString();
        }
        String known = address == null ? Addresses.host(local).replaceFirst("%.*", "") : address;
        return admin.getScheme() + "://" + (known.indexOf(':') < 0 ? known : "[" + known + "]") + ":" + admin.getPort();
    }

    /** Returns all but the token. */
    @Override
    public String toString() {
        return "MembershipSettings[" + name + " at " + directors + "]";
    }
}
