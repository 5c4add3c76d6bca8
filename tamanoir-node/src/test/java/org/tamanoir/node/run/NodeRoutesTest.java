package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.config.RouteFiles;

@Timeout(120)
class NodeRoutesTest {
    private static final String CONFIGURED = "routes: [{to: 10.0.0.0/16, via: \"127.0.0.1:9\"}]";

    @TempDir
    Path folder;

    private Path file() throws Exception {
        String routes = IntStream.range(0, 5_000)
                .mapToObj(i -> "10." + (i >> 8) + "." + (i & 0xFF) + ".0/24=127.0.0.1:7\n")
                .collect(Collectors.joining());
        return Files.writeString(folder.resolve("rib"), routes);
    }

    private static String config(LiveNode node) {
        return node.get("/v1/config").get("config").asString();
    }

    @Test
    void theConfigurationInForceCountsTheRoutesOfTheFileThatTheNodeStartedWith() throws Exception {
        Path file = file();
        try (LiveNode node =
                LiveNode.start(folder, CONFIGURED, RouteFiles.read(file, List.of(), RouteFiles.FIRST_PEER), file)) {
            assertThat(config(node))
                    .contains("10.0.0.0/16", "# besides 5000 routes of " + file + ": GET /v1/routes lists them\n")
                    .doesNotContain("10.0.1.0/24");
        }
    }

    @Test
    void theConfigurationInForceCountsTheRoutesOfAFileThatWasLoaded() throws Exception {
        Path file = file();
        try (LiveNode node = LiveNode.start(folder, CONFIGURED)) {
            node.ctl(0, "routes", "load", file.toString());
            node.ctl(0, "routes", "put", "10.99.0.0/16=127.0.0.1:9");
            assertThat(config(node))
                    .contains("10.99.0.0/16", "# besides 5000 routes of " + file + ": GET /v1/routes lists them\n")
                    .doesNotContain("10.0.0.0/16")
                    .doesNotContain("10.0.1.0/24");
        }
    }
}
