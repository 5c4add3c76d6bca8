package org.tamanoir.node.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Format;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.NodeSettings;
import org.tamanoir.node.config.Overrides;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.run.Node;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * A node with a chain for each scene on free loopback ports, from a configuration and plans that it writes into a
 * folder; it sends on to the port on this host that a packet names.
 *
 * <p>Thread contract: one thread; {@link #change} any.
 */
final class MorphNetwork implements AutoCloseable {
    private static final List<String> PLANS = List.of("all", "select", "offers", "private");
    /** Chains that run the plan of another. */
    private static final Map<String, String> PLAN_OF = Map.of("changed", "select");

    private static final Duration DRAIN = Duration.ofSeconds(2);

    private final Path folder;
    private final NodeConfig config;
    private final Node node;

    /**
     * Writes the files and starts the node.
     *
     * @param transport as {@code node --transport} takes it
     */
    MorphNetwork(Path folder, String transport) throws IOException {
        this.folder = folder;
        Path file = write(folder);
        Problems problems = new Problems();
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.read(file, settings);
        new Overrides(settings).setting(NodeSettings.TRANSPORT, List.of(transport));
        settings.check();
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", problems.lines()));
        }
        config = settings.build();
        node = new Node(config);
        node.start();
    }

    private static Path write(Path folder) throws IOException {
        try (OutputStream out = Files.newOutputStream(folder.resolve("airline.ffs"));
                FfsWriter writer = FfsWriter.ofFile(out)) {
            for (Format format : MorphFormats.ALL) {
                writer.format(format);
            }
        }
        for (String plan : PLANS) {
            try (InputStream in = MorphNetwork.class.getResourceAsStream(plan + ".yaml")) {
                if (in == null) {
                    throw new IOException("the program lacks its plan " + plan + ".yaml: build it anew");
                }
                Files.write(folder.resolve(plan + ".yaml"), in.readAllBytes());
            }
        }
        List<String> services = new ArrayList<>(PLANS);
        services.addAll(PLAN_OF.keySet());
        byte[] token = new byte[32];
        new SecureRandom().nextBytes(token);
        Path tokenFile = Files.writeString(tokenFile(folder), HexFormat.of().formatHex(token) + "\n");
        Files.setPosixFilePermissions(tokenFile, PosixFilePermissions.fromString("rw-------"));
        StringBuilder text = new StringBuilder("listen: {tcp: [\"127.0.0.1:0\"], udp: [\"127.0.0.1:0\"]}\n"
                + "routes: [{to: " + DemoNetwork.DESTINATION + "/32, via: 127.0.0.1, kind: host}]\n"
                + "admin: {listen: \"127.0.0.1:0\", token-file: " + quoted(tokenFile) + "}\n"
                + "services:\n");
        for (String service : services) {
            text.append("  - {name: ")
                    .append(service)
                    .append(", class: org.tamanoir.services.Morph, config: {plan: ")
                    .append(quoted(folder.resolve(PLAN_OF.getOrDefault(service, service) + ".yaml")))
                    .append("}}\n");
        }
        return Files.writeString(folder.resolve("node.yaml"), text);
    }

    private static String quoted(Path file) {
        return "'" + file.toString().replace("'", "''") + "'";
    }

    /** Returns where the token stands by which the node's chains may be changed. */
    static Path tokenFile(Path folder) {
        return folder.resolve("admin.token");
    }

    Path folder() {
        return folder;
    }

    InetSocketAddress tcp() {
        return node.environment().tcpAddresses().get(0);
    }

    InetSocketAddress udp() {
        return node.environment().udpAddresses().get(0);
    }

    String transport() {
        return node.environment().transport();
    }

    /** Returns the URL of the admin API. */
    String admin() {
        return String.valueOf(node.servers().get("admin API"));
    }

    TrafficSnapshot traffic() {
        return node.environment().traffic();
    }

    /** Returns what a chain's control shows. */
    Map<String, Object> view(String service) {
        return control(service, ServiceControl::view);
    }

    /** Changes a chain, as {@code ctl morph} does. */
    Map<String, Object> change(String service, String operation, Map<String, Object> arguments) {
        return control(service, control -> control.change(operation, arguments));
    }

    private Map<String, Object> control(String service, Function<ServiceControl, Map<String, Object>> call) {
        String name = NodeConfigBuilder.serviceName(service);
        ServiceDefinition definition = config.services().stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow();
        return node.environment().control(definition, call);
    }

    /** Stops the node; what crossed it can still be read. */
    @Override
    public void close() {
        node.stop(DRAIN);
    }
}
