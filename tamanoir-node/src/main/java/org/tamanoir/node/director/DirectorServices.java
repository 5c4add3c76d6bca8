package org.tamanoir.node.director;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.tamanoir.anep.Anep;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.Scheduler;
import org.tamanoir.cluster.lvs.VirtualAddress;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.Kind;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.node.config.Section;
import org.tamanoir.node.config.Setting;
import org.tamanoir.node.config.Values;

/** The section {@code services} of a director's configuration file. One thread. */
final class DirectorServices {
    /** The longest persistence of ipvsadm 1.31: 31 days. */
    private static final Duration MAX_PERSISTENCE = Duration.ofHours(744);

    static final Setting.Table TABLE = new Setting.Table("director.services");

    private static final Setting<String> NAME =
            TABLE.require("name", Kind.text("as above", DirectorFile::name), "anep");
    private static final Setting<InetAddress> ADDRESS = TABLE.require("address", DirectorFile.ADDRESS, "10.0.0.100");
    private static final Setting<Integer> PORT =
            TABLE.add("port", Kind.number("", 1, Endpoint.MAX_PORT), Anep.DEFAULT_PORT);
    private static final Setting<Integer> BACK_END_PORT =
            TABLE.add("back-end-port", Kind.number("", 1, Endpoint.MAX_PORT), null, "`port`");
    private static final Setting<List<Protocol>> PROTOCOLS =
            TABLE.add("protocols", Kind.listOrOne("`tcp`, `udp`", Protocol::of), List.of(Protocol.values()), "both");
    private static final Setting<Forwarding> FORWARDING = TABLE.add(
            "forwarding", Kind.of("`direct`, `tunnel`, `nat`", Forwarding::of, Forwarding::label), Forwarding.DIRECT);
    private static final Setting<Scheduler> SCHEDULER = TABLE.add(
            "scheduler",
            Kind.of(
                    "`rr`, `wrr`, `lc`, `wlc`, `lblc`, `lblcr`, `dh`, `sh`, `sed`, `nq`, `fo`, `ovf`, `mh`, `twos`",
                    Scheduler::of,
                    Scheduler::label),
            Scheduler.WLC);
    private static final Setting<List<String>> FLAGS = TABLE.add(
            "flags",
            Kind.structured(
                    "`sh-fallback`, `sh-port` of `sh`; `mh-fallback`, `mh-port` of `mh`",
                    DirectorServices::flags,
                    flags -> flags),
            List.of(),
            "none");
    private static final Setting<Integer> PERSISTENCE = TABLE.add(
            "persistence",
            Kind.of("1s to 744h, whole seconds", DirectorServices::seconds, seconds -> seconds + "s"),
            0,
            "none");
    private static final Setting<Integer> PERSISTENCE_PREFIX = TABLE.add(
            "persistence-prefix",
            Kind.of("1 to 32, for IPv6 to 128", text -> Quantity.number(text, 1, 128), number -> number),
            null,
            "all bits");
    private static final Setting<Boolean> ONE_PACKET = TABLE.add("one-packet", Kind.flag(), false);

    private final Section root;
    private final List<ClusterService> services = new ArrayList<>();
    private final OnceOnly once;

    /** @param root the whole file */
    DirectorServices(Section root) {
        this.root = root;
        once = new OnceOnly(root.problems(), "service");
    }

    /** Reads those that are sound. */
    List<ClusterService> services() {
        if (!root.has("services")) {
            root.problems()
                    .add(
                            root.where(),
                            "services is missing: a director without a virtual service has nothing to do; "
                                    + "add one, as in 'services: [{name: anep, address: 10.0.0.100}]'");
            return List.of();
        }
        root.sections("services", DirectorConfig.MOST_SERVICES).forEach(this::service);
        return services;
    }

    private void service(Section section) {
        Values given = Values.of(section, TABLE.settings());
        InetAddress address = given.find(ADDRESS);
        int port = given.get(PORT);
        Set<Protocol> protocols = new LinkedHashSet<>(given.get(PROTOCOLS));
        Forwarding forwarding = given.get(FORWARDING);
        int bits = address instanceof Inet6Address ? 128 : 32;
        given.check(BACK_END_PORT, root.problems(), number -> requirePort(number, port, forwarding));
        given.check(ONE_PACKET, root.problems(), wanted -> requireUdp(wanted, protocols, section));
        given.check(PERSISTENCE_PREFIX, root.problems(), number -> requireBits(number, bits, section));
        String name = given.find(NAME);
        if (name == null || address == null) {
            return;
        }
        once.add(given.where(NAME), "name " + name);
        for (Protocol protocol : protocols) {
            once.add(given.where(ADDRESS), new VirtualAddress(protocol, address, port).toString());
        }
        Integer backEndPort = given.find(BACK_END_PORT);
        Integer prefix = given.find(PERSISTENCE_PREFIX);
        services.add(new ClusterService(
                name,
                address,
                port,
                backEndPort == null ? port : backEndPort,
                protocols,
                forwarding,
                given.get(SCHEDULER),
                given.get(FLAGS),
                given.get(PERSISTENCE),
                prefix == null ? bits : prefix,
                given.get(ONE_PACKET)));
    }

    private static void requirePort(int number, int port, Forwarding forwarding) {
        if (number != port && forwarding != Forwarding.NAT) {
            throw new IllegalArgumentException(number + " is not the port " + port + ", and forwarding "
                    + forwarding.label() + " leaves ports as they are: remove it, or use forwarding: nat");
        }
    }

    /** Reads the flags, each one of the scheduler that stands beside them. */
    private static List<String> flags(Section service, String key) {
        Scheduler scheduler = service.value(SCHEDULER.path(), Scheduler.WLC, Scheduler::of);
        return service.valuesOrOne(key, text -> {
            if (!scheduler.flags().contains(text)) {
                throw new IllegalArgumentException("'" + text + "' is no flag of scheduler " + scheduler.label() + ": "
                        + (scheduler.flags().isEmpty()
                                ? "it has none; remove it"
                                : String.join(", ", scheduler.flags())));
            }
            return text;
        });
    }

    private static void requireUdp(boolean wanted, Set<Protocol> protocols, Section service) {
        if (wanted && !protocols.contains(Protocol.UDP)) {
            throw new IllegalArgumentException("one-packet scheduling is for UDP: add udp to protocols, or remove it");
        }
        if (wanted && service.has(PERSISTENCE.path())) {
            throw new IllegalArgumentException("one-packet scheduling sends each packet elsewhere, and persistence "
                    + "keeps a client's together: remove one");
        }
    }

    private static int seconds(String text) {
        Duration duration = Quantity.duration(text, Duration.ofSeconds(1), MAX_PERSISTENCE);
        if (duration.toMillis() % 1000 != 0) {
            throw new IllegalArgumentException(text + " must be whole seconds");
        }
        return (int) duration.toSeconds();
    }

    private static void requireBits(int number, int bits, Section service) {
        if (!service.has(PERSISTENCE.path())) {
            throw new IllegalArgumentException("means nothing without persistence: add that, or remove this");
        }
        int inBounds = Quantity.number(String.valueOf(number), 1, bits);
    }
}
