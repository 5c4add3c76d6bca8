package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.support.Waiting;

@Tag("process")
class DestinationsTest {
    @TempDir
    private Path folder;

    private final DestinationTable table = new DestinationTable(20_000, 10_000, 3, 4);

    private Path destinations(boolean isIpv4, int count) throws IOException {
        Path file = folder.resolve("destinations");
        table.writeDestinations(file, isIpv4, count);
        return file;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aDestinationHasTheNextHopOfItsLongestPrefix(boolean isIpv4) throws IOException {
        Path text = folder.resolve("routes");
        try (BufferedWriter out = Files.newBufferedWriter(text)) {
            table.writeRoutes(out, "", isIpv4, hop -> " " + hop);
        }
        List<Route> routes = new ArrayList<>();
        for (String line : Files.readAllLines(text)) {
            String[] words = line.split(" ");
            routes.add(new Route(Prefix.parse(words[0]), FibTable.hop(1 + Integer.parseInt(words[1]))));
        }
        RoutingTable lookUps = new RoutingTable(routes);

        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(destinations(isIpv4, 10_000)));

        assertThat(file.remaining()).isEqualTo(10_000 * DestinationTable.RECORD_BYTES);
        while (file.hasRemaining()) {
            NextHop found = lookUps.lookup(file.getLong(), file.getLong());
            assertThat(found).isEqualTo(FibTable.hop(1 + file.getInt()));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aSinkTellsPacketsOfOtherNextHops() throws Exception {
        try (Processes processes = new Processes()) {
            Child sink = processes.load("destination-sink size=200 sinks=1");

            processes.load(
                    "destination-flood port=%s size=200 ipv4=false destinations=1000 file=%s",
                    sink.ready(), destinations(false, 1000));

            Waiting.eventually().until(() -> {
                long[] sample = sink.ask("sample");
                return sample[2] > 100 && sample[1] - sample[2] > 100;
            });
        }
    }
}
