package org.tamanoir.node;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.ClusterService;
import org.tamanoir.cluster.Vrrp;

/** The section {@code vrrp} of a director's configuration file. One thread. */
final class DirectorVrrp {
    private DirectorVrrp() {}

    /** What it says; null when there are problems, which are collected. */
    static @Nullable Vrrp read(Section vrrp, List<ClusterService> services) {
        vrrp.allow(
                "interface",
                "sync-interface",
                "router-id",
                "priority",
                "preempt",
                "interval",
                "source",
                "peers",
                "password-file");
        String networkInterface = vrrp.required("interface", "eth0", DirectorFile::networkInterface);
        Integer routerId = vrrp.required("router-id", "51", DirectorFile.number(1, 255));
        InetAddress source = vrrp.value("source", DirectorFile::address);
        List<InetAddress> peers = vrrp.values("peers", DirectorFile::address);
        if ((source == null) == !peers.isEmpty()) {
            vrrp.problems()
                    .add(
                            vrrp.where(source == null ? "peers" : "source"),
                            "source and peers belong together: give both, or neither for multicast");
        }
        String password = vrrp.value("password-file", file -> DirectorPassword.read(Path.of(file)));
        boolean isIpv6 = services.stream().anyMatch(service -> service.address().getAddress().length > 4);
        if (password != null && isIpv6) {
            vrrp.problems()
                    .add(
                            vrrp.where("password-file"),
                            "VRRP has passwords for IPv4 alone, and a service has an IPv6 address: remove it");
        }
        String known = networkInterface == null ? "" : networkInterface;
        String syncInterface = vrrp.value("sync-interface", known, DirectorFile::networkInterface);
        int priority = vrrp.value("priority", 100, DirectorFile.number(1, 254));
        boolean preempt = vrrp.value("preempt", false, Choice::flag);
        Duration interval =
                vrrp.value("interval", Duration.ofSeconds(1), text -> advertInterval(text, vrrp.has("password-file")));
        if (routerId == null || !vrrp.problems().isEmpty()) {
            return null;
        }
        try {
            return new Vrrp(known, syncInterface, routerId, priority, preempt, interval, source, peers, password);
        } catch (IllegalArgumentException e) {
            vrrp.problems().add(vrrp.where(), String.valueOf(e.getMessage()));
            return null;
        }
    }

    private static Duration advertInterval(String text, boolean hasPassword) {
        Duration interval = Quantity.duration(text, DirectorFile.MIN_INTERVAL, Duration.ofSeconds(40));
        if (interval.toMillis() % 100 != 0) {
            throw new IllegalArgumentException(text + " must be whole tenths of seconds, as in 300ms");
        }
        if (hasPassword && interval.toMillis() % 1000 != 0) {
            throw new IllegalArgumentException(
                    text + " must be whole seconds with a password-file, by which VRRP is of "
                            + "version 2: change it, or remove the password");
        }
        return interval;
    }
}
