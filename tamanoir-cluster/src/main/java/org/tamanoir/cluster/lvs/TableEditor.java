package org.tamanoir.cluster.lvs;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Does to a table in memory what ipvsadm does to the kernel's: the lines of {@code ipvsadm --save -n}, done to an empty
 * table, are that table, and lines for {@code --restore} show what will come of them.
 *
 * <p>Lines for firewall marks, SCTP, and services without an address or port of their own are passed over. What a director
 * never makes is read, but not kept: persistence engines, tunnels of other kinds than IP in IP, weights above
 * {@value RealServer#MAX_WEIGHT}.
 *
 * <p>Thread contract: one thread.
 */
final class TableEditor {
    private static final Set<String> COMMANDS = Set.of("-A", "-E", "-D", "-a", "-e", "-d");
    private static final Set<String> SWITCHES =
            Set.of("-o", "-g", "-i", "-m", "-6", "--tun-nocsum", "--tun-csum", "--tun-remcsum");
    private static final Set<String> OPTIONS = Set.of(
            "-t",
            "-u",
            "-f",
            "--sctp-service",
            "-s",
            "-p",
            "-M",
            "-b",
            "--pe",
            "-r",
            "-w",
            "-x",
            "-y",
            "--tun-type",
            "--tun-port");
    /** Of ipvsadm, where nothing is said. */
    private static final String DEFAULT_SCHEDULER = "wlc";

    private static final String DEFAULT_WEIGHT = "1";
    private static final String NO_BOUND = "0";

    private final Map<VirtualAddress, VirtualService> services;

    TableEditor(LvsTable from) {
        services = new TreeMap<>(from.services());
    }

    /**
     * Reads what {@code ipvsadm --save -n} wrote; thresholds are not in it.
     *
     * @throws ClusterException with the line that is not understood
     */
    static LvsTable parse(String saved) throws ClusterException {
        TableEditor editor = new TableEditor(LvsTable.of(List.of()));
        for (String line : saved.lines().toList()) {
            if (!line.isBlank()) {
                editor.run(line);
            }
        }
        return editor.table();
    }

    LvsTable table() {
        return LvsTable.of(services.values());
    }

    /**
     * Does what a line says.
     *
     * @throws ClusterException with the line, if it is not understood or cannot be done
     */
    void run(String line) throws ClusterException {
        try {
            Map<String, String> options = options(line);
            VirtualAddress at = at(options);
            if (at != null) {
                run(line.strip().substring(0, 2), at, options);
            }
        } catch (IllegalArgumentException e) {
            throw new ClusterException("ipvsadm's line '" + line.strip() + "' is not understood: " + e.getMessage()
                    + "; Debian's ipvsadm 1.31 is what is known here");
        }
    }

    /** Returns the back-end that a line is about, as ipvsadm writes it; null if it is about the service. */
    static @Nullable String server(String line) {
        return options(line).get("-r");
    }

    private static Map<String, String> options(String line) {
        String[] words = line.strip().split("\\s+");
        if (!COMMANDS.contains(words[0])) {
            throw new IllegalArgumentException("'" + words[0] + "' is no command");
        }
        Map<String, String> options = new HashMap<>();
        for (int i = 1; i < words.length; i++) {
            String word = words[i];
            if (SWITCHES.contains(word)) {
                options.put(word, "");
            } else if (OPTIONS.contains(word) && i + 1 < words.length) {
                options.put(word, words[++i]);
            } else {
                throw new IllegalArgumentException("'" + word + "' is no known option, or lacks its value");
            }
        }
        return options;
    }

    /** Returns whose service; null for kinds that never are a director's. */
    private static @Nullable VirtualAddress at(Map<String, String> options) {
        if (options.containsKey("-f") || options.containsKey("--sctp-service")) {
            return null;
        }
        Protocol protocol = options.containsKey("-t") ? Protocol.TCP : Protocol.UDP;
        return at(protocol, value(options, protocol.option()));
    }

    /** Returns the key of a service; null for one that takes all ports, or all addresses. */
    static @Nullable VirtualAddress at(Protocol protocol, String endpoint) {
        InetAddress address = LvsText.addressOf(endpoint);
        int port = LvsText.portOf(endpoint);
        return port == 0 || address.isAnyLocalAddress() || address.isMulticastAddress()
                ? null
                : new VirtualAddress(protocol, address, port);
    }

    private void run(String command, VirtualAddress at, Map<String, String> options) {
        VirtualService service = services.get(at);
        boolean adds = command.equals("-A");
        if (adds != (service == null)) {
            throw new IllegalArgumentException(at + (adds ? " is there already" : " is not there"));
        }
        switch (command) {
            case "-A", "-E" -> services.put(at, service(at, options, service == null ? Map.of() : service.servers()));
            case "-D" -> services.remove(at);
            default -> {
                if (service != null) {
                    services.put(at, service.with(servers(command, service, options)));
                }
            }
        }
    }

    private static VirtualService service(
            VirtualAddress at, Map<String, String> options, Map<String, RealServer> servers) {
        String flags = options.getOrDefault("-b", "");
        String mask = options.get("-M");
        return new VirtualService(
                at,
                Scheduler.of(options.getOrDefault("-s", DEFAULT_SCHEDULER)),
                flags.isEmpty() ? List.of() : List.of(flags.split(",")),
                Integer.parseInt(options.getOrDefault("-p", "0")),
                mask == null ? LvsText.bits(at.isIpv6()) : LvsText.prefix(mask),
                options.containsKey("-o"),
                servers);
    }

    private static List<RealServer> servers(String command, VirtualService service, Map<String, String> options) {
        RealServer server = server(options);
        Map<String, RealServer> all = new TreeMap<>(service.servers());
        boolean adds = command.equals("-a");
        if (adds == all.containsKey(server.endpoint())) {
            throw new IllegalArgumentException(server.endpoint() + (adds ? " is there already" : " is not there"));
        }
        if (command.equals("-d")) {
            all.remove(server.endpoint());
        } else {
            all.put(server.endpoint(), server);
        }
        return new ArrayList<>(all.values());
    }

    private static RealServer server(Map<String, String> options) {
        String endpoint = value(options, "-r");
        Forwarding forwarding = options.containsKey("-m")
                ? Forwarding.NAT
                : options.containsKey("-i") ? Forwarding.TUNNEL : Forwarding.DIRECT;
        return new RealServer(
                LvsText.addressOf(endpoint),
                LvsText.portOf(endpoint),
                forwarding,
                (int) Math.min(Long.parseLong(options.getOrDefault("-w", DEFAULT_WEIGHT)), RealServer.MAX_WEIGHT),
                Integer.parseInt(options.getOrDefault("-x", NO_BOUND)),
                Integer.parseInt(options.getOrDefault("-y", NO_BOUND)));
    }

    private static String value(Map<String, String> options, String option) {
        String value = options.get(option);
        if (value == null) {
            throw new IllegalArgumentException("no " + option);
        }
        return value;
    }
}
