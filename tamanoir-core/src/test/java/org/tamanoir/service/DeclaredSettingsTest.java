package org.tamanoir.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeclaredSettingsTest {
    @Setting(
            name = "mark",
            kind = Setting.Kind.NUMBER,
            standard = "1",
            min = 0,
            max = 255,
            choices = "none",
            text = "x")
    @Setting(name = "loss", kind = Setting.Kind.DECIMAL, min = 0, max = 100, text = "x")
    @Setting(
            name = "late",
            kind = Setting.Kind.CHOICE,
            choices = {"window", "now"},
            text = "x")
    @Setting(name = "quiet", kind = Setting.Kind.FLAG, text = "x")
    @Setting(name = "to", text = "x")
    private static class Several {}

    @Setting(name = "level", kind = Setting.Kind.NUMBER, min = 1, max = 9, text = "x")
    private static final class One extends Several {}

    @Settings(of = One.class)
    private static final class OfOthers {}

    @Settings
    private static final class None {}

    private static final class Silent extends Several {}

    @Setting(name = "mark", text = "another")
    private static final class Twice extends Several {}

    private static List<String> problems(Class<?> type, Map<String, String> config) {
        return DeclaredSettings.of(type).problems(new ServiceConfig(config));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "ok",
            value = {
                "markk | 7 | markk: no such setting; known: late, loss, mark, quiet, to; did you mean mark?",
                "mark | banana | mark: banana must be a whole number from 0 to 255, or none",
                "mark | 256 | mark: 256 must be a whole number from 0 to 255, or none",
                "mark | none | ok",
                "mark | 0xff | ok",
                "mark | 0XfF | ok",
                "mark | 0 | ok",
                "mark | 010 | mark: 010 must be a whole number from 0 to 255, or none",
                "mark | #10 | mark: #10 must be a whole number from 0 to 255, or none",
                "mark | ٧ | mark: ٧ must be a whole number from 0 to 255, or none",
                "mark | +7 | mark: +7 must be a whole number from 0 to 255, or none",
                "mark | 0x-7 | mark: 0x-7 must be a whole number from 0 to 255, or none",
                "mark | 99999999999999999999 | mark: 99999999999999999999 must be a whole number from 0 to 255, or none",
                "loss | 0.5 | ok",
                "loss | 100.1 | loss: 100.1 must be a number from 0 to 100, as in 0.5",
                "loss | NaN | loss: NaN must be a number from 0 to 100, as in 0.5",
                "loss | 0x1p3 | loss: 0x1p3 must be a number from 0 to 100, as in 0.5",
                "loss | 1d | loss: 1d must be a number from 0 to 100, as in 0.5",
                "loss | ١ | loss: ١ must be a number from 0 to 100, as in 0.5",
                "late | windo | late: windo must be one of now, window; did you mean window?",
                "quiet | yes | quiet: yes must be true or false",
                "to | anything | ok"
            })
    void whatIsDeclaredDecides(String key, String value, String problem) {
        assertThat(problems(Several.class, Map.of(key, value)))
                .isEqualTo(problem == null ? List.of() : List.of(problem));
    }

    @Test
    void superclassesAndOthersThatAreNamedCountToo() {
        assertThat(DeclaredSettings.of(One.class).all())
                .extracting(DeclaredSetting::name)
                .containsExactly("late", "level", "loss", "mark", "quiet", "to");
        assertThat(DeclaredSettings.of(OfOthers.class)).isEqualTo(DeclaredSettings.of(One.class));
    }

    @Test
    void aClassThatDeclaresNothingItselfTakesAnySetting() {
        assertThat(DeclaredSettings.of(Silent.class)).isEqualTo(DeclaredSettings.ANY);
        assertThat(problems(Silent.class, Map.of("markk", "7"))).isEmpty();
    }

    @Test
    void oneThatDeclaresThatItTakesNoneTakesNone() {
        assertThat(problems(None.class, Map.of("mark", "7"))).containsExactly("mark: no such setting; known: none");
    }

    @Test
    void allProblemsAreToldTogether() {
        assertThat(problems(Several.class, Map.of("mark", "x", "loss", "x", "a", "b")))
                .hasSize(3);
        assertThatThrownBy(() -> DeclaredSettings.of(Several.class).require(new ServiceConfig(Map.of("a", "b"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a: no such setting");
    }

    @Test
    void declarationsThatCannotBeMeantAreRefused() {
        assertThatThrownBy(() -> DeclaredSettings.of(Twice.class)).hasMessageContaining("'mark' is declared twice");
        assertThatThrownBy(() -> new DeclaredSetting("", Setting.Kind.TEXT, "", 0, 1, List.of(), "x"))
                .hasMessageContaining("a name has");
        assertThatThrownBy(() -> new DeclaredSetting("a", Setting.Kind.NUMBER, "", 2, 1, List.of(), "x"))
                .hasMessageContaining("min 2 is over max 1");
        assertThatThrownBy(() -> new DeclaredSetting("a", Setting.Kind.CHOICE, "", 0, 1, List.of(), "x"))
                .hasMessageContaining("needs choices");
    }
}
