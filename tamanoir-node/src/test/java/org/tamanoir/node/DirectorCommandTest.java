package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(60)
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
        assertThat(err.toString()).contains("on a port that it knows, by plain http");
    }
}
