package org.tamanoir.node.config;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.routing.Route;

/**
 * Reads a node's configuration file into {@link NodeConfigBuilder}. Every error is collected as
 * {@code FILE:LINE: path: what, value, bound, remedy}; keys and bounds stand in docs/configuration.md.
 */
public final class ConfigFile {
    static final int MAX_BYTES = 1 << 20;

    private final NodeConfigBuilder settings;

    private ConfigFile(NodeConfigBuilder settings) {
        this.settings = settings;
    }

    /** Puts what the file says over the settings. */
    public static void read(Path file, NodeConfigBuilder settings) {
        read(file, settings.problems, root -> new ConfigFile(settings).root(root));
    }

    /**
     * Reads the file of a node that runs: one that may be half-written is refused, for what it lacks would be taken away.
     *
     * @return its text
     */
    public static String readAgain(Path file, NodeConfigBuilder settings) {
        String name = file.toString();
        try {
            String text = text(file);
            if (text.isBlank()) {
                settings.problems.add(
                        name, "is empty: is it being written? Put another file in its place whole, by mv");
            } else if (!text.endsWith("\n")) {
                settings.problems.add(
                        name,
                        "its last line has no end: is it being written? End the line, and put files in place by mv");
            } else {
                parse(name, text, settings);
            }
            return text;
        } catch (IOException e) {
            read(file, settings); // Says why.
            return "";
        }
    }

    /** Adds a problem if the file is another than when it was read. */
    public static void requireSame(Path file, String text, Problems problems) {
        try {
            if (text(file).equals(text)) {
                return;
            }
        } catch (IOException e) {
            // It is being replaced.
        }
        problems.add(file.toString(), "was changed while it was read; reload again when it is written whole");
    }

    /** Gives the mapping that a file holds to a reader, unless there is something wrong with it. */
    public static void read(Path file, Problems problems, Consumer<Section> reader) {
        String name = file.toString();
        try {
            parse(name, text(file), problems, reader);
        } catch (SmallFile.TooLargeException e) {
            problems.add(
                    name,
                    "cannot be read: it is larger than " + Quantity.toString(MAX_BYTES) + ", too much for settings");
        } catch (IOException e) {
            problems.add(name, "cannot be read: " + reason(e));
        }
    }

    /** Puts what the text of a file of this name says over the settings. */
    public static void parse(String name, String text, NodeConfigBuilder settings) {
        parse(name, text, settings.problems, root -> new ConfigFile(settings).root(root));
    }

    private static void parse(String name, String text, Problems problems, Consumer<Section> reader) {
        try {
            YamlNode root = YamlTree.parse(text);
            reader.accept(new Section(name, "", root, problems));
        } catch (YamlTree.SyntaxException e) {
            problems.add(name + ":" + e.line, String.valueOf(e.getMessage()));
        }
    }

    static String text(Path file) throws IOException {
        byte[] bytes = SmallFile.read(file, MAX_BYTES);
        String text = StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString();
        return text.startsWith("\uFEFF") ? text.substring(1) : text;
    }

    static String reason(IOException e) {
        return e instanceof java.nio.file.AccessDeniedException
                ? "permission denied"
                : e instanceof NoSuchFileException
                        ? "there is no such file"
                        : e instanceof SmallFile.NotRegularException
                                ? "it is no regular file: name one; a pipe or a device may never end"
                                : e instanceof CharacterCodingException
                                        ? "it is not UTF-8 text; convert it"
                                        : e.getMessage() == null ? e.toString() : e.getMessage();
    }

    private void root(Section root) {
        Set<String> sections = new LinkedHashSet<>();
        NodeSettings.ALL.forEach(setting -> sections.add(setting.section()));
        List<String> keys = new ArrayList<>(sections);
        keys.addAll(List.of("routes", "services", "qos"));
        NodeSettings.of("").forEach(setting -> keys.add(setting.key()));
        root.allow(keys.stream().filter(key -> !key.isEmpty()).toArray(String[]::new));
        listen(root);
        root.sections("routes").forEach(this::route);
        root.sections("services").forEach(this::service);
        Section qos = root.section("qos");
        settings.qos = QosSection.read(qos);
        settings.links = qos.where("links");
        settings.rules = qos.where("rules");
        sections.remove("listen");
        for (String section : sections) {
            if (section.isEmpty()) {
                NodeSettings.of("").forEach(setting -> settings.values.read(root, setting));
            } else {
                settings.values.read(root.section(section), NodeSettings.of(section));
            }
        }
    }

    /** A list that is left out is empty when the section is there. */
    private void listen(Section root) {
        if (!root.has("listen")) {
            return;
        }
        int problemsBefore = settings.problems.lines().size();
        Values values = settings.values;
        List<Setting<List<InetSocketAddress>>> lists = List.of(
                NodeSettings.TCP, NodeSettings.UDP_ADDRESSES, NodeSettings.TLS_ADDRESSES, NodeSettings.QUIC_ADDRESSES);
        lists.forEach(list -> values.put(list, List.of(), root.where("listen")));
        values.read(root.section("listen"), NodeSettings.of("listen"));
        boolean sound = settings.problems.lines().size() == problemsBefore;
        if (sound
                && values.get(NodeSettings.GATEWAYS).isEmpty()
                && lists.stream().allMatch(list -> values.get(list).isEmpty())) {
            settings.problems.add(
                    root.where("listen"),
                    "no address to listen on; add one under tcp, udp, tls, quic or gateways, or remove the key for the defaults");
        }
    }

    private void route(Section section) {
        Route route = RouteTable.read(section);
        if (route != null) {
            settings.route(section.where("to"), route);
        }
    }

    private void service(Section section) {
        Values service = Values.of(section, ServiceTable.ALL);
        if (service.find(ServiceTable.NAME) == null) {
            return;
        }
        try {
            settings.service(section.where("name"), service);
        } catch (IllegalArgumentException e) {
            String where = service.where(service.isGiven(ServiceTable.CLASS) ? ServiceTable.CLASS : ServiceTable.NAME);
            settings.problems.add(where, String.valueOf(e.getMessage()));
        }
    }
}
