package org.tamanoir.arena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.arena.ArenaReader.Shown;
import org.tamanoir.support.Tmpfs;
import org.tamanoir.support.Waiting;

@DisabledOnOs(OS.WINDOWS)
@SuppressWarnings("try") // The file is there until it is closed.
class ArenaFileTest {
    @TempDir
    Path folder;

    private final Arena arena = new Arena();

    private Path file() {
        return folder.resolve("arena");
    }

    private static List<Shown> look(Path file) throws IOException {
        return ArenaReader.open(file).look();
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    /** Changes a file that no node has made for itself. */
    private Path changed(Consumer<ByteBuffer> change) throws IOException {
        byte[] content;
        try (ArenaFile made = ArenaFile.create(folder.resolve("other"))) {
            content = Files.readAllBytes(folder.resolve("other"));
        }
        change.accept(ByteBuffer.wrap(content).order(ByteOrder.nativeOrder()));
        return Files.write(file(), content);
    }

    @Test
    void everyOctetStandsWhereItIsDrawn() throws Exception {
        try (ArenaFile made = ArenaFile.create(file())) {
            arena.moveTo(made);
            Slot link = arena.take(SlotKind.LINK, "uplink");
            Slot queue = arena.take(SlotKind.QUEUE, link, "gold");
            queue.set(Fields.WAITING_BYTES, 1234);
            ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(file())).order(ByteOrder.nativeOrder());
            assertThat(all.remaining()).isEqualTo(128 + 1024 * 256);
            assertThat(new String(all.array(), 0, 8, StandardCharsets.US_ASCII)).isEqualTo("TMNARENA");
            assertThat(List.of(all.getInt(8), all.getInt(12), all.getInt(16), all.getInt(20), all.getInt(24)))
                    .containsExactly(0x01020304, 1, 128, 256, 1024);
            assertThat(all.getLong(32)).isEqualTo(ProcessHandle.current().pid());
            int second = 128 + 256;
            assertThat(List.of(
                            all.getInt(second),
                            all.getInt(second + 4),
                            all.getInt(second + 8),
                            all.getInt(second + 12)))
                    .containsExactly(2, 4, 0, 4);
            assertThat(new String(all.array(), second + 16, 4, StandardCharsets.UTF_8))
                    .isEqualTo("gold");
            assertThat(all.getLong(second + 128 + 4 * 8)).isEqualTo(1234);
        }
    }

    @Test
    void aReaderSeesPointsWithTheirClassesAndEachChangeAtOnce() throws Exception {
        try (ArenaFile made = ArenaFile.create(file())) {
            arena.moveTo(made);
            Slot pre = arena.take(SlotKind.POINT, "pre");
            Slot link = arena.take(SlotKind.LINK, "uplink");
            Slot turns = arena.take(SlotKind.TURNS, pre, "gold");
            arena.take(SlotKind.QUEUE, link, "gold");
            ArenaReader reader = ArenaReader.open(file());
            turns.set(Fields.TURNS_RUNNING, 3);
            assertThat(reader.look())
                    .extracting(each -> each.kind() + " " + each.point() + " " + each.name())
                    .containsExactly("POINT pre pre", "TURNS pre gold", "LINK uplink uplink", "QUEUE uplink gold");
            assertThat(reader.look().get(1).numbers()).startsWith(3L);
            turns.set(Fields.TURNS_RUNNING, 4);
            assertThat(reader.look().get(1).numbers()).startsWith(4L);
            arena.give(turns);
            assertThat(reader.look()).extracting(Shown::kind).doesNotContain(SlotKind.TURNS);
        }
    }

    @Test
    void aSlotThatIsTakenAnewIsNotTakenForWhatItWas() throws Exception {
        try (ArenaFile made = ArenaFile.create(file())) {
            arena.moveTo(made);
            Slot before = arena.take(SlotKind.LINK, "before-and-longer");
            before.set(Fields.RATE, 7);
            arena.give(before);
            arena.take(SlotKind.LINK, "after");
            assertThat(look(file()))
                    .containsExactly(new Shown(
                            SlotKind.LINK, "after", "after", List.of(0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L)));
        }
    }

    @Test
    void aNameHasNoControlCharactersForTerminals() throws Exception {
        try (ArenaFile made = ArenaFile.create(file())) {
            arena.moveTo(made);
            arena.take(SlotKind.LINK, "up\u001b[2J\nlink");
            assertThat(look(file()).get(0).name()).isEqualTo("up?[2J?link");
        }
    }

    @Test
    void aNameThatIsTooLongEndsWithAWholeCharacter() throws Exception {
        try (ArenaFile made = ArenaFile.create(file())) {
            arena.moveTo(made);
            arena.take(SlotKind.LINK, "x" + "é".repeat(100));
            assertThat(look(file()).get(0).name()).isEqualTo("x" + "é".repeat(55));
        }
    }

    @Test
    void everybodyMayReadItAndNobodyElseMayWriteItWhateverTheUmaskIs() throws Exception {
        try (ArenaFile made = ArenaFile.create(file())) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
                    .isEqualTo("rw-r--r--");
        }
    }

    @Test
    void anOrderlyEndTellsReadersAndLeavesNothing() throws Exception {
        ArenaReader reader;
        try (ArenaFile made = ArenaFile.create(file())) {
            reader = ArenaReader.open(file());
            assertThat(reader.isLive()).isTrue();
            assertThat(names()).containsExactly("arena");
        }
        assertThat(reader.isLive()).isFalse();
        assertThat(names()).isEmpty();
    }

    @Test
    void whatHasTakenItsNameIsNotRemoved() throws Exception {
        try (ArenaFile made = ArenaFile.create(file())) {
            Files.delete(file());
            Files.writeString(file(), "mine");
        }
        assertThat(file()).hasContent("mine");
    }

    @Test
    void aLivingNodesIsRefused() throws Exception {
        try (ArenaFile made = ArenaFile.create(file())) {
            assertThatThrownBy(() -> ArenaFile.create(file()))
                    .isInstanceOf(IOException.class)
                    .hasMessage("arena " + file() + ": belongs to a node that runs, process "
                            + ProcessHandle.current().pid() + "; name another");
            assertThat(ArenaReader.open(file()).isLive()).isTrue();
        }
    }

    @Test
    void aDeadNodesIsReplacedAndWhoHasMappedItKeepsIt() throws Exception {
        changed(content ->
                content.putLong(40, 1).putLong(48, 1).putInt(128 + 4, SlotKind.LINK.ordinal())); // Begun in 1970.
        ArenaReader before = ArenaReader.open(file());
        assertThat(before.isLive()).isFalse();
        try (ArenaFile made = ArenaFile.create(file())) {
            assertThat(look(file())).isEmpty();
            assertThat(before.look()).hasSize(1);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aClockThatIsSetMakesNoLivingNodeADeadOne() throws Exception {
        changed(content -> content.putLong(40, content.getLong(40) - 3_600_000));

        assertThatThrownBy(() -> ArenaFile.create(file())).hasMessageContaining("belongs to a node that runs");
    }

    @Test
    void withoutTicksTheTimeOfDayTellsADeadNode() throws Exception {
        changed(content -> content.putLong(40, 1).putLong(48, 0));

        assertThat(ArenaReader.open(file()).isLive()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofTwoNodesThatBeginInTheSameMomentOneIsRefused(boolean afterADeadOne) throws Exception {
        for (int round = 0; round < 50; round++) {
            if (afterADeadOne) {
                changed(content -> content.putLong(40, 1).putLong(48, 1));
            }
            CyclicBarrier together = new CyclicBarrier(2);
            List<CompletableFuture<ArenaFile>> nodes = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                nodes.add(Waiting.async(() -> {
                    together.await();
                    return ArenaFile.create(file());
                }));
            }
            List<ArenaFile> made = new ArrayList<>();
            for (CompletableFuture<ArenaFile> node : nodes) {
                try {
                    made.add(node.get(40, TimeUnit.SECONDS));
                } catch (ExecutionException e) {
                    assertThat(e).hasRootCauseInstanceOf(IOException.class).hasMessageContaining("; name another");
                }
            }
            assertThat(made).as("round %s", round).hasSize(1);
            assertThat(names()).as("round %s", round).containsExactly("arena");
            made.get(0).close();
            assertThat(names()).as("it was the one that stood there").isEmpty();
        }
    }

    @Test
    void aLinkIsNotFollowedAndNoOtherFileTouched() throws Exception {
        Path mine = Files.writeString(folder.resolve("mine"), "TMNARENB and more");
        Files.createSymbolicLink(file(), mine);
        assertThatThrownBy(() -> ArenaFile.create(file()))
                .hasMessage("arena " + file() + ": is there and no regular file; remove it, or name another");
        assertThatThrownBy(() -> ArenaFile.create(mine))
                .hasMessage(
                        "arena " + mine
                                + ": is no arena: it does not begin with TMNARENA; it is left alone: remove it, or name another");
        assertThatThrownBy(() -> ArenaFile.create(folder.resolve("none/arena")))
                .hasMessage("arena " + folder.resolve("none/arena")
                        + ": there is no such folder; name a file that the node may make");
        assertThat(mine).hasContent("TMNARENB and more");
        assertThat(names()).containsExactly("arena", "mine");
    }

    @Test
    @Tag("namespace")
    void aFullFileSystemSaysSoAtTheStart() throws Exception {
        try (Tmpfs small = Tmpfs.mount(folder.resolve("small"), "100k")) {
            Path file = small.folder().resolve("arena");
            assertThatThrownBy(() -> ArenaFile.create(file))
                    .hasMessage("arena " + file
                            + ": No space left on device; it needs 262272 bytes: make room, or name another file");
            try (Stream<Path> left = Files.list(small.folder())) {
                assertThat(left).isEmpty();
            }
        }
    }

    @Test
    void whatIsNoArenaIsCutOrOfAnotherVersionIsRefusedInOneLine() throws Exception {
        String name = "arena " + file() + ": ";
        assertThatThrownBy(() -> ArenaReader.open(file())).hasMessage(name + "is not there");
        Files.writeString(file(), "short");
        assertThatThrownBy(() -> ArenaReader.open(file())).hasMessage(name + "is no arena: it has 5 bytes");
        Files.writeString(file(), "TMNARENA");
        assertThatThrownBy(() -> ArenaReader.open(file())).hasMessage(name + "is cut: 8 bytes, and its header has 128");
        changed(content -> content.putInt(12, 2));
        assertThatThrownBy(() -> ArenaReader.open(file())).hasMessage(name + "has layout 2, and this program reads 1");
        changed(content -> content.putInt(8, 0x04030201));
        assertThatThrownBy(() -> ArenaReader.open(file())).hasMessage(name + "has the byte order of another processor");
        changed(content -> content.putInt(24, 1 << 20));
        assertThatThrownBy(() -> ArenaReader.open(file())).hasMessage(name + "has other sizes than layout 1");
        Files.write(file(), Arrays.copyOf(Files.readAllBytes(changed(content -> {})), 1000));
        assertThatThrownBy(() -> ArenaReader.open(file())).hasMessage(name + "is cut: 1000 of 262272 bytes");
    }

    @Test
    void anArenaInUseDoesNotMove() throws Exception {
        arena.take(SlotKind.LINK, "any");
        try (ArenaFile made = ArenaFile.create(file())) {
            assertThatThrownBy(() -> arena.moveTo(made)).isInstanceOf(IllegalStateException.class);
        }
    }
}
