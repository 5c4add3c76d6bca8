package org.tamanoir.node.director;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.Kind;
import org.tamanoir.node.config.Section;
import org.tamanoir.node.config.Setting;
import org.tamanoir.node.config.Values;
import org.tamanoir.routing.Addresses;

/** The section {@code back-ends} of a director's configuration file. One thread. */
final class DirectorBackEnds {
    static final Setting.Table TABLE = new Setting.Table("director.back-ends");

    private static final Setting<String> NAME =
            TABLE.require("name", Kind.text("as above", DirectorFile::name), "node1");
    private static final Setting<InetAddress> ADDRESS = TABLE.require("address", DirectorFile.ADDRESS, "10.0.0.11");
    private static final Setting<URI> ADMIN = TABLE.add(
            "admin",
            Kind.of("`http://HOST:PORT`, `https://HOST:PORT`", DirectorBackEnds::admin, URI::toString),
            null,
            "`http://ADDRESS:3324`");
    private static final Setting<Integer> WEIGHT =
            TABLE.add("weight", Kind.number("", 1, RealServer.MAX_WEIGHT), null, "by `weights`");
    private static final Setting<Path> TOKEN = TABLE.add("token-file", AdminConfig.TOKEN_FILE, null, "none");

    private static final Setting<Path> ADMIN_TOKEN =
            TABLE.add("admin-token-file", AdminConfig.TOKEN_FILE, null, "none");

    private final Section root;
    private final List<ClusterService> services;
    private final List<BackEnd> backEnds = new ArrayList<>();
    private final Map<String, Path> tokens = new HashMap<>();
    private final Map<URI, Path> adminTokens = new HashMap<>();
    private final OnceOnly once;

    /** @param root the whole file */
    DirectorBackEnds(Section root, List<ClusterService> services) {
        this.root = root;
        this.services = services;
        once = new OnceOnly(root.problems(), "back-end");
    }

    /** Returns the files with tokens of back-ends that have one of their own, by name; after {@link #backEnds}. */
    Map<String, Path> tokens() {
        return tokens;
    }

    /** Returns the files with what admin APIs of back-ends want to see, by their addresses; after {@link #backEnds}. */
    Map<URI, Path> adminTokens() {
        return adminTokens;
    }

    /** Reads those that are sound. */
    List<BackEnd> backEnds() {
        root.sections("back-ends", DirectorConfig.MOST_BACK_ENDS).forEach(this::backEnd);
        return backEnds;
    }

    private void backEnd(Section section) {
        Values given = Values.of(section, TABLE.settings());
        String name = given.find(NAME);
        InetAddress address = given.find(ADDRESS);
        Path token = given.find(TOKEN);
        if (token != null && !root.has("registration")) {
            root.problems()
                    .add(
                            given.where(TOKEN),
                            "is for registering, and there is no section registration: add one, or remove it");
        }
        if (name == null || address == null) {
            return;
        }
        once.add(given.where(NAME), "name " + name);
        once.add(given.where(ADDRESS), "address " + Addresses.host(address));
        requireOwn(given.where(ADDRESS), address);
        requireReachable(given.where(ADDRESS), address);
        if (token != null) {
            tokens.put(name, token);
        }
        URI named = given.find(ADMIN);
        URI admin = named == null ? usualAdmin(address) : named;
        Path adminToken = given.find(ADMIN_TOKEN);
        if (adminToken != null) {
            Path other = adminTokens.putIfAbsent(admin, adminToken);
            if (other != null && !other.equals(adminToken)) {
                root.problems()
                        .add(
                                given.where(ADMIN_TOKEN),
                                "another back-end has " + other + " for the same admin API, " + admin
                                        + ": give both one file, or each its own admin");
            }
        }
        backEnds.add(new BackEnd(name, address, admin, given.find(WEIGHT)));
    }

    private void requireOwn(String where, InetAddress address) {
        for (ClusterService service : services) {
            if (service.address().equals(address)) {
                root.problems()
                        .add(
                                where,
                                Addresses.host(address) + " is the virtual address of service " + service.name()
                                        + ": give the back-end's own");
                return;
            }
        }
    }

    /** LVS reaches a back-end of the other family by tunnelling alone. */
    private void requireReachable(String where, InetAddress address) {
        boolean reachable = services.stream()
                .anyMatch(service -> service.forwarding() == Forwarding.TUNNEL
                        || service.address().getClass() == address.getClass());
        if (!reachable && !services.isEmpty()) {
            root.problems()
                    .add(
                            where,
                            Addresses.host(address) + " is " + family(address) + ", and every service is "
                                    + family(services.get(0).address())
                                    + ": give an address of that family, or use forwarding: tunnel");
        }
    }

    private static String family(InetAddress address) {
        return address instanceof Inet6Address ? "IPv6" : "IPv4";
    }

    private static URI usualAdmin(InetAddress address) {
        return URI.create("http://" + Endpoint.toString(new InetSocketAddress(address, AdminConfig.DEFAULT_PORT)));
    }

    private static URI admin(String text) {
        try {
            URI uri = URI.create(text.replaceFirst("/+$", ""));
            boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            boolean bare = uri.getRawPath() != null
                    && uri.getRawPath().isEmpty()
                    && uri.getRawQuery() == null
                    && uri.getRawFragment() == null
                    && uri.getUserInfo() == null;
            if (http && bare && uri.getHost() != null) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // The line below says what is wanted.
        }
        throw new IllegalArgumentException(
                "'" + text + "' is no admin API: http://HOST:PORT or https://HOST:PORT is wanted");
    }
}
