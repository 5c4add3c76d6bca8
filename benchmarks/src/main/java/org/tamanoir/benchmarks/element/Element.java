package org.tamanoir.benchmarks.element;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.CpuClock;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A distributed element on this host: distributor, three units, aggregator, each a process. One thread. */
final class Element implements AutoCloseable {
    static final int UNITS = 3;
    private static final String DESTINATION = "10.0.9.1";

    private final List<Child> children = new ArrayList<>();
    private final int port = Load.freePort();
    private final List<String> admin = freeAddresses(UNITS);

    /** @param sinkPort to which plain datagrams go in the end */
    Element(Processes processes, NodeJvm jvm, Way way, int sinkPort) throws IOException {
        List<String> control = freeAddresses(UNITS + 1);
        List<String> data = freeAddresses(UNITS);
        String aggregator = address(Load.freePort());
        Path key = Files.writeString(processes.folder().resolve("ring.key"), "00112233445566778899aabbccddeeff\n");
        try {
            List<String> joining = new ArrayList<>(List.of("--listen", aggregator, "--to", address(sinkPort)));
            if (way == Way.EXACT) {
                joining.addAll(List.of("--exact", "--paths", String.valueOf(UNITS)));
            }
            start(processes, jvm, "aggregate", joining);
            for (int unit = 0; unit < UNITS; unit++) {
                String text = "listen: {tcp: [], udp: [\"%s\"]}\nadmin: {listen: \"%s\"}\n"
                                .formatted(data.get(unit), admin.get(unit))
                        + "routes: [{to: 10.0.9.0/24, via: \"%s\", transport: udp, kind: host}]\n".formatted(aggregator)
                        + (way.hasRing() ? ring(unit, control, key) : "");
                Path file = Files.writeString(processes.folder().resolve("unit-" + unit + ".yaml"), text);
                start(processes, jvm, "node", List.of("--config", file.toString()));
            }
            List<String> spraying =
                    new ArrayList<>(List.of("--listen", address(port), "--to", DESTINATION, "--service", "Monitor"));
            for (int unit = 0; unit < UNITS; unit++) {
                spraying.addAll(List.of("--unit", unit + "=" + data.get(unit)));
            }
            spraying.addAll(way.distribution());
            if (way.hasRing()) {
                spraying.addAll(List.of(
                        "--control", control.get(UNITS),
                        "--ring-units", String.join(",", control.subList(0, UNITS)),
                        "--ring-key-file", key.toString()));
            }
            start(processes, jvm, "distribute", spraying);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Returns the sections of a unit whose sender waits for the token, and holds 500 packets as the paper's. */
    private static String ring(int unit, List<String> control, Path key) {
        String units = control.subList(0, UNITS).stream()
                .map(each -> '"' + each + '"')
                .collect(Collectors.joining(", ", "[", "]"));
        return """
                qos:
                  classes: [{name: all, limit-packets: 500, limit-bytes: 2MiB}]
                  default-class: all
                  links: [{name: out, next-hops: [127.0.0.0/8], rate: 10Gbit/s, burst: 1MiB, discipline: fct}]
                element: {unit: %d, units: %s, distributor: "%s", key-file: %s}
                """.formatted(unit, units, control.get(UNITS), key);
    }

    private void start(Processes processes, NodeJvm jvm, String command, List<String> options) throws IOException {
        children.add(
                processes.start(command + "-" + children.size(), jvm.command(command, options.toArray(String[]::new))));
    }

    private static List<String> freeAddresses(int count) throws IOException {
        List<String> addresses = new ArrayList<>();
        while (addresses.size() < count) {
            addresses.add(address(Load.freePort()));
        }
        return addresses;
    }

    private static String address(int port) {
        return "127.0.0.1:" + port;
    }

    /** Returns where the distributor listens. */
    int port() {
        return port;
    }

    /**
     * Asks the units for their ring.
     *
     * @return the epoch of the view that all of them have, with all in it; -1 = they have no such view, or do not answer
     */
    int epoch() {
        int epoch = -1;
        for (int unit = 0; unit < UNITS; unit++) {
            try {
                JsonNode element = element(unit);
                int its = element.get("epoch").asInt();
                if (element.get("members").size() != UNITS || unit > 0 && its != epoch) {
                    return -1;
                }
                epoch = its;
            } catch (IOException e) {
                return -1;
            }
        }
        return epoch;
    }

    /** Returns how long the token takes round the ring, in µs, as the first unit says. */
    double roundTripUs() throws IOException {
        return element(0).get("roundTripMicros").asDouble();
    }

    private JsonNode element(int unit) throws IOException {
        try (InputStream in =
                URI.create("http://" + admin.get(unit) + "/v1/element").toURL().openStream()) {
            return JsonMapper.shared().readTree(in);
        }
    }

    /** Fails if one of the processes has ended. */
    void requireAlive() throws IOException {
        for (Child child : children) {
            child.requireAlive();
        }
    }

    /** Returns processor time so far, in ns: of the aggregator, each unit, the distributor. */
    long[] cpuNs() {
        return children.stream().mapToLong(child -> CpuClock.ns(child.handle())).toArray();
    }

    @Override
    public void close() {
        children.forEach(Child::close);
    }
}
