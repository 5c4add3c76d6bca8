package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.cli.Systemd;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.Tiers;

/** A whole node whose rules for plain IP change with its configuration. */
@Tag("once")
@Tag("namespace")
@Timeout(120)
class PlainNodeTest {
    private static final String VOICE = "{match: {protocol: udp, ports: 5004}, service: org.tamanoir.services.Monitor}";
    private static final String WEB = "{match: {protocol: tcp, ports: 80}, service: org.tamanoir.services.Monitor}";
    /** A BPF object on the class path of builds that have BPF programs. */
    private static final String PROGRAM = "/org/tamanoir/kernel/bpf/tamanoir_plain.bpf.o";

    private static final String TALK = "explain udp 192.0.2.2:7000 198.51.100.1:5004";

    @TempDir
    Path folder;

    private Namespaces namespaces;
    private String router;
    private String written = "";

    @BeforeEach
    void makeRouter() {
        Namespaces.require("bpf");
        namespaces = new Namespaces("plainn");
        router = namespaces.add("router");
        String host = namespaces.add("host");
        namespaces.link(router, "d0", host, "d1");
        namespaces.address(router, "d0", "192.0.2.1/24");
        namespaces.run(router, "sysctl -qw net.ipv4.ip_forward=1");
    }

    @AfterEach
    void removeRouter() {
        if (namespaces != null) {
            namespaces.close();
        }
    }

    private String text(String more) {
        return "deploy: {cache: " + folder.resolve("cache") + "}\n" + more;
    }

    private void write(String more) {
        written = LiveNode.config(folder, folder.resolve("admin.token"), text(more));
    }

    private @Nullable NodeConfig read(Problems problems) {
        NodeConfigBuilder settings = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", written, settings);
        settings.check();
        return problems.lines().isEmpty() ? settings.build() : null;
    }

    private LiveNode start(String more) throws Exception {
        return LiveNode.start(
                folder, text(more), node -> node.reloading(new Reloader(node, this::read, Systemd.ofProcess())));
    }

    private static String plain(String interfaces, String... rules) {
        return "plain: [" + String.join(", ", rules) + "]\nplain-interfaces: [" + interfaces + "]\n";
    }

    private static String explained(LiveNode node) {
        return node.ctl(0, TALK.split(" "));
    }

    @Test
    void rulesComeAndGoByReload() throws Exception {
        namespaces.in(router, () -> {
            try (LiveNode node = start(plain("d0"))) {
                String stands = node.ctl(0, "plain");
                Tiers.require("bpf", stands.startsWith("plain IP: there"), stands);
                assertThat(explained(node)).contains("no rule is for it");
                write(plain("d0", VOICE));
                assertThat(node.ctl(0, "reload")).contains("plain: ").doesNotContain("restart", "effect");
                assertThat(explained(node)).contains("rule 1, org.tamanoir.services.Monitor: fits", "up: ");
                assertThat(node.ctl(0, "plain")).contains("there: tc on d0", "5004");
                assertThat(node.ctl(0, "config")).contains("5004");

                write(plain("d0", WEB, VOICE) + "routes: [{to: 10.0.0.0/8, via: \"127.0.0.1:1\", kind: nothing}]\n");
                assertThat(node.ctl(1, "reload")).contains("kind");
                assertThat(explained(node)).contains("rule 1, org.tamanoir.services.Monitor: fits");

                write(plain("d0, d1", WEB, VOICE) + "plain-alerts: 7\n");
                assertThat(node.ctl(0, "reload"))
                        .contains("plain: ", "plain-alerts: 1000 -> 7", "needs a restart: plain-interfaces");
                assertThat(explained(node)).contains("rule 2, org.tamanoir.services.Monitor: fits");

                write("");
                assertThat(node.ctl(0, "reload")).contains("plain: ", "needs a restart: plain-interfaces");
                assertThat(explained(node)).contains("no rule is for it");
            }
            return "";
        });
    }

    @Test
    void whereNothingComesUpRulesAreTakenAndWithoutEffect() throws Exception {
        boolean hasPrograms = PlainNodeTest.class.getResource(PROGRAM) != null;
        namespaces.in(router, () -> {
            try (LiveNode node = start(plain("nowhere0", VOICE))) {
                write(plain("nowhere0", WEB, VOICE));
                assertThat(node.ctl(1, "reload"))
                        .contains(
                                "without effect: plain: nothing comes up: ",
                                hasPrograms ? "nowhere0 does not exist" : "this build has no BPF programs");
                assertThat(node.ctl(0, "plain")).contains("tcp");
            }
            return "";
        });
    }

    @Test
    void whereNoInterfaceIsNamedRulesNeedARestart() throws Exception {
        try (LiveNode node = start("")) {
            write(plain("d0", VOICE));
            assertThat(node.ctl(0, "reload")).contains("needs a restart: plain: ", "needs a restart: plain-interfaces");
            assertThat(node.ctl(0, "plain")).contains("not there");
        }
    }
}
