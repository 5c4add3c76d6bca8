package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Seeds;

/** {@code tamanoir_policy.h} by its own tests: ANEP's test vectors, policies, and random packets at the end of memory. */
@Tag("once")
@Tag("process")
class PolicyHeaderTest {
    private static final int PACKETS = Seeds.scaled(200_000);

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Path folder;

    @Test
    void holdsForVectorsPoliciesAndRandomPackets() throws Exception {
        long seed = Seeds.ofCommit(PolicyHeaderTest.class);

        List<String> said =
                new SanitizedProgram(folder, "policy").run(List.of(), Long.toString(seed), Integer.toString(PACKETS));

        assertThat(said).containsExactly("policy: good, seed " + seed + ", " + PACKETS + " random packets");
    }
}
