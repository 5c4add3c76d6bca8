package org.tamanoir.node;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.cluster.BackEnd;
import org.tamanoir.cluster.ClusterService;
import org.tamanoir.cluster.DirectorConfig;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.RealServer;

/** The section {@code back-ends} of a director's configuration file. One thread. */
final class DirectorBackEnds {
    private final Section root;
    private final List<ClusterService> services;
    private final List<BackEnd> backEnds = new ArrayList<>();
    private final Map<String, String> givenBy = new HashMap<>();

    /** @param root the whole file */
    DirectorBackEnds(Section root, List<ClusterService> services) {
        this.root = root;
        this.services = services;
    }

    /** Those that are sound. */
    List<BackEnd> backEnds() {
        List<Section> sections = root.sections("back-ends");
        if (sections.size() > DirectorConfig.MOST_BACK_ENDS) {
            root.problems()
                    .add(
                            root.where("back-ends"),
                            sections.size() + " are too many: " + DirectorConfig.MOST_BACK_ENDS + " are allowed");
            return List.of();
        }
        sections.forEach(this::backEnd);
        return backEnds;
    }

    private void backEnd(Section backEnd) {
        backEnd.allow("name", "address", "admin", "weight");
        String name = backEnd.required("name", "node1", DirectorFile::name);
        InetAddress address = backEnd.required("address", "10.0.0.11", DirectorFile::address);
        Integer weight = backEnd.value("weight", DirectorFile.number(1, RealServer.MAX_WEIGHT));
        URI admin = backEnd.value("admin", DirectorBackEnds::admin);
        if (name == null || address == null) {
            return;
        }
        once(backEnd.where("name"), "name " + name);
        once(backEnd.where("address"), "address " + address.getHostAddress());
        requireOwn(backEnd, address);
        requireReachable(backEnd, address);
        backEnds.add(new BackEnd(name, address, admin == null ? usualAdmin(address) : admin, weight));
    }

    private void once(String where, String what) {
        String first = givenBy.putIfAbsent(what, where);
        if (first != null) {
            root.problems().add(where, what + " is another back-end's already, by " + first + "; change one");
        }
    }

    private void requireOwn(Section backEnd, InetAddress address) {
        for (ClusterService service : services) {
            if (service.address().equals(address)) {
                root.problems()
                        .add(
                                backEnd.where("address"),
                                address.getHostAddress() + " is the virtual address of service " + service.name()
                                        + ": give the back-end's own");
                return;
            }
        }
    }

    /** LVS reaches a back-end of the other family by tunnelling alone. */
    private void requireReachable(Section backEnd, InetAddress address) {
        boolean reachable = services.stream()
                .anyMatch(service -> service.forwarding() == Forwarding.TUNNEL
                        || service.address().getClass() == address.getClass());
        if (!reachable && !services.isEmpty()) {
            root.problems()
                    .add(
                            backEnd.where("address"),
                            address.getHostAddress() + " is " + family(address) + ", and every service is "
                                    + family(services.get(0).address())
                                    + ": give an address of that family, or use forwarding: tunnel");
        }
    }

    private static String family(InetAddress address) {
        return address instanceof Inet6Address ? "IPv6" : "IPv4";
    }

    private static URI usualAdmin(InetAddress address) {
        String host = address.getHostAddress();
        return URI.create("http://" + (address instanceof Inet6Address ? "[" + host + "]" : host) + ":"
                + AdminConfig.DEFAULT_PORT);
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
