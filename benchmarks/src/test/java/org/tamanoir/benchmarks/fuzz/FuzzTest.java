package org.tamanoir.benchmarks.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

/**
 * A slice of each fuzzer, by rounds; {@code -Dfuzz.seconds=60} makes it one of so many seconds, {@code -Dfuzz.seed=N}
 * one that was seen before.
 */
@Tag("once")
@Tag("process")
class FuzzTest {
    private static final Path NODE_JAR = Path.of("..", "tamanoir-node", "target", "tamanoir-node.jar");

    private static final long SEED = Seeds.ofCommit(FuzzTest.class);

    private static void run(FuzzTarget target, int rounds) throws Exception {
        int seconds = Seeds.number("fuzz.seconds", 0);
        StringWriter said = new StringWriter();
        try (target) {
            boolean isGood = Fuzz.run(
                    target,
                    SEED,
                    seconds == 0 ? Long.MAX_VALUE : TimeUnit.SECONDS.toNanos(seconds),
                    seconds == 0 ? Seeds.scaled(rounds) : Long.MAX_VALUE,
                    new PrintWriter(said));
            System.out.print(said);
            assertThat(isGood).as(said.toString()).isTrue();
        }
    }

    @Test
    void theCodecParsesAsTheReference() throws Exception {
        run(new AnepCodecFuzz(), 300);
    }

    @Test
    void datagramsLeaveOrEndAsTheReferenceSays() throws Exception {
        run(new AnepUdpFuzz(), 200);
    }

    @Test
    void streamsLeaveOrEndAsTheReferenceSays() throws Exception {
        run(new AnepTcpFuzz(), 200);
    }

    @Test
    void manifestsAreReadOrRefused() throws Exception {
        run(new ManifestFuzz(), 20);
    }

    @Test
    void theAdminApiAnswersOrRefuses() throws Exception {
        assumeTrue(Files.exists(NODE_JAR), "SKIPPED: the node's jar is not built: mvn package");
        run(HttpFuzz.ofJar(NODE_JAR, "-XX:TieredStopAtLevel=1"), 20);
    }
}
