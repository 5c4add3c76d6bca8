package org.tamanoir.node.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.MembershipSettings;
import org.tamanoir.repository.Token;
import org.tamanoir.routing.Addresses;
import org.tamanoir.tls.TlsFiles;

/** The section {@code cluster}: the cluster that the node is a back-end of. One thread. */
final class ClusterSettings {
    /** Where a director's API is unless its address says otherwise. */
    static final int DIRECTOR_PORT = 3325;

    static final int MAX_DIRECTORS = 8;
    /** It stands in paths and in tables. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private final Values values;
    private final AdminConfig admin;

    ClusterSettings(Values values, AdminConfig admin) {
        this.values = values;
        this.admin = admin;
    }

    private List<URI> directors() {
        return values.get(NodeSettings.DIRECTORS);
    }

    boolean isConfigured() {
        return !directors().isEmpty();
    }

    // ---- values ----------------------------------------------------------------------------------------------------

    /** The base address of a director's API, with its port. */
    static URI director(String text) {
        String problem = "'" + text + "' is no director: http://HOST:PORT or https://HOST:PORT is wanted";
        URI given;
        try {
            given = URI.create(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(problem, e);
        }
        boolean isHttp = "http".equals(given.getScheme()) || "https".equals(given.getScheme());
        boolean isBare =
                given.getPath() == null || given.getPath().replace("/", "").isEmpty();
        if (!isHttp
                || !isBare
                || given.getHost() == null
                || given.getPort() == 0
                || given.getPort() > Endpoint.MAX_PORT
                || given.getUserInfo() != null
                || given.getQuery() != null
                || given.getFragment() != null) {
            throw new IllegalArgumentException(problem);
        }
        int port = given.getPort() < 0 ? DIRECTOR_PORT : given.getPort();
        return URI.create(given.getScheme() + "://" + given.getHost() + ":" + port);
    }

    static String name(String text) {
        if (!NAME.matcher(text).matches()) {
            throw new IllegalArgumentException("'" + text + "' cannot name a back-end: 1 to 63 letters, digits, dots, "
                    + "hyphens and underscores are wanted, a letter or digit first");
        }
        return text;
    }

    /** A literal one. */
    static String address(String text) {
        return Addresses.host(Endpoint.ofHost(text));
    }

    // ---- all together ----------------------------------------------------------------------------------------------

    /** Looks at what only shows when file and command line have been read. */
    void check(Problems problems) {
        if (!isConfigured()) {
            if (NodeSettings.of("cluster").stream().anyMatch(values::differs)) {
                problems.add(
                        place(),
                        "no director to register with; add one, as in http://127.0.0.1:3325, with cluster.directors or "
                                + "--cluster");
            }
            return;
        }
        if (directors().size() > MAX_DIRECTORS) {
            problems.add(place(), directors().size() + " directors: must be at most " + MAX_DIRECTORS);
        }
        if (values.find(NodeSettings.CLUSTER_TOKEN) == null) {
            problems.add(
                    place(),
                    "directors want their token of registration; name its file with cluster.token-file or "
                            + "--cluster-token-file");
        }
        if (values.find(NodeSettings.CLUSTER_NAME) == null) {
            ownName(problems);
        }
        directors().forEach(director -> check(director, problems));
        checkAdmin(problems);
    }

    private void ownName(Problems problems) {
        try {
            values.put(NodeSettings.CLUSTER_NAME, name(hostName()), "host name");
        } catch (IllegalArgumentException e) {
            problems.add("cluster.name", e.getMessage() + "; name this back-end with cluster.name or --cluster-name");
        }
    }

    private static String hostName() {
        try {
            return Files.readString(HOST_NAME).strip();
        } catch (IOException e) {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException unknown) {
                return "";
            }
        }
    }

    private void check(URI director, Problems problems) {
        InetAddress there;
        try {
            there = new Endpoint(director.getHost().replaceAll("[\\[\\]]", ""), 0).address();
        } catch (IllegalArgumentException e) {
            problems.add(place(), "director " + director + ": " + e.getMessage());
            return;
        }
        if (there.isLoopbackAddress()) {
            return;
        }
        if (director.getScheme().equals("http") && !values.get(NodeSettings.CLUSTER_PLAIN)) {
            problems.add(
                    place(),
                    "director " + director
                            + ": over http whoever is on the way reads the token and can put in code; use "
                            + "https, or say that the network is safe with cluster.plain or --cluster-plain");
        }
        InetSocketAddress listen = admin.listen();
        if (listen != null && listen.getAddress().isLoopbackAddress()) {
            problems.add(
                    place(),
                    "director " + director + " cannot ask this node for its health: the admin API is on "
                            + Endpoint.toString(listen) + "; open it with --admin ADDRESS:"
                            + AdminConfig.DEFAULT_PORT + ", an address of this host, or admin.listen");
        }
    }

    private void checkAdmin(Problems problems) {
        InetSocketAddress listen = admin.listen();
        if (listen == null) {
            problems.add(
                    place(),
                    "directors cannot ask this node for its health: the admin API is off; open it with --admin ADDRESS:"
                            + AdminConfig.DEFAULT_PORT + ", or admin.listen");
        } else if (listen.getPort() == 0) {
            problems.add(
                    place(),
                    "directors have to know the admin API's port, and it is 0, any; give one with --admin ADDRESS:"
                            + AdminConfig.DEFAULT_PORT + ", or admin.listen");
        }
    }

    private String place() {
        return values.where(NodeSettings.DIRECTORS);
    }

    /**
     * All of it; null when the node is no back-end. To be used only when no problem was found.
     *
     * @param folder where the node keeps what it has to remember
     */
    @Nullable
    MembershipSettings build(Path folder, @Nullable TlsFiles tls) {
        InetSocketAddress listen = admin.listen();
        Path tokenFile = values.find(NodeSettings.CLUSTER_TOKEN);
        String name = values.find(NodeSettings.CLUSTER_NAME);
        if (!isConfigured() || listen == null || tokenFile == null || name == null) {
            return null;
        }
        try {
            return new MembershipSettings(
                    directors(),
                    Token.read(tokenFile).authorization(),
                    name,
                    values.find(NodeSettings.CLUSTER_ADDRESS),
                    URI.create((admin.tls() ? "https://" : "http://") + Endpoint.toString(listen)),
                    values.find(NodeSettings.CLUSTER_WEIGHT),
                    values.find(NodeSettings.CLUSTER_INTERFACE),
                    values.get(NodeSettings.CLUSTER_SET_UP),
                    folder,
                    tls,
                    MembershipSettings.Timing.DEFAULT);
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e); // It was read a moment ago.
        }
    }
}
