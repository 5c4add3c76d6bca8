package org.tamanoir.cluster.setup;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.Vrrp;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Program;

/**
 * keepalived's part: which of two directors has the virtual addresses, and that both know the connections.
 *
 * <p>One VRRP instance has all addresses, so that they move together. Those of the other IP version than VRRP itself is
 * spoken by are not told in its packets ({@code virtual_ipaddress_excluded}), which changes nothing else. There is no
 * virtual server in the file: the table of IPVS is the directors', each keeps that of its own kernel.
 *
 * <p>A director that three times, two seconds apart, does not answer that it is ready gives the addresses up ({@code
 * FAULT}), also when the other one does not answer either: then the cluster has none until one of them is well again.
 *
 * @see <a href="https://www.keepalived.org/manpage.html">keepalived.conf(5)</a>, version 2.2
 */
public final class Keepalived {
    private static final String INSTANCE = "tamanoir";
    private static final int SIGTERM_STATUS = 128 + 15;
    private static final int MAX_PORT = 65_535;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}]");
    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9._-]+)+");

    private Keepalived() {}

    /**
     * Returns the text of keepalived.conf for this director.
     *
     * @param readyUrl of this director's API, which keepalived asks whether it is well; plain http
     */
    public static String config(DirectorConfig config, String readyUrl) throws ClusterException {
        Vrrp vrrp = config.vrrp();
        if (vrrp == null) {
            throw new ClusterException("director " + config.name() + " has no section vrrp: it is alone");
        }
        if (!NAME.matcher(config.name()).matches()) {
            throw new ClusterException("director's name '" + config.name()
                    + "' must be 1 to 63 letters, digits, dots, hyphens and underscores for keepalived");
        }
        boolean ipv6 = isIpv6(vrrp, config);
        List<String> own = addresses(config, vrrp, ipv6);
        List<String> others = addresses(config, vrrp, !ipv6);
        check(vrrp, ipv6, own);
        String password = vrrp.password();
        return String.format(
                Locale.ROOT,
                """
                # Director %s of a Tamanoir cluster; made by its own configuration.

                global_defs {
                    router_id %s
                    enable_script_security
                    script_user nobody
                    vrrp_garp_master_refresh 60
                    lvs_sync_daemon %s %s id %d
                }

                vrrp_script tamanoir_ready {
                    script "%s"
                    interval 2
                    timeout 4
                    fall 3
                    rise 2
                }

                vrrp_instance %s {
                    version %d
                    state BACKUP
                    interface %s
                    virtual_router_id %d
                    priority %d
                    advert_int %s
                %s%s%s    track_script {
                        tamanoir_ready
                    }
                %s%s}
                """,
                config.name(),
                config.name(),
                vrrp.syncInterface(),
                INSTANCE,
                vrrp.routerId(),
                script(readyUrl),
                INSTANCE,
                password == null ? 3 : 2,
                vrrp.networkInterface(),
                vrrp.routerId(),
                vrrp.priority(),
                interval(vrrp),
                vrrp.preempt() ? "" : "    nopreempt\n",
                password == null ? "" : block("authentication", List.of("auth_type PASS", "auth_pass " + password)),
                peers(vrrp),
                block("virtual_ipaddress", own),
                block("virtual_ipaddress_excluded", others));
    }

    private static boolean isIpv6(Vrrp vrrp, DirectorConfig config) {
        InetAddress source = vrrp.source();
        return source != null
                ? source instanceof Inet6Address
                : config.services().stream().allMatch(each -> each.address() instanceof Inet6Address);
    }

    private static void check(Vrrp vrrp, boolean ipv6, List<String> own) throws ClusterException {
        if (own.isEmpty()) {
            throw new ClusterException("vrrp by IPv" + (ipv6 ? 6 : 4) + " needs a service with an address of IPv"
                    + (ipv6 ? 6 : 4) + ": add one, or name source and peers of the other version");
        }
        if (ipv6 && vrrp.password() != null) {
            throw new ClusterException("vrrp by IPv6 has no password: leave it out, or name source and peers of IPv4");
        }
    }

    private static List<String> addresses(DirectorConfig config, Vrrp vrrp, boolean ipv6) {
        return config.services().stream()
                .map(ClusterService::address)
                .filter(each -> each instanceof Inet6Address == ipv6)
                .distinct()
                .map(each -> Host.prefix(each) + " dev " + vrrp.networkInterface())
                .toList();
    }

    private static String interval(Vrrp vrrp) {
        long tenths = vrrp.advertInterval().toMillis() / 100;
        return tenths % 10 == 0 ? Long.toString(tenths / 10) : String.format(Locale.ROOT, "%.1f", tenths / 10.0);
    }

    private static String peers(Vrrp vrrp) {
        InetAddress source = vrrp.source();
        return source == null
                ? ""
                : "    unicast_src_ip " + Host.text(source) + "\n"
                        + block(
                                "unicast_peer",
                                vrrp.peers().stream().map(Host::text).toList());
    }

    private static String block(String name, List<String> lines) {
        return lines.isEmpty()
                ? ""
                : lines.stream().collect(Collectors.joining("\n        ", "    " + name + " {\n        ", "\n    }\n"));
    }

    /** Asks by the shell's own means; keepalived takes one pair of quotes and one level of backslashes away. */
    private static String script(String readyUrl) throws ClusterException {
        URI url = url(readyUrl);
        String host = url.getHost();
        int port = url.getPort();
        String request = "GET " + url.getPath() + " HTTP/1.1\\\\r\\\\nHost: " + host + ":" + port
                + "\\\\r\\\\nConnection: close\\\\r\\\\n\\\\r\\\\n";
        return "/bin/bash -c 'exec 3<>/dev/tcp/" + host.replaceAll("[\\[\\]]", "") + "/" + port + " && printf \\\""
                + request + "\\\" >&3 && read -r -t 2 -u 3 _ status _ && [[ $status == 200 ]]'";
    }

    private static URI url(String text) throws ClusterException {
        @Nullable URI url;
        try {
            url = URI.create(text);
        } catch (IllegalArgumentException e) {
            url = null;
        }
        if (url == null
                || !"http".equals(url.getScheme())
                || url.getHost() == null
                || !HOST.matcher(url.getHost()).matches()
                || url.getPort() < 1
                || url.getPort() > MAX_PORT
                || !PATH.matcher(url.getPath()).matches()
                || url.getQuery() != null
                || url.getFragment() != null
                || url.getUserInfo() != null) {
            throw new ClusterException("'" + text
                    + "' cannot be asked by keepalived: plain http with host, port and path is wanted, as in"
                    + " http://127.0.0.1:3325/ready");
        }
        return url;
    }

    /** Lets keepalived itself check a file; what it objects to, one line each. */
    public static List<String> check(Path file) throws ClusterException {
        List<String> test = List.of("keepalived", "--config-test", "--use-file=" + file.toAbsolutePath());
        Program.Result result = Program.run(test);
        if (result.status() == SIGTERM_STATUS) {
            // Version 2.2.7, corrected in 2.2.8, takes a test for an orphan when it comes to the scripts, and ends
            // itself, unless it has no parent; the first process of a namespace has none.
            List<String> alone = new ArrayList<>(List.of("unshare", "--pid", "--fork"));
            alone.addAll(test);
            Program.Result again = Program.run(alone);
            result = again.output().startsWith("unshare:") ? new Program.Result(0, result.output()) : again;
        }
        List<String> objections = result.output()
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList();
        return objections.isEmpty() && !result.isGood()
                ? List.of("keepalived --config-test ended with status " + result.status())
                : objections;
    }
}
