package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.node.admin.TestAdmin;
import org.tamanoir.node.config.Endpoint;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(120)
class DirectorCommandTest {
    private static final String SERVICE = "services: [{name: anep, address: 10.0.0.100}]\n";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    private int run(String... args) {
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("director.yaml"), text);
    }

    @Test
    void validationOfAGoodFileSaysWhenADeadBackEndIsOut() throws IOException {
        Path file = file(SERVICE + "health: {interval: 2s, timeout: 500ms, failures: 4}");
        assertThat(run("director", "--validate", "-c", file.toString())).isZero();
        assertThat(out.toString().strip()).isEqualTo(file + ": OK; a dead back-end is out after 10s at most");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void validationWithJsonIsOneObject() throws IOException {
        Path file = file(SERVICE);
        assertThat(run("director", "--validate", "--json", "-c", file.toString()))
                .isZero();
        JsonNode valid = new JsonMapper().readTree(out.toString());
        assertThat(valid.get("ok").asBoolean()).isTrue();
        assertThat(valid.get("outAfterMs").asLong()).isEqualTo(6000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "plan", "remove", "check", "keepalived"})
    void everyErrorOfTheFileIsALineForEachCommand(String command) throws IOException {
        Path file = file("services: [{name: anep, address: 10.0.0.100, port: 0}]\ndrain: 60\n");
        String[] args = command.isEmpty()
                ? new String[] {"director", "-c", file.toString()}
                : new String[] {"director", command, "-c", file.toString()};
        assertThat(run(args)).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly(
                        file + ":1: services[0].port: 0 is out of bounds: 1 to 65535 are allowed",
                        file + ":2: drain: '60' is no duration: a whole number with ms, s, m or h is wanted; add the "
                                + "unit, as in 60s");
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "director",
                "director plan",
                "director check",
                "director nothing",
                "director drain",
                "director status surplus",
                "director -c /nowhere/director.yaml",
                "director drain n1 --deadline 5",
                "director status --director ftp://x",
                "director status --director 127.0.0.1:1",
                "director join n1 --token-file /nowhere/token",
                "director status --ca /nowhere/ca --director https://127.0.0.1:1"
            })
    void misuseIsOneLineAndCode2(String arguments) {
        assertThat(run(arguments.split(" "))).as(arguments).isEqualTo(2);
        assertThat(err.toString().lines()).as(err.toString()).hasSize(1);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aDirectorThatDoesNotAnswerIsSaidToBeOne() {
        assertThat(run("director", "status", "--director", "127.0.0.1:1")).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("tamanoir director status: cannot connect to http://127.0.0.1:1 (")
                .contains("is the director running, and its admin API there? --director URL names another");
    }

    /** The signal comes while the director asks for the kernel's table, which then is not to be had. */
    @Test
    @Tag("process")
    @EnabledOnOs(OS.LINUX)
    void aSignalWhileTheDirectorStartsDoesNotEndIt() throws Exception {
        Path ipvsadm = Files.writeString(folder.resolve("ipvsadm"), "#!/bin/sh\nkill -HUP $PPID\nexit 1\n");
        Files.setPosixFilePermissions(ipvsadm, PosixFilePermissions.fromString("rwx------"));
        ProcessBuilder program =
                Program.builder("director", "-c", file(SERVICE).toString()).redirectErrorStream(true);
        program.command().addAll(0, List.of("env", "--default-signal=HUP")); // nohup(1) has it ignored.
        program.environment().put("JAVA_TOOL_OPTIONS", "-Dtamanoir.ipvsadm=" + ipvsadm);
        Process director = program.start();
        assertThat(new String(director.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("tamanoir director: ipvsadm");
        assertThat(director.waitFor()).isEqualTo(2);
    }

    @Test
    void keepalivedNeedsASectionVrrp() throws IOException {
        assertThat(run("director", "keepalived", "-c", file(SERVICE).toString()))
                .isEqualTo(2);
        assertThat(err.toString())
                .startsWith("tamanoir director keepalived: the file has no section vrrp: this director is alone");
    }

    @Test
    void keepalivedCannotAskByTlsOrAtAPortThatIsNotKnown() throws IOException {
        Path file = file(SERVICE + "vrrp: {interface: eth0, router-id: 7}\nadmin: {listen: '127.0.0.1:0'}");
        assertThat(run("director", "keepalived", "-c", file.toString())).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("at a port that it knows: add ready: 127.0.0.1:3326 to the section admin");
    }

    private static boolean isUpAndNoLoopback(NetworkInterface device) {
        try {
            return device.isUp() && !device.isLoopback() && device.getName().indexOf('@') < 0;
        } catch (SocketException e) {
            return false;
        }
    }

    @Test
    void keepalivedsFileIsPrintedOrWrittenForItsOwnerAlone() throws Exception {
        String device = NetworkInterface.networkInterfaces()
                .filter(DirectorCommandTest::isUpAndNoLoopback)
                .map(NetworkInterface::getName)
                .findFirst()
                .orElse("");
        Assumptions.assumeFalse(device.isEmpty(), "no network interface but loopback, and keepalived wants another");
        Path file = file(SERVICE + "name: front1\nvrrp: {interface: " + device + ", router-id: 7}\n"
                + "admin: {listen: '*:3325', plain: allowed, ready: '127.0.0.1:3326'}");
        assertThat(run("director", "keepalived", "-c", file.toString()))
                .as("%s", err)
                .isZero();
        assertThat(out.toString())
                .contains("virtual_router_id 7", "/dev/tcp/127.0.0.1/3326", "10.0.0.100/32 dev " + device);
        Path target = folder.resolve("keepalived.conf");
        String printed = out.toString();
        out.getBuffer().setLength(0);
        assertThat(run("director", "keepalived", "-c", file.toString(), "-o", target.toString()))
                .as("%s", err)
                .isZero();
        assertThat(Files.readString(target).lines().toList())
                .isEqualTo(printed.lines().toList());
        assertThat(Files.getPosixFilePermissions(target))
                .containsExactlyInAnyOrder(
                        java.nio.file.attribute.PosixFilePermission.OWNER_READ,
                        java.nio.file.attribute.PosixFilePermission.OWNER_WRITE);
        assertThat(out.toString()).startsWith(target + " written");
        assertThat(run("director", "keepalived", "-c", file.toString(), "-o", folder + "/no/such"))
                .isEqualTo(1);
        try (var left = Files.list(folder)) {
            assertThat(left).hasSize(2);
        }
    }

    @Test
    void thePlanIsPrintedAsLinesForIpvsadmAndChangesNothing() throws Exception {
        Path file = file(SERVICE + "state: " + folder.resolve("state"));
        try (EmptyTable table = new EmptyTable(folder)) {
            assertThat(table.open().read().services()).isEmpty();
            assertThat(run("director", "plan", "-c", file.toString()))
                    .as("%s", err)
                    .isZero();
            assertThat(out.toString().lines())
                    .containsExactly("-A -t 10.0.0.100:3322 -s wlc", "-A -u 10.0.0.100:3322 -s wlc");
            out.getBuffer().setLength(0);
            assertThat(run("director", "plan", "--json", "-c", file.toString())).isZero();
            assertThat(new JsonMapper().readTree(out.toString()).get("lines")).hasSize(2);
            out.getBuffer().setLength(0);
            assertThat(run("director", "remove", "-c", file.toString()))
                    .as("%s", err)
                    .isZero();
            assertThat(out.toString().strip()).isEqualTo("nothing to remove");
        }
    }

    @Test
    void checkTellsWhatEachBackEndLacks() throws Exception {
        try (TestAdmin node = TestAdmin.start();
                EmptyTable table = new EmptyTable(folder)) {
            assertThat(table.open().read().services()).isEmpty();
            String admin = "http://" + Endpoint.toString(node.server.address());
            Path file = file(SERVICE + "back-ends:\n  - {name: there, address: 10.0.0.11, admin: '" + admin + "'}\n"
                    + "  - {name: gone, address: 10.0.0.12, admin: 'http://127.0.0.1:1'}\n");
            assertThat(run("director", "check", "-c", file.toString())).isEqualTo(1);
            assertThat(out.toString())
                    .contains("back-end gone: cannot be reached at http://127.0.0.1:1 (")
                    .contains("note: back-end there: its host was not looked at: it is no member")
                    .doesNotContain("nothing is missing");
            node.manager.ready("it rests");
            out.getBuffer().setLength(0);
            assertThat(run("director", "check", "--json", "-c", file.toString()))
                    .isEqualTo(1);
            JsonNode found = new JsonMapper().readTree(out.toString());
            assertThat(found.get("ok").asBoolean()).isFalse();
            assertThat(found.get("findings").toString()).contains("back-end there", "not ready: it rests");
        }
    }

    @Test
    void aDirectorWithoutIpvsDoesNotStartAndSaysWhy() throws Exception {
        System.setProperty("tamanoir.ipvsadm", folder.resolve("none").toString());
        try {
            assertThat(run("director", "-c", file(SERVICE).toString())).isEqualTo(2);
            assertThat(err.toString().lines()).hasSize(1);
            assertThat(err.toString()).startsWith("tamanoir director: ipvsadm is missing");
        } finally {
            System.clearProperty("tamanoir.ipvsadm");
        }
    }
}
