package org.tamanoir.node;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tamanoir.anep.Anep;
import org.tamanoir.cluster.ClusterService;
import org.tamanoir.cluster.DirectorConfig;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.Scheduler;
import org.tamanoir.cluster.lvs.VirtualAddress;

/** The section {@code services} of a director's configuration file. One thread. */
final class DirectorServices {
    /** Of ipvsadm 1.31: 31 days. */
    private static final Duration MAX_PERSISTENCE = Duration.ofHours(744);

    private final Section root;
    private final List<ClusterService> services = new ArrayList<>();
    private final Map<String, String> givenBy = new HashMap<>();

    /** @param root the whole file */
    DirectorServices(Section root) {
        this.root = root;
    }

    /** Those that are sound. */
    List<ClusterService> services() {
        if (!root.has("services")) {
            root.problems()
                    .add(
                            root.where(),
                            "services is missing: a director without a virtual service has nothing to do; "
                                    + "add one, as in 'services: [{name: anep, address: 10.0.0.100}]'");
            return List.of();
        }
        List<Section> sections = root.sections("services");
        if (sections.size() > DirectorConfig.MOST_SERVICES) {
            root.problems()
                    .add(
                            root.where("services"),
                            sections.size() + " are too many: " + DirectorConfig.MOST_SERVICES + " are allowed");
            return List.of();
        }
        sections.forEach(this::service);
        return services;
    }

    private void service(Section service) {
        service.allow(
                "name",
                "address",
                "port",
                "back-end-port",
                "protocols",
                "forwarding",
                "scheduler",
                "flags",
                "persistence",
                "persistence-prefix",
                "one-packet");
        String name = service.required("name", "anep", DirectorFile::name);
        InetAddress address = service.required("address", "10.0.0.100", DirectorFile::address);
        int port = service.value("port", Anep.DEFAULT_PORT, DirectorFile.number(1, Endpoint.MAX_PORT));
        Set<Protocol> protocols = new LinkedHashSet<>(service.valuesOrOne("protocols", Protocol::of));
        if (!service.has("protocols")) {
            protocols.addAll(List.of(Protocol.values()));
        }
        Forwarding forwarding = service.value("forwarding", Forwarding.DIRECT, Forwarding::of);
        int backEndPort = service.value("back-end-port", port, text -> backEndPort(text, port, forwarding));
        Scheduler scheduler = service.value("scheduler", Scheduler.WLC, Scheduler::of);
        List<String> flags = service.valuesOrOne("flags", text -> flag(text, scheduler));
        boolean onePacket = service.value("one-packet", false, text -> onePacket(text, protocols, service));
        int persistence = service.value("persistence", 0, DirectorServices::seconds);
        boolean isIpv6 = address instanceof Inet6Address;
        int bits = isIpv6 ? 128 : 32;
        int prefix = service.value("persistence-prefix", bits, text -> prefix(text, bits, service));
        if (name == null || address == null) {
            return;
        }
        once(service.where("name"), "name " + name);
        for (Protocol protocol : protocols) {
            once(service.where("address"), new VirtualAddress(protocol, address, port).toString());
        }
        services.add(new ClusterService(
                name,
                address,
                port,
                backEndPort,
                protocols,
                forwarding,
                scheduler,
                flags,
                persistence,
                prefix,
                onePacket));
    }

    private void once(String where, String what) {
        String first = givenBy.putIfAbsent(what, where);
        if (first != null) {
            root.problems().add(where, what + " is another service's already, by " + first + "; change one");
        }
    }

    private static int backEndPort(String text, int port, Forwarding forwarding) {
        int number = Quantity.number(text, 1, Endpoint.MAX_PORT);
        if (number != port && forwarding != Forwarding.NAT) {
            throw new IllegalArgumentException(text + " is not the port " + port + ", and forwarding "
                    + forwarding.label() + " leaves ports as they are: remove it, or use forwarding: nat");
        }
        return number;
    }

    private static String flag(String text, Scheduler scheduler) {
        if (!scheduler.flags().contains(text)) {
            throw new IllegalArgumentException("'" + text + "' is no flag of scheduler " + scheduler.label() + ": "
                    + (scheduler.flags().isEmpty() ? "it has none; remove it" : String.join(", ", scheduler.flags())));
        }
        return text;
    }

    private static boolean onePacket(String text, Set<Protocol> protocols, Section service) {
        boolean wanted = Choice.flag(text);
        if (wanted && !protocols.contains(Protocol.UDP)) {
            throw new IllegalArgumentException("one-packet scheduling is for UDP: add udp to protocols, or remove it");
        }
        if (wanted && service.has("persistence")) {
            throw new IllegalArgumentException("one-packet scheduling sends each packet elsewhere, and persistence "
                    + "keeps a client's together: remove one");
        }
        return wanted;
    }

    private static int seconds(String text) {
        Duration duration = Quantity.duration(text, Duration.ofSeconds(1), MAX_PERSISTENCE);
        if (duration.toMillis() % 1000 != 0) {
            throw new IllegalArgumentException(text + " must be whole seconds");
        }
        return (int) duration.toSeconds();
    }

    private static int prefix(String text, int bits, Section service) {
        if (!service.has("persistence")) {
            throw new IllegalArgumentException("means nothing without persistence: add that, or remove this");
        }
        return Quantity.number(text, 1, bits);
    }
}
