package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.netns.Shell;

/**
 * The kernel's table in a namespace, through {@code ipvsadm}.
 *
 * @param director where
 */
record Ipvs(Namespace director) {
    /** How packets reach a back-end, as ipvsadm's options say it. */
    enum Forwarding {
        DIRECT("direct routing", "-g"),
        NAT("NAT", "-m"),
        TUNNEL("tunnel", "-i");

        private final String label;
        private final String option;

        Forwarding(String label, String option) {
            this.label = label;
            this.option = option;
        }

        String label() {
            return label;
        }
    }

    /** Counters of a real server. */
    record Counters(String server, long connections, long packetsIn) {}

    /** Empties the table. */
    void clear() throws IOException {
        run("-C");
    }

    /**
     * Adds a virtual service with its real servers.
     *
     * @param protocol {@code -t} or {@code -u}
     * @param options of the service: scheduler and flags
     * @param weights of the servers
     */
    void serve(
            String protocol,
            String address,
            List<String> options,
            Forwarding forwarding,
            List<String> servers,
            int... weights)
            throws IOException {
        StringBuilder lines =
                new StringBuilder("-A %s %s %s\n".formatted(protocol, address, String.join(" ", options)));
        for (int i = 0; i < servers.size(); i++) {
            int weight = weights.length == 0 ? 1 : weights[i];
            lines.append("-a %s %s -r %s %s -w %d\n"
                    .formatted(protocol, address, servers.get(i), forwarding.option, weight));
        }
        // One process for all of it: where processors are emulated each takes a third of a second.
        Shell.run(director.inside(List.of(
                "bash", "-c", "ipvsadm --restore <<<\"$0\"", lines.toString().strip())));
    }

    /** Of all real servers, by their address. */
    List<Counters> counters() throws IOException {
        return counters(run("-L", "-n", "--stats", "--exact"));
    }

    /** Reads what {@code ipvsadm -L -n --stats --exact} says: {@code -> SERVER Conns InPkts OutPkts InBytes OutBytes}. */
    static List<Counters> counters(String said) throws IOException {
        List<Counters> all = new ArrayList<>();
        for (String line : said.split("\n")) {
            String[] columns = line.trim().split(" +");
            if (!columns[0].equals("->") || columns[1].startsWith("RemoteAddress")) {
                continue;
            }
            try {
                all.add(new Counters(columns[1], Long.parseLong(columns[2]), Long.parseLong(columns[3])));
            } catch (IndexOutOfBoundsException | NumberFormatException e) {
                throw new IOException("ipvsadm says '" + line.trim() + "' where counters of a server were due", e);
            }
        }
        all.sort(java.util.Comparator.comparing(Counters::server));
        return all;
    }

    private String run(String... arguments) throws IOException {
        List<String> line = new ArrayList<>(List.of("ipvsadm"));
        line.addAll(Arrays.asList(arguments));
        return Shell.run(director.inside(line));
    }
}
