package org.tamanoir.benchmarks.cluster;

import com.google.common.collect.ObjectArrays;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.netns.Namespaces;

/**
 * The machines of figure 16, each a network namespace, on one switch, 10.78.0.0/16:
 *
 * <pre>
 *   clients 1..12    front-end     back-ends 1..3   receivers 1..3
 *   10.78.1.k        10.78.4.1     10.78.3.k        10.78.2.k
 *       └──────────────┴───── switch ──┴────────────────┘
 *                  10.78.4.100: the virtual address
 * </pre>
 *
 * <p>Back-ends have the virtual address on loopback and do not answer for it, as direct routing demands.
 *
 * <p>Thread contract: one thread.
 */
final class Bed implements AutoCloseable {
    static final int CLIENTS = 12;
    static final int RECEIVERS = 3;
    static final int BACK_ENDS = 3;
    /** Of nodes, virtual service and receivers. */
    static final int PORT = 3322;

    static final String VIRTUAL_ADDRESS = "10.78.4.100";
    /** Where receivers are. */
    static final String RECEIVERS_PREFIX = "10.78.2.0/24";

    private static final String[] NO_FILTER = {"conf.all.rp_filter=0", "conf.default.rp_filter=0"};

    /** Only for addresses of the interface that asks; and asks with its own. */
    private static final String[] SILENT = {
        "conf.all.arp_ignore=1", "conf.all.arp_announce=2", "conf.lo.arp_ignore=1", "conf.lo.arp_announce=2"
    };

    private final Namespaces all;
    final List<Namespace> clients;
    final List<Namespace> receivers;
    final List<Namespace> backEnds;
    final Namespace director;

    /**
     * Makes all of them.
     *
     * @throws IOException in one line, with nothing left behind
     */
    Bed() throws IOException {
        List<String> names = new ArrayList<>(List.of("s", "d"));
        Map<String, Integer> counts = Map.of("c", CLIENTS, "r", RECEIVERS, "b", BACK_ENDS);
        for (String name : List.of("c", "r", "b")) {
            IntStream.rangeClosed(1, counts.getOrDefault(name, 0)).forEach(i -> names.add(name + i));
        }
        all = new Namespaces("cluster", names);
        director = all.all().get(1);
        clients = all.all().subList(2, 2 + CLIENTS);
        receivers = all.all().subList(2 + CLIENTS, 2 + CLIENTS + RECEIVERS);
        backEnds = all.all().subList(2 + CLIENTS + RECEIVERS, names.size());
        try {
            make(names);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private void make(List<String> names) throws IOException {
        List<String> ports = new ArrayList<>(List.of("link add name switch type bridge", "link set dev switch up"));
        for (int i = 1; i < names.size(); i++) {
            String port = names.get(i);
            ports.add("link add name " + port + " type veth peer name eth netns "
                    + all.all().get(i).name());
            ports.add("link set dev " + port + " master switch up");
        }
        all.all().get(0).ip(ports.toArray(String[]::new));
        join(clients, "10.78.1.");
        join(receivers, "10.78.2.");
        join(backEnds, "10.78.3.");
        join(List.of(director), "10.78.4.");
        director.ip("address add " + VIRTUAL_ADDRESS + "/32 dev eth");
        director.set(NO_FILTER[0], NO_FILTER[1], "conf.all.send_redirects=0");
        for (Namespace each : backEnds) {
            each.set(ObjectArrays.concat(NO_FILTER, SILENT, String.class));
            each.ip("address add " + VIRTUAL_ADDRESS + "/32 dev lo");
        }
    }

    private static void join(List<Namespace> machines, String address) throws IOException {
        for (int i = 0; i < machines.size(); i++) {
            String own = "address add " + address + (i + 1) + "/16 dev eth";
            machines.get(i).ip("link set dev lo up", "link set dev eth up", own);
        }
    }

    static String receiver(int index) {
        return "10.78.2." + (index + 1);
    }

    static String backEnd(int index) {
        return "10.78.3." + (index + 1);
    }

    @Override
    public void close() {
        all.close();
    }
}
