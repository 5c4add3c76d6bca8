package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteFileException;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.Waiting;

class RouteFilesTest {
    @TempDir
    Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("routes"), text);
    }

    @Test
    void prefixesWithoutANextHopGoToTheOnesGiven() throws Exception {
        Route own = RouteTable.parse("10.0.0.0/8=127.0.0.1:1,udp,host");
        Route given = RouteTable.parse("11.0.0.0/8=127.0.0.1:2,tcp,host");
        Path file = file("10.0.0.0/8=127.0.0.1:1,udp,host\n11.0.0.0/8\n");
        RoutingTable table = new RoutingTable();
        table.replace(RouteFiles.read(file, List.of("127.0.0.1:2,tcp,host"), RouteFiles.FIRST_PEER));

        assertThat(table.get(own.prefix())).isEqualTo(own);
        assertThat(table.get(given.prefix())).isEqualTo(given);
    }

    @Test
    void aNextHopThatIsNoneIsNamed() throws Exception {
        Path file = file("11.0.0.0/8\n");

        assertThatThrownBy(() -> RouteFiles.read(file, List.of("127.0.0.1:x"), RouteFiles.FIRST_PEER))
                .isInstanceOf(RouteFileException.class)
                .hasMessageStartingWith("--via 127.0.0.1:x: ");
    }

    @Test
    void aMissingFileIsNamed() {
        Path missing = folder.resolve("none");

        assertThatThrownBy(() -> RouteFiles.read(missing, List.of(), RouteFiles.FIRST_PEER))
                .hasMessage(missing + ": cannot be read: no such file, or no permission; correct the path");
    }

    /** As where somebody has put it there since the path was looked at. */
    @Test
    @Tag("process")
    void aPipeThatNobodyWritesIsRefusedAtOnce() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();

        assertThat(Waiting.async(() -> RouteFiles.readRegular(pipe, List.of(), RouteFiles.FIRST_PEER)))
                .failsWithin(Waiting.PATIENCE)
                .withThrowableThat()
                .withMessageContaining(pipe + ": cannot be read: ");
    }

    @Test
    void aRegularFileIsReadThroughALink() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), file("10.0.0.0/8=127.0.0.1:1\n"));

        assertThat(RouteFiles.readRegular(link, List.of(), RouteFiles.FIRST_PEER)
                        .size())
                .isOne();
    }
}
