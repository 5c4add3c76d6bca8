package org.tamanoir.node.director;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.Vrrp;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.Kind;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.node.config.Section;
import org.tamanoir.node.config.Setting;
import org.tamanoir.node.config.Values;

/** The section {@code vrrp} of a director's configuration file. One thread. */
final class DirectorVrrp {
    static final Setting.Table TABLE = new Setting.Table("director.vrrp");

    private static final Setting<String> INTERFACE = TABLE.require("interface", DirectorFile.INTERFACE, "eth0");
    private static final Setting<String> SYNC_INTERFACE =
            TABLE.add("sync-interface", DirectorFile.INTERFACE, null, "`interface`");
    private static final Setting<Integer> ROUTER_ID = TABLE.require("router-id", Kind.number("", 1, 255), "51");
    private static final Setting<Integer> PRIORITY = TABLE.add("priority", Kind.number("", 1, 254), 100);
    private static final Setting<Boolean> PREEMPT = TABLE.add("preempt", Kind.flag(), false);
    private static final Setting<Duration> INTERVAL = TABLE.add(
            "interval",
            Kind.of("100ms to 40s, whole tenths of seconds", DirectorVrrp::interval, Quantity::toString),
            Duration.ofSeconds(1));
    private static final Setting<InetAddress> SOURCE = TABLE.add("source", DirectorFile.ADDRESS, null, "multicast");
    private static final Setting<List<InetAddress>> PEERS =
            TABLE.add("peers", Kind.list("list of addresses", Endpoint::ofHost), List.of(), "multicast");
    private static final Setting<String> PASSWORD = TABLE.add(
            "password-file",
            Kind.text("file with 1 to 8 characters", file -> DirectorPassword.read(Path.of(file))),
            null,
            "none");

    private DirectorVrrp() {}

    /** Reads it; null when there are problems, which are collected. */
    static @Nullable Vrrp read(Section vrrp, List<ClusterService> services) {
        Values given = Values.of(vrrp, TABLE.settings());
        Problems problems = vrrp.problems();
        InetAddress source = given.find(SOURCE);
        List<InetAddress> peers = given.get(PEERS);
        if ((source == null) == !peers.isEmpty()) {
            problems.add(
                    vrrp.where(source == null ? "peers" : "source"),
                    "source and peers belong together: give both, or neither for multicast");
        }
        String password = given.find(PASSWORD);
        boolean isIpv6 = services.stream().anyMatch(service -> service.address().getAddress().length > 4);
        if (password != null && isIpv6) {
            problems.add(
                    vrrp.where("password-file"),
                    "VRRP has passwords for IPv4 alone, and a service has an IPv6 address: remove it");
        }
        if (vrrp.has(PASSWORD.path())) {
            given.check(INTERVAL, problems, DirectorVrrp::requireWholeSeconds);
        }
        String networkInterface = given.find(INTERFACE);
        String syncInterface = given.find(SYNC_INTERFACE);
        Integer routerId = given.find(ROUTER_ID);
        if (networkInterface == null || routerId == null || !problems.isEmpty()) {
            return null;
        }
        try {
            return new Vrrp(
                    networkInterface,
                    syncInterface == null ? networkInterface : syncInterface,
                    routerId,
                    given.get(PRIORITY),
                    given.get(PREEMPT),
                    given.get(INTERVAL),
                    source,
                    peers,
                    password);
        } catch (IllegalArgumentException e) {
            problems.add(vrrp.where(), String.valueOf(e.getMessage()));
            return null;
        }
    }

    private static Duration interval(String text) {
        Duration interval = Quantity.duration(text, DirectorTable.MIN_INTERVAL, Duration.ofSeconds(40));
        if (interval.toMillis() % 100 != 0) {
            throw new IllegalArgumentException(text + " must be whole tenths of seconds, as in 300ms");
        }
        return interval;
    }

    private static void requireWholeSeconds(Duration interval) {
        if (interval.toMillis() % 1000 != 0) {
            throw new IllegalArgumentException(Quantity.toString(interval)
                    + " must be whole seconds with a password-file, by which VRRP is of "
                    + "version 2: change it, or remove the password");
        }
    }
}
