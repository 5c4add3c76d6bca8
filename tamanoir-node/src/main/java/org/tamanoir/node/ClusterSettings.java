package org.tamanoir.node;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.MembershipSettings;
import org.tamanoir.cluster.MembershipSettings.SetUp;
import org.tamanoir.repository.Token;
import org.tamanoir.routing.Prefix;
import org.tamanoir.tls.TlsFiles;

/** The section {@code cluster} while it is put together: the cluster that the node is a back-end of. One thread. */
final class ClusterSettings {
    /** Where a director's API is unless its address says otherwise. */
    static final int DIRECTOR_PORT = 3325;

    static final int MAX_DIRECTORS = 8;
    private static final int MAX_WEIGHT = 65_535;
    /** It stands in paths and in tables. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final Map<String, SetUp> SET_UPS =
            Map.of("auto", SetUp.AUTO, "print", SetUp.PRINT, "off", SetUp.OFF);

    List<URI> directors = new ArrayList<>();

    @Nullable
    Path tokenFile;

    /** Null = the host's. */
    @Nullable
    String name;

    @Nullable
    String address;

    @Nullable
    String networkInterface;

    @Nullable
    Integer weight;

    SetUp setUp = SetUp.AUTO;
    boolean plain;
    /** Something was said, by whatever key. */
    private boolean isGiven;

    private final Map<String, String> where = new HashMap<>();

    void read(Section section) {
        String[] keys = {"directors", "token-file", "name", "address", "interface", "weight", "set-up", "plain"};
        section.allow(keys);
        for (String key : keys) {
            if (section.has(key)) {
                given(key, section.where(key));
            }
        }
        directors = new ArrayList<>(section.valuesOrOne("directors", ClusterSettings::director));
        tokenFile = section.value("token-file", AdminConfig::tokenFile);
        name = section.value("name", ClusterSettings::name);
        address = section.value("address", ClusterSettings::address);
        networkInterface = section.value("interface", LevelSettings::networkInterface);
        weight = section.value("weight", ClusterSettings::weight);
        setUp = section.value("set-up", setUp, ClusterSettings::setUp);
        plain = section.value("plain", plain, Choice::flag);
    }

    /** Problems with the value of this key are told of there. */
    void given(String key, String place) {
        isGiven = true;
        where.put(key, place);
    }

    boolean isConfigured() {
        return !directors.isEmpty();
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
        Prefix.parse(text);
        try {
            InetAddress address = InetAddress.getByName(text);
            if (text.indexOf('/') < 0 && !address.isAnyLocalAddress() && !address.isMulticastAddress()) {
                return address.getHostAddress();
            }
        } catch (UnknownHostException e) {
            // The line below says it.
        }
        throw new IllegalArgumentException("'" + text + "' cannot be a back-end's address: one of this host is wanted");
    }

    static int weight(String text) {
        return Quantity.number(text, 1, MAX_WEIGHT);
    }

    static SetUp setUp(String text) {
        return Choice.of(text, SET_UPS);
    }

    // ---- all together ----------------------------------------------------------------------------------------------

    /** Looks at what only shows when file and command line have been read. */
    void check(AdminConfig admin, Problems problems) {
        if (!isConfigured()) {
            if (isGiven) {
                problems.add(
                        where.getOrDefault("directors", "cluster.directors"),
                        "no director to register with; add one, as in http://127.0.0.1:3325, with cluster.directors or "
                                + "--cluster");
            }
            return;
        }
        if (directors.size() > MAX_DIRECTORS) {
            problems.add(place("directors"), directors.size() + " directors: must be at most " + MAX_DIRECTORS);
        }
        if (tokenFile == null) {
            problems.add(
                    place("directors"),
                    "directors want their token of registration; name its file with cluster.token-file or "
                            + "--cluster-token-file");
        }
        if (name == null) {
            ownName(problems);
        }
        directors.forEach(director -> check(director, admin, problems));
        checkAdmin(admin, problems);
    }

    private void ownName(Problems problems) {
        try {
            name = name(hostName());
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

    private void check(URI director, AdminConfig admin, Problems problems) {
        InetAddress there;
        try {
            there = new Endpoint(director.getHost().replaceAll("[\\[\\]]", ""), 0).address();
        } catch (IllegalArgumentException e) {
            problems.add(place("directors"), "director " + director + ": " + e.getMessage());
            return;
        }
        if (there.isLoopbackAddress()) {
            return;
        }
        if (director.getScheme().equals("http") && !plain) {
            problems.add(
                    place("directors"),
                    "director " + director
                            + ": over http whoever is on the way reads the token and can put in code; use "
                            + "https, or say that the network is safe with cluster.plain or --cluster-plain");
        }
        InetSocketAddress listen = admin.listen();
        if (listen != null && listen.getAddress().isLoopbackAddress()) {
            problems.add(
                    place("directors"),
                    "director " + director + " cannot ask this node for its health: the admin API is on "
                            + Endpoint.toString(listen) + "; open it with --admin ADDRESS:"
                            + AdminConfig.DEFAULT_PORT + ", an address of this host, or admin.listen");
        }
    }

    private void checkAdmin(AdminConfig admin, Problems problems) {
        InetSocketAddress listen = admin.listen();
        if (listen == null) {
            problems.add(
                    place("directors"),
                    "directors cannot ask this node for its health: the admin API is off; open it with --admin ADDRESS:"
                            + AdminConfig.DEFAULT_PORT + ", or admin.listen");
        } else if (listen.getPort() == 0) {
            problems.add(
                    place("directors"),
                    "directors have to know the admin API's port, and it is 0, any; give one with --admin ADDRESS:"
                            + AdminConfig.DEFAULT_PORT + ", or admin.listen");
        }
    }

    private String place(String key) {
        return where.getOrDefault(key, "cluster." + key);
    }

    /**
     * All of it; null when the node is no back-end. To be used only when no problem was found.
     *
     * @param folder where the node keeps what it has to remember
     */
    @Nullable
    ClusterConfig build(AdminConfig admin, Path folder, @Nullable TlsFiles tls) {
        InetSocketAddress listen = admin.listen();
        if (!isConfigured() || listen == null || tokenFile == null || name == null) {
            return null;
        }
        try {
            MembershipSettings membership = new MembershipSettings(
                    directors,
                    Token.read(tokenFile).authorization(),
                    name,
                    address,
                    URI.create((admin.tls() ? "https://" : "http://") + Endpoint.toString(listen)),
                    weight,
                    networkInterface,
                    setUp,
                    folder,
                    tls,
                    MembershipSettings.Timing.DEFAULT);
            return new ClusterConfig(membership, tokenFile, plain);
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e); // It was read a moment ago.
        }
    }
}
