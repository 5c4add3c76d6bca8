package org.tamanoir.support.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.guest.Guest.Boot;
import org.tamanoir.support.guest.GuestResult.Outcome;

/** Which failures of a boot a second one takes back, without a boot. */
@Tag("once")
class GuestRepeatTest {
    private static final String CLASS = "[engine:junit-jupiter]/[class:org.example.RoadInGuest]";

    @TempDir
    private Path folder;

    private static GuestResult result(Outcome outcome, String method) {
        String id = method.isEmpty() ? CLASS : CLASS + "/[method:" + method + "()]";
        return new GuestResult(outcome, "tamanoir-example", "RoadInGuest", method + "()", id, "");
    }

    @Test
    void resultsOfSeveralModulesAreReadEachInItsOrder() throws IOException {
        GuestResult one = new GuestResult(Outcome.FAILED, "m", "AInGuest", "a test", CLASS, "two\nlines\n\tat a frame");
        GuestResult next = new GuestResult(Outcome.PASSED, "m", "AInGuest", "next", CLASS, "");
        GuestResult other = result(Outcome.PASSED, "crosses");
        assertThat(GuestResult.read(folder)).isEmpty();
        one.append(folder);
        other.append(folder);
        next.append(folder);
        Files.writeString(GuestResult.file(folder, "m"), "FAI", StandardOpenOption.APPEND); // the guest crashed
        assertThat(GuestResult.read(folder)).containsExactly(one, next, other);
        GuestResult.clear(folder);
        assertThat(GuestResult.read(folder)).isEmpty();
        assertThat(one.name()).isEqualTo("m: AInGuest.a test");
        assertThat(one.message()).isEqualTo("two lines");
    }

    @Test
    void aTestThatPassesByItselfPasses() {
        GuestResult failed = result(Outcome.FAILED, "crosses");
        assertThat(Guest.passes(failed, new Boot(0, "", List.of(result(Outcome.PASSED, "crosses")))))
                .isTrue();
        assertThat(Guest.passes(failed, new Boot(1, "", List.of(failed)))).isFalse();
        assertThat(Guest.passes(failed, new Boot(2, "", List.of()))).isFalse();
    }

    @Test
    void anotherTestThatFailsAgainDoesNotCount() {
        Boot again = new Boot(1, "", List.of(result(Outcome.PASSED, "crosses"), result(Outcome.FAILED, "turns")));
        assertThat(Guest.passes(result(Outcome.FAILED, "crosses"), again)).isTrue();
        assertThat(Guest.passes(result(Outcome.FAILED, "turns"), again)).isFalse();
    }

    @Test
    void aGuestThatCrashesTakesNothingBack() {
        Boot crashed = new Boot(126, "", List.of(result(Outcome.PASSED, "crosses")));
        assertThat(Guest.passes(result(Outcome.FAILED, "crosses"), crashed)).isFalse();
        assertThat(crashed.endedAsTestsDo()).isFalse();
    }

    @Test
    void aClassPassesWithAllOfItsTests() {
        GuestResult whole = result(Outcome.FAILED, "");
        Boot good = new Boot(0, "", List.of(result(Outcome.PASSED, "crosses"), result(Outcome.SKIPPED, "turns")));
        Boot bad = new Boot(1, "", List.of(result(Outcome.PASSED, "crosses"), result(Outcome.FAILED, "turns")));
        assertThat(whole.isOfClass()).isTrue();
        assertThat(Guest.passes(whole, good)).isTrue();
        assertThat(Guest.passes(whole, bad)).isFalse();
    }
}
