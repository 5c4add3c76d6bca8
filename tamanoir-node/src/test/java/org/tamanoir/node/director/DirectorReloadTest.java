package org.tamanoir.node.director;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.tamanoir.node.cli.Systemd;
import org.tamanoir.node.config.Problems;
import org.tamanoir.support.SecretFile;

/** A file that is read again takes the tokens for admin APIs, and says what it does not take. */
class DirectorReloadTest {
    private static final URI NODE = URI.create("http://10.0.0.11:3324");
    private static final String FIRST = "first-0123456789abcdef";
    private static final String SECOND = "second-0123456789abcdef";

    @TempDir
    private Path folder;

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final List<Map<URI, String>> taken = new ArrayList<>();

    @BeforeEach
    void listen() {
        log.start();
        logger().addAppender(log);
    }

    @AfterEach
    void ignore() {
        logger().detachAppender(log);
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger(DirectorReload.class);
    }

    private String text(String services) {
        return "services: [{name: anep, address: " + services + "}]\nback-ends: [{name: node1, address: 10.0.0.11, "
                + "admin-token-file: " + folder.resolve("token") + "}]\n";
    }

    private Path write(String text) throws IOException {
        return Files.writeString(folder.resolve("director.yaml"), text);
    }

    private DirectorReload started() throws IOException {
        SecretFile.write(folder.resolve("token"), FIRST);
        Path file = write(text("10.0.0.100"));
        Problems problems = new Problems();
        DirectorSettings settings = DirectorFile.read(file, problems);
        assertThat(problems.lines()).isEmpty();
        assertThat(Objects.requireNonNull(settings).authorizations())
                .containsExactly(Map.entry(NODE, "Bearer " + FIRST));
        DirectorReload reload = new DirectorReload(file, settings, taken::add, Systemd.ofProcess());
        assertThat(taken).containsExactly(Map.of(NODE, "Bearer " + FIRST));
        taken.clear();
        return reload;
    }

    private String line() {
        assertThat(log.list).hasSize(1);
        return log.list.remove(0).getFormattedMessage();
    }

    @Test
    void aTokenOfAnotherDayIsShownFromThenOn() throws Exception {
        DirectorReload reload = started();
        SecretFile.write(folder.resolve("token"), SECOND);
        reload.reload();
        assertThat(taken).containsExactly(Map.of(NODE, "Bearer " + SECOND));
        assertThat(line()).isEqualTo("reloaded: 1 tokens for admin APIs of back-ends");
    }

    @Test
    void whatNeedsARestartIsSaid() throws Exception {
        DirectorReload reload = started();
        write(text("10.0.0.101"));
        reload.reload();
        assertThat(taken).hasSize(1);
        assertThat(line()).endsWith("what else changed needs a restart, which cuts no stream");
    }

    /** The director asks the old address until it is started again. */
    @ParameterizedTest
    @ValueSource(strings = {"address: 10.0.0.12", "address: 10.0.0.11, admin: 'http://10.0.0.11:4000'"})
    void whoIsListedOtherwiseIsShownWhatHeWasUntilARestart(String other) throws Exception {
        DirectorReload reload = started();
        SecretFile.write(folder.resolve("token"), SECOND);
        write(text("10.0.0.100").replace("address: 10.0.0.11", other));
        reload.reload();
        assertThat(taken).hasSize(1);
        assertThat(taken.get(0)).containsEntry(NODE, "Bearer " + FIRST);
        assertThat(line()).endsWith("what else changed needs a restart, which cuts no stream");
    }

    @Test
    void whoLosesHisTokenIsShownNothing() throws Exception {
        DirectorReload reload = started();
        write("services: [{name: anep, address: 10.0.0.100}]\nback-ends: [{name: node1, address: 10.0.0.11}]\n");
        reload.reload();
        assertThat(taken).containsExactly(Map.of());
        assertThat(line()).isEqualTo("reloaded: 0 tokens for admin APIs of back-ends");
    }

    @Test
    void aFileThatIsRefusedChangesNothingAndIsOneLine() throws Exception {
        DirectorReload reload = started();
        write(text("nowhere") + "drain: 60\n");
        reload.reload();
        assertThat(line()).startsWith("reload refused, nothing is changed: ").contains("nowhere", "; ", "drain");
        write(text("10.0.0.100"));
        Files.delete(folder.resolve("token"));
        reload.reload();
        assertThat(line())
                .startsWith("reload refused, nothing is changed: ")
                .contains("token", "there is no such file");
        assertThat(taken).isEmpty();
    }
}
