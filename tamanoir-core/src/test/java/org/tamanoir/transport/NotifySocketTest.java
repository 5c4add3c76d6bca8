package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.NotifyReceiver;

@Tag("process")
class NotifySocketTest {
    @TempDir
    Path folder;

    @Test
    void aStateArrivesWholeByPath() throws Exception {
        requireArrival(folder.resolve("notify").toString());
    }

    @Test
    void aStateArrivesWholeByAbstractName() throws Exception {
        requireArrival("@tamanoir-test-" + ProcessHandle.current().pid());
    }

    private static void requireArrival(String name) throws Exception {
        try (NotifyReceiver receiver = NotifyReceiver.at(name)) {
            new NotifySocket(name).send("READY=1\nSTATUS=hört");
            assertThat(receiver.next()).isEqualTo("READY=1\nSTATUS=hört");
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aSocketThatNobodyHearsIsOneLine() {
        String name = folder.resolve("nobody").toString();
        assertThatIOException()
                .isThrownBy(() -> new NotifySocket(name).send("READY=1"))
                .withMessage("cannot notify " + name + ": No such file or directory");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "@", "relative", "vsock:2:1234"})
    void refusesWhatNamesNoSocket(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new NotifySocket(name))
                .withMessageStartingWith("'" + name + "' is no socket to notify: ");
    }

    @Test
    void refusesANameThatIsTooLong() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new NotifySocket("/".repeat(108)))
                .withMessageEndingWith("of 2 to 107 bytes");
    }
}
