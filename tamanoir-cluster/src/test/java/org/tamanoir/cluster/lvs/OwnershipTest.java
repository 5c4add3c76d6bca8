package org.tamanoir.cluster.lvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.cluster.lvs.Tables.tcp;
import static org.tamanoir.cluster.lvs.Tables.udp;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Waiting;

@Tag("process")
class OwnershipTest {
    private static final Set<VirtualAddress> TWO = Set.of(tcp("10.0.0.1:3322"), udp("[fd00::1]:3322"));

    @TempDir
    private Path folder;

    @Test
    void whatIsOwnedIsKnownAfterARestart() throws Exception {
        try (Ownership first = Ownership.open(folder.resolve("state"))) {
            assertThat(first.owned()).isEmpty();
            first.own(TWO);
            assertThat(first.owned()).isEqualTo(TWO);
        }
        try (Ownership second = Ownership.open(folder.resolve("state"))) {
            assertThat(second.owned()).isEqualTo(TWO);
            second.own(Set.of(tcp("10.0.0.1:3322")));
        }
        assertThat(Ownership.look(folder.resolve("state"))).containsExactly(tcp("10.0.0.1:3322"));
    }

    @Test
    void itCanBeLookedAtWhileItIsHeld() throws Exception {
        assertThat(Ownership.look(folder)).isEmpty();
        try (Ownership held = Ownership.open(folder)) {
            held.own(TWO);
            assertThat(Ownership.look(folder)).isEqualTo(TWO);
        }
    }

    @Test
    void theRecordOfAnotherBootOrNamespaceIsAsGoodAsNone() throws Exception {
        OwnershipRecord.Place here = OwnershipRecord.here();
        OwnershipRecord.write(folder, new OwnershipRecord.Place("another", here.namespace()), TWO);
        assertThat(Ownership.look(folder)).isEmpty();
        OwnershipRecord.write(folder, new OwnershipRecord.Place(here.boot(), "1"), TWO);
        try (Ownership ownership = Ownership.open(folder)) {
            assertThat(ownership.owned()).isEmpty();
            ownership.own(Set.of(tcp("10.0.0.1:3322")));
        }
        assertThat(Ownership.look(folder)).containsExactly(tcp("10.0.0.1:3322"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{\"services\": []}",
                "tamanoir virtual services 2\nboot a\nnamespace 1\nend\n",
                "tamanoir virtual services 1\nboot a\nnamespace 1\ntcp 10.0.0.1:3322\n",
                "tamanoir virtual services 1\nboot a\nnamespace 1\ntcp localhost:3322\nend\n",
                "tamanoir virtual services 1\nboot a\nnamespace 1\nsctp 10.0.0.1:3322\nend\n",
                "tamanoir virtual services 1\nboot a\nnamespace 1\ntcp\nend\n"
            })
    void somethingElseInItsPlaceIsAnErrorThatSaysWhatToDo(String text) throws Exception {
        Files.writeString(folder.resolve(OwnershipRecord.FILE), text);
        assertThatThrownBy(() -> Ownership.open(folder))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining(folder.resolve(OwnershipRecord.FILE) + " is not a record of virtual services")
                .hasMessageContaining("remove it")
                .message()
                .doesNotContain("\n");
        Files.delete(folder.resolve(OwnershipRecord.FILE));
        Ownership.open(folder).close(); // the failed one has let it go
    }

    @Test
    void anotherOfTheSameProcessIsRefusedAndDoesNotLoseTheLock() throws Exception {
        try (Ownership held = Ownership.open(folder)) {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> Ownership.open(folder))
                        .isInstanceOf(ClusterException.class)
                        .hasMessage("another director holds the state folder " + folder + ": process "
                                + ProcessHandle.current().pid() + ": end it, or give this one a folder of its own");
            }
            held.own(TWO);
            assertThat(tryInAnotherProcess().strip())
                    .contains("process " + ProcessHandle.current().pid());
        }
        assertThat(tryInAnotherProcess().strip()).isEqualTo("opened");
    }

    @Test
    void theLockOfAKilledProcessIsFree() throws Exception {
        Process other = another("hold");
        try (BufferedReader output = other.inputReader()) {
            assertThat(output.readLine()).isEqualTo("opened");
            assertThatThrownBy(() -> Ownership.open(folder)).hasMessageContaining(": process " + other.pid() + ":");
        } finally {
            other.destroyForcibly();
        }
        assertThat(other.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        Ownership.open(folder).close();
    }

    @Test
    void whatIsClosedWritesNothing() throws Exception {
        Ownership ownership = Ownership.open(folder);
        ownership.close();
        ownership.close();
        assertThatThrownBy(() -> ownership.own(TWO)).hasMessageContaining("closed");
        assertThat(folder.resolve(OwnershipRecord.FILE)).doesNotExist();
    }

    private String tryInAnotherProcess() throws Exception {
        Process other = another("try");
        try (BufferedReader output = other.inputReader()) {
            return output.readLine();
        } finally {
            other.destroyForcibly();
        }
    }

    private Process another(String what) throws Exception {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        folder.toString(),
                        what))
                .redirectErrorStream(true)
                .start();
    }

    /** A director's process that opens a record, says so or why not, and holds it until its input ends. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] arguments) throws Exception {
            try {
                Ownership ownership = Ownership.open(Path.of(arguments[0]));
                System.out.println("opened");
                if (arguments[1].equals("hold")) {
                    System.in.transferTo(System.err);
                }
                ownership.close();
            } catch (ClusterException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
