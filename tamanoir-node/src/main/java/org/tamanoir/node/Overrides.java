package org.tamanoir.node;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.ee.Placement;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;

/** Puts the options of the command line over the settings of the file; errors name the option. One thread. */
final class Overrides {
    private final Settings settings;

    Overrides(Settings settings) {
        this.settings = settings;
        settings.beginOverrides();
    }

    /** Any address given here replaces all of the file's. */
    void listen(List<String> both, List<String> tcp, List<String> udp, List<String> tls) {
        if (both.isEmpty() && tcp.isEmpty() && udp.isEmpty() && tls.isEmpty()) {
            return;
        }
        List<InetSocketAddress> common = addresses("--listen", both);
        settings.tcp = new ArrayList<>(common);
        settings.tcp.addAll(addresses("--tcp", tcp));
        settings.udp = new ArrayList<>(common);
        settings.udp.addAll(addresses("--udp", udp));
        settings.tlsAddresses = addresses("--tls", tls);
    }

    /** Each file given here replaces the file's. */
    void tls(TlsOptions given, boolean requireClient) {
        TlsSettings tls = settings.tls;
        tls.certificate = given.certificate == null ? tls.certificate : given.certificate;
        tls.key = given.key == null ? tls.key : given.key;
        tls.trust = given.trust == null ? tls.trust : given.trust;
        tls.requireClient |= requireClient;
    }

    private List<InetSocketAddress> addresses(String option, List<String> texts) {
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (String text : texts) {
            collect(option, () -> addresses.add(Endpoint.listening(text, Anep.DEFAULT_PORT)));
        }
        return addresses;
    }

    /** {@code PREFIX=VIA[,same|tcp|udp|tls][,active|host]}. */
    void route(String text) {
        String option = "--route " + text;
        collect(option, () -> {
            int equals = text.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("PREFIX=HOST:PORT is wanted, as in 10.0.2.0/24=127.0.0.1:3323");
            }
            String[] words = text.substring(equals + 1).split(",", -1);
            NextHop.Transport transport = null;
            NextHop.Kind kind = null;
            for (int i = 1; i < words.length; i++) {
                if (transport == null && Choice.isTransport(words[i])) {
                    transport = Choice.transport(words[i]);
                } else if (kind == null) {
                    kind = Choice.kind(words[i]);
                } else {
                    throw new IllegalArgumentException(
                            "'" + words[i] + "' is too much: one transport and one kind are wanted");
                }
            }
            settings.route(
                    option,
                    Prefix.parse(text.substring(0, equals)),
                    words[0],
                    transport == null ? NextHop.Transport.SAME : transport,
                    kind);
        });
    }

    void direct(String prefix) {
        String option = "--direct " + prefix;
        collect(
                option,
                () -> settings.route(option, Prefix.parse(prefix), Settings.DIRECT, NextHop.Transport.SAME, null));
    }

    /** {@code NAME[,KEY=VALUE...]}. */
    void service(String text) {
        String option = "--service " + text;
        collect(option, () -> {
            String[] words = text.split(",", -1);
            Map<String, String> config = new HashMap<>();
            for (int i = 1; i < words.length; i++) {
                int equals = words[i].indexOf('=');
                if (equals < 1) {
                    throw new IllegalArgumentException("'" + words[i] + "' is no setting: KEY=VALUE is wanted");
                }
                if (config.put(words[i].substring(0, equals), words[i].substring(equals + 1)) != null) {
                    throw new IllegalArgumentException("'" + words[i] + "' sets its key a second time; remove one");
                }
            }
            settings.service(option, Settings.serviceName(words[0]), null, null, config, null, null);
        });
    }

    /** {@code NAME=LEVEL}. */
    void place(String text) {
        String option = "--place " + text;
        collect(option, () -> {
            int equals = text.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("NAME=LEVEL is wanted, as in Monitor=tc");
            }
            settings.place(
                    option,
                    Settings.serviceName(text.substring(0, equals)),
                    Placement.Wanted.of(text.substring(equals + 1)));
        });
    }

    /** Any interface given here replaces all of the file's. */
    void interfaces(List<String> names) {
        if (!names.isEmpty()) {
            settings.levels.interfaces = new ArrayList<>();
            names.forEach(name ->
                    collect("--interface", () -> settings.levels.interfaces.add(LevelSettings.networkInterface(name))));
        }
    }

    void levels(@Nullable String text) {
        if (text != null) {
            collect("--levels", () -> settings.levels.allowed = LevelSettings.levels(text));
        }
    }

    /** {@code FILE[=PATTERN...]}. */
    void trust(String text) {
        String option = "--trust " + text;
        collect(option, () -> {
            int equals = text.indexOf('=');
            String file = equals < 0 ? text : text.substring(0, equals);
            List<String> names =
                    equals < 0 ? List.of() : List.of(text.substring(equals + 1).split(",", -1));
            settings.deploy.trust(Path.of(file), names);
        });
    }

    /** Any repository given here replaces all of the file's. */
    void repositories(List<String> texts) {
        if (!texts.isEmpty()) {
            settings.deploy.repositories = new ArrayList<>();
            texts.forEach(text -> collect(
                    "--repository " + text, () -> settings.deploy.repositories.add(DeploySettings.repository(text))));
        }
    }

    void cache(@Nullable Path folder) {
        if (folder != null) {
            settings.deploy.cache = folder;
        }
    }

    void admin(@Nullable String address, @Nullable Path tokenFile) {
        if (address != null) {
            collect("--admin", () -> settings.admin = settings.admin.listening(AdminConfig.address(address)));
        }
        if (tokenFile != null) {
            collect(
                    "--admin-token-file",
                    () -> settings.admin = settings.admin.token(AdminConfig.tokenFile(tokenFile.toString())));
        }
    }

    /** Any director given here replaces all of the file's; what is null stays as it is. */
    void cluster(ClusterOptions given) {
        ClusterSettings cluster = settings.cluster;
        if (!given.directors.isEmpty()) {
            cluster.directors = new ArrayList<>();
            cluster.given("directors", "--cluster");
        }
        for (String text : given.directors) {
            collect("--cluster " + text, () -> cluster.directors.add(ClusterSettings.director(text)));
        }
        cluster(
                cluster,
                "token-file",
                given.tokenFile,
                file -> cluster.tokenFile = AdminConfig.tokenFile(file.toString()));
        cluster(cluster, "name", given.name, text -> cluster.name = ClusterSettings.name(text));
        cluster(cluster, "address", given.address, text -> cluster.address = ClusterSettings.address(text));
        cluster(
                cluster,
                "interface",
                given.networkInterface,
                text -> cluster.networkInterface = LevelSettings.networkInterface(text));
        cluster(cluster, "weight", given.weight, text -> cluster.weight = ClusterSettings.weight(text));
        cluster(cluster, "set-up", given.setUp, text -> cluster.setUp = ClusterSettings.setUp(text));
        if (given.plain) {
            cluster.plain = true;
            cluster.given("plain", "--cluster-plain");
        }
    }

    private <T> void cluster(ClusterSettings cluster, String key, @Nullable T value, Consumer<T> taker) {
        if (value != null) {
            String option = "--cluster-" + (key.equals("set-up") ? "setup" : key);
            cluster.given(key, option);
            collect(option, () -> taker.accept(value));
        }
    }

    /** In place of the file's section {@code qos}. */
    void qos(@Nullable Path file) {
        if (file != null) {
            ConfigFile.read(file, settings.problems, section -> settings.qos = QosSection.read(section));
        }
    }

    void transport(@Nullable String text) {
        if (text != null) {
            collect("--transport", () -> settings.transport = Choice.sockets(text));
        }
    }

    void maxStreams(@Nullable String text) {
        if (text != null) {
            collect("--max-streams", () -> settings.maxStreams = Quantity.number(text, 1, Settings.MAX_STREAMS));
        }
    }

    void drain(@Nullable String text) {
        if (text != null) {
            collect(
                    "--drain",
                    () -> settings.drainTimeout = Quantity.duration(text, Duration.ZERO, Settings.MAX_DRAIN));
        }
    }

    private void collect(String option, Runnable parser) {
        try {
            parser.run();
        } catch (IllegalArgumentException e) {
            settings.problems.add(option, String.valueOf(e.getMessage()));
        }
    }
}
