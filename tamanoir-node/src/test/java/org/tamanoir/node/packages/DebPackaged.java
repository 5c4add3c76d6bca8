package org.tamanoir.node.packages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Debian package, as {@code -Pdeb} has built it, in roots where it is installed and removed. */
@Tag("packages")
class DebPackaged {
    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final String INSTALL = "dpkg -i /deb/tamanoir-node_[0-8]*.deb >/dev/null";
    private static final String SECTION = "echo; echo '## %s'";

    @TempDir
    static Path folder;

    private static Path packages;
    private static DebRoot root;
    /** What was seen in one root where the package is installed, by name. */
    private static Map<String, String> installed;
    /** What was seen where systemd runs. */
    private static Map<String, String> booted;

    @BeforeAll
    static void lookAtARootWithThePackage() throws Exception {
        packages = Files.createDirectory(folder.resolve("packages"));
        root = new DebRoot(folder, packages);
        Files.copy(built(), packages.resolve(built().getFileName()));
        installed = sections(root.run(
                INSTALL + " 2>&1",
                section("version"),
                "tamanoir --version",
                section("configuration"),
                "tamanoir node --validate --config /etc/tamanoir/node.yaml",
                section("enabled"),
                "ls /etc/systemd/system/multi-user.target.wants | grep tamanoir",
                section("pages"),
                "for page in /usr/share/man/man1/tamanoir*.1.gz; do",
                "man --warnings -l $page 2>&1 >/dev/null; zcat $page | head -n 1; done",
                section("units"),
                "systemd-analyze verify tamanoir-node.service tamanoir-repository.service "
                        + "tamanoir-director.service 2>&1 | grep tamanoir || true",
                section("bash"),
                "bash -c 'source /usr/share/bash-completion/completions/tamanoir; "
                        + "COMP_WORDS=(tamanoir node --vali); COMP_CWORD=2; _complete_tamanoir; echo ${COMPREPLY[@]}' 2>/dev/null",
                section("zsh"),
                "cat > /deb/zsh <<'END'",
                "zmodload zsh/zpty", // A terminal: there is no completion without.
                "zpty shell 'PS1= HOME=/deb zsh -f -i'",
                "zpty -w shell 'stty -echo; fpath=(/usr/share/zsh/vendor-completions $fpath)'",
                "zpty -w shell 'autoload -U compinit; compinit -u -D; print re\"\"ady'",
                "zpty -r -m shell line '*ready*'",
                "zpty -w -n shell $'tamanoir node --vali\\t\\C-a: \\n'", // The whole line is an argument of : then.
                "zpty -w shell 'print en\"\"d'",
                "zpty -r -m shell line '*end*'",
                "[[ $line == *'tamanoir node --validate'* && $line != *'not found'* ]] && print completed",
                "END",
                "timeout 60 zsh -f /deb/zsh || true"));
        booted = sections(root.boot(
                section("ready"),
                "systemctl is-active tamanoir-node",
                "systemctl show -P StatusText tamanoir-node",
                "tamanoir ctl status --json >/dev/null",
                section("repository"),
                "systemctl start tamanoir-repository",
                "systemctl is-active tamanoir-repository",
                section("stopped"),
                "systemctl stop tamanoir-node tamanoir-repository",
                "systemctl show -P Result tamanoir-node tamanoir-repository",
                section("runtime"),
                "stat -c '%a %U' /run/tamanoir",
                section("watched"),
                "mkdir /etc/systemd/system/tamanoir-node.service.d",
                "printf '[Service]\nWatchdogSec=4s\n' > /etc/systemd/system/tamanoir-node.service.d/short.conf",
                "systemctl daemon-reload",
                "systemctl start tamanoir-node",
                "kill -STOP $(systemctl show -P MainPID tamanoir-node)",
                "for i in $(seq 100); do",
                "[ $(systemctl show -P NRestarts tamanoir-node) = 0 ] || break; sleep 0.5; done",
                "systemctl show -P NRestarts tamanoir-node",
                section("wrong"),
                "systemctl stop tamanoir-node",
                "echo 'hop-budget: 0' >> /etc/tamanoir/node.yaml",
                "systemctl start tamanoir-node 2>/dev/null || true",
                "systemctl show -P NRestarts -P ActiveState tamanoir-node"));
    }

    private static Path built() throws IOException {
        return Shell.only(TARGET, "tamanoir-node_*_all.deb");
    }

    private static String section(String name) {
        return SECTION.formatted(name);
    }

    private static Map<String, String> sections(String output) {
        Map<String, String> sections = new HashMap<>();
        for (String each : output.split("(?m)^## ")) {
            String[] parts = each.split("\n", 2);
            sections.put(parts[0], parts[1].strip());
        }
        return sections;
    }

    private static void build(String version, Path into) throws IOException, InterruptedException {
        Shell.run("src/deb/build", version, "target/tamanoir-node.jar", "2026-01-01T00:00:00Z", into.toString());
    }

    @Test
    void theInstalledCommandRuns() {
        assertThat(installed.get("version")).startsWith("tamanoir ").contains("\nJava ");
    }

    @Test
    void theInstalledConfigurationIsValid() {
        assertThat(installed.get("configuration")).isEqualTo("/etc/tamanoir/node.yaml: OK");
    }

    @Test
    void theNodeIsEnabledAndTheOthersAreNot() {
        assertThat(installed.get("enabled")).isEqualTo("tamanoir-node.service");
    }

    @Test
    void everyManualPageIsReadWithoutAWarning() {
        assertThat(String.valueOf(installed.get("pages")).lines())
                .hasSizeGreaterThan(15)
                .allMatch(line -> line.startsWith(".TH "));
    }

    @Test
    void theUnitsAreWithoutAFault() {
        assertThat(installed.get("units")).isEmpty();
    }

    @Test
    void bashCompletesOptions() {
        assertThat(installed.get("bash")).isEqualTo("--validate");
    }

    @Test
    void zshCompletesOptions() {
        assertThat(installed.get("zsh")).isEqualTo("completed");
    }

    @Test
    void systemdTakesANodeForStartedWhenItSaysSo() {
        assertThat(booted.get("ready")).startsWith("active\n0 routes, ");
    }

    @Test
    void systemdStartsARepository() {
        assertThat(booted.get("repository")).isEqualTo("active");
    }

    @Test
    void aStopIsNoFailure() {
        assertThat(booted.get("stopped")).isEqualTo("success\n\nsuccess");
    }

    @Test
    void theFolderOfHandOverIsTheNodesAndOutlivesTheUnit() {
        assertThat(booted.get("runtime")).isEqualTo("750 tamanoir");
    }

    @Test
    void systemdStartsANodeAnewThatDoesNotComeRound() {
        assertThat(booted.get("watched")).isEqualTo("1");
    }

    @Test
    void systemdDoesNotTryAWrongConfigurationAgain() {
        assertThat(String.valueOf(booted.get("wrong")).lines()).containsExactlyInAnyOrder("0", "failed");
    }

    @Test
    void anUpgradeKeepsAConfigurationThatWasChanged() throws Exception {
        build("9.0", packages);
        assertThat(root.run(
                        INSTALL,
                        "echo 'hop-budget: 3' >> /etc/tamanoir/node.yaml",
                        "dpkg -i /deb/tamanoir-node_9.0_all.deb",
                        "tail -n 1 /etc/tamanoir/node.yaml",
                        "dpkg-query -W -f '${Version}' tamanoir-node"))
                .endsWith("hop-budget: 3\n9.0");
    }

    @Test
    void aRemovalKeepsTheConfigurationAndAPurgeLeavesTheUserAlone() throws Exception {
        String list = "find /etc /usr /var -xdev -name '*tamanoir*' | sort";
        assertThat(root.run(
                        list + " > /before",
                        INSTALL,
                        "mkdir -p /var/lib/tamanoir/x /var/lib/tamanoir-repository/x /var/cache/tamanoir/x "
                                + "/var/log/tamanoir/x",
                        "dpkg -r tamanoir-node >/dev/null",
                        "ls /etc/tamanoir/node.yaml /etc/default/tamanoir",
                        "dpkg -P tamanoir-node >/dev/null 2>&1",
                        list + " | diff /before - && getent passwd tamanoir | cut -d: -f1"))
                .endsWith("/etc/default/tamanoir\n/etc/tamanoir/node.yaml\ntamanoir\n");
    }

    @Test
    void lintianFindsNothing() throws Exception {
        assertThat(Shell.run("lintian", "--allow-root", "--fail-on", "error,warning", built().toString()))
                .isEmpty();
    }

    @Test
    void theSameSourcesGiveTheSameBytes() throws Exception {
        Path again = Files.createDirectory(folder.resolve("again"));
        String version = built().getFileName().toString().split("_")[1].replace('~', '-');
        build(version, again);
        assertThat(again.resolve(built().getFileName())).hasSameBinaryContentAs(built());
    }
}
