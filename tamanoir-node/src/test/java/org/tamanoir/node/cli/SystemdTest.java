package org.tamanoir.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.NotifyReceiver;

class SystemdTest {
    private static final long PID = 4711;

    @TempDir
    Path folder;

    private Map<String, String> environment(String watchdogUs, String watchdogPid) {
        return Map.of(
                "NOTIFY_SOCKET",
                folder.resolve("notify").toString(),
                "WATCHDOG_USEC",
                watchdogUs,
                "WATCHDOG_PID",
                watchdogPid);
    }

    @Test
    void tellsEachStateInItsWords() throws Exception {
        try (NotifyReceiver receiver =
                NotifyReceiver.at(folder.resolve("notify").toString())) {
            Systemd systemd = Systemd.of(environment("1", "1"), PID);
            systemd.ready("3 routes");
            systemd.alive();
            systemd.stopping(Duration.ofSeconds(10));
            assertThat(receiver.next()).isEqualTo("READY=1\nSTATUS=3 routes");
            assertThat(receiver.next()).isEqualTo("WATCHDOG=1");
            assertThat(receiver.next()).isEqualTo("STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=40000000");
        }
    }

    @Test
    void tellsWhatCameOfAReloadInOneLine() throws Exception {
        try (NotifyReceiver receiver =
                NotifyReceiver.at(folder.resolve("notify").toString())) {
            Systemd systemd = Systemd.of(environment("1", "1"), PID);
            systemd.reloading();
            systemd.reloaded("nothing of it while the process starts");
            systemd.ready("3 routes");
            assertThat(receiver.next()).isEqualTo("READY=1\nSTATUS=3 routes");
            long beforeUs = System.nanoTime() / 1000;
            systemd.reloading();
            systemd.reloaded("refused: one\n  two\n" + "x".repeat(1_000));
            String[] reloading = receiver.next().split("\n");
            assertThat(reloading).hasSize(3).contains("RELOADING=1", "STATUS=reloading");
            assertThat(Long.parseLong(reloading[1].replace("MONOTONIC_USEC=", "")))
                    .isBetween(beforeUs, System.nanoTime() / 1000);
            assertThat(receiver.next())
                    .matches("READY=1\nSTATUS=refused: one; two; x+\\.\\.\\.")
                    .hasSizeLessThan(330);
        }
    }

    @Test
    void beatsTwiceInTheWatchdogsTime() {
        assertThat(Systemd.of(environment("30000000", Long.toString(PID)), PID).watchdogInterval())
                .isEqualTo(Duration.ofSeconds(15));
    }

    @Test
    void doesNotBeatForAnotherProcess() {
        assertThat(Systemd.of(environment("30000000", "1"), PID).watchdogInterval())
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "1s", "99999999999999999"})
    void doesNotBeatWithoutANumberAboveZero(String us) {
        assertThat(Systemd.of(environment(us, Long.toString(PID)), PID).watchdogInterval())
                .isNull();
    }

    @Test
    void goesOnWhereNobodyHears() {
        Systemd.of(environment("1", "1"), PID).ready("");
        Systemd.of(Map.of("NOTIFY_SOCKET", "vsock:2:1"), PID).ready("");
        Systemd.of(Map.of(), PID).ready("");
    }
}
