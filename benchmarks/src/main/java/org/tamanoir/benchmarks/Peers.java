package org.tamanoir.benchmarks;

import io.netty.util.Version;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The forwarders that are compared, with the configurations that make a fair opponent of each. */
final class Peers {
    static final String NODE = "Tamanoir";
    static final String VIRTUAL = "virtual threads";
    static final String GATEWAY = "gateway";
    static final String DIRECT = "direct";

    private static final int HAPROXY_LARGE_BUFFER_BYTES = 262_144;
    private static final int FIRST_VIRTUAL = 21;
    private static final Pattern FEATURE_VERSION = Pattern.compile("version \"(\\d+)");
    private static final Set<Transport> TCP = Set.of(Transport.TCP);
    private static final Set<Transport> UDP = Set.of(Transport.UDP);

    private Peers() {}

    /**
     * Returns all of them, the node first.
     *
     * @param folder where what has to be compiled goes
     */
    static List<Forwarder> all(NodeCommand node, int maxStreams, Path folder) {
        List<Forwarder> peers = new ArrayList<>();
        peers.add(node(NODE, node));
        peers.add(onVirtualThreads(node));
        peers.add(gateway(node));
        peers.add(new Forwarder(DIRECT, EnumSet.allOf(Transport.class), "sender and sink alone", null, null));
        peers.add(haproxy("HAProxy", 0, maxStreams));
        peers.add(haproxy("HAProxy 256K", HAPROXY_LARGE_BUFFER_BYTES, maxStreams));
        peers.add(InPlace.forwarder(folder));
        peers.add(Nginx.forwarder(maxStreams));
        peers.add(socat());
        peers.add(netty("plain Netty", node.jvm().java(), false));
        peers.add(netty("Netty tuned", node.jvm().java(), true));
        return peers;
    }

    /** The node under a name. */
    static Forwarder node(String name, NodeCommand command) {
        NodeJvm jvm = command.jvm();
        String missing = NodeJvm.missing("--node-jar", jvm.jar());
        String flags = jvm.flags().isEmpty() ? "default JVM flags" : String.join(" ", jvm.flags());
        return new Forwarder(
                name,
                EnumSet.allOf(Transport.class),
                "Monitor service, " + firstLine(jvm.java(), "-version") + ", " + flags,
                missing.isEmpty() ? null : missing,
                command);
    }

    /** The node that sends packets of its own through its code before it listens. */
    static Forwarder rehearsed(NodeCommand command) {
        Forwarder node = node(NODE + ", rehearsed", command.withOptions("--rehearse", "2s"));
        return new Forwarder(node.name(), TCP, node.version() + ", rehearse: 2s", node.missing(), node.command());
    }

    private static Forwarder onVirtualThreads(NodeCommand command) {
        Forwarder node = node(VIRTUAL, command.withOptions("--threads", "virtual"));
        String missing = node.missing();
        if (missing == null && javaVersion(command.jvm().java()) < FIRST_VIRTUAL) {
            missing = "Java has virtual threads from " + FIRST_VIRTUAL + " on: name its launcher by --java";
        }
        return new Forwarder(VIRTUAL, TCP, node.version() + ", threads: virtual", missing, node.command());
    }

    /** The node to which all that crosses it is octets. */
    private static Forwarder gateway(NodeCommand command) {
        Forwarder node = node(GATEWAY, command);
        return new Forwarder(
                GATEWAY,
                TCP,
                node.version() + ", format octets",
                node.missing(),
                (port, sinkPort, transport, folder) -> command.jvm()
                        .line(
                                "--listen",
                                "127.0.0.1:0",
                                "--gateway",
                                "127.0.0.1:" + port + "=127.0.0.1:" + sinkPort + ",octets,Monitor",
                                "--max-streams",
                                Integer.toString(command.maxStreams())));
    }

    private static Forwarder haproxy(String name, int bufferBytes, int maxStreams) {
        String buffer = bufferBytes == 0 ? "default tune.bufsize 16384" : "tune.bufsize " + bufferBytes;
        return new Forwarder(
                name,
                TCP,
                firstLine("haproxy", "-v") + "; mode tcp, nbthread default (one per processor), " + buffer,
                missing("haproxy", "haproxy"),
                (port, sinkPort, transport, folder) -> {
                    String tune = bufferBytes == 0 ? "" : "  tune.bufsize " + bufferBytes + "\n";
                    String text = """
                            global
                              maxconn %d
                            %sdefaults
                              mode tcp
                              timeout connect 5s
                              timeout client 60s
                              timeout server 60s
                            listen forward
                              bind 127.0.0.1:%d
                              server sink 127.0.0.1:%d
                            """.formatted(maxStreams, tune, port, sinkPort);
                    return List.of("haproxy", "-db", "-f", write(folder, "haproxy.cfg", text));
                });
    }

    /** Sends the datagrams of one port to another. */
    static Forwarder socat() {
        return new Forwarder(
                "socat",
                UDP,
                firstLine("socat", "-V", "version") + "; -u -b 65536",
                missing("socat", "socat"),
                (port, sinkPort, transport, folder) -> List.of(
                        "socat",
                        "-u",
                        "-b",
                        "65536",
                        "UDP4-RECV:" + port + ",bind=127.0.0.1",
                        "UDP4-SENDTO:127.0.0.1:" + sinkPort));
    }

    private static Forwarder netty(String name, String java, boolean tuned) {
        String version = Version.identify().values().stream()
                .map(Version::artifactVersion)
                .findFirst()
                .orElse("of unknown version");
        return new Forwarder(
                name,
                TCP,
                "Netty " + version + "; LengthFieldBasedFrameDecoder, epoll, default JVM flags"
                        + (tuned ? ", decoder's buffer kept small" : ""),
                null,
                (port, sinkPort, transport, folder) -> Processes.loadCommand(
                        java, List.of(), "netty-proxy", "port=" + port, "sink=" + sinkPort, "tuned=" + tuned));
    }

    /** The feature version of this launcher's JVM, 0 when it does not say. */
    static int javaVersion(String java) {
        Matcher version = FEATURE_VERSION.matcher(firstLine(java, "-version"));
        return version.find() ? Integer.parseInt(version.group(1)) : 0;
    }

    /** Writes a configuration, and returns its path. */
    static String write(Path folder, String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, text);
        return file.toString();
    }

    /** Returns why a program is missing, null when it is on the path. */
    static @Nullable String missing(String program, String debianPackage) {
        for (String folder : System.getenv().getOrDefault("PATH", "/usr/bin").split(":")) {
            if (Files.isExecutable(Path.of(folder, program))) {
                return null;
            }
        }
        return program + " is not on the PATH: install the Debian package " + debianPackage;
    }

    /** The first line that a program prints, or the first that contains a word; empty when it does not run. */
    static String firstLine(String program, String option, String... word) {
        try {
            Process process = new ProcessBuilder(program, option)
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String text = new String(process.getInputStream().readNBytes(16_384), StandardCharsets.UTF_8);
            process.waitFor(5, TimeUnit.SECONDS);
            process.destroyForcibly();
            return text.lines()
                    .filter(line -> word.length == 0 || line.contains(word[0]))
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
