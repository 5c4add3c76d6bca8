package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

class ManifestTest {
    private static final String DIGEST = "0123456789abcdef".repeat(4);
    private static final Manifest FOO = new Manifest(
            new ServiceId("org.example.Foo", "1.0"),
            "org.example.Foo",
            DIGEST,
            30212,
            List.of("jvm"),
            new ServiceLimits(0.5, 0),
            "says \"a\\b\"");
    private static final String TEXT = """
            {
              "format" : 1,
              "name" : "org.example.Foo",
              "version" : "1.0",
              "key" : "8da134a4c1109d43",
              "mainClass" : "org.example.Foo",
              "jarSha256" : "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
              "jarOctets" : 30212,
              "levels" : [ "jvm" ],
              "limits" : { "processors" : 0.5, "allocationOctetsPerSecond" : 0 },
              "description" : "says \\"a\\\\b\\""
            }
            """;

    @Test
    void theVectorIsWrittenAndRead() throws Exception {
        assertThat(FOO.encode()).asString(StandardCharsets.UTF_8).isEqualTo(TEXT);
        assertThat(Manifest.decode(bytes(TEXT))).isEqualTo(FOO);
    }

    @Test
    void allThatCanBeMadeCanBeReadBack() throws Exception {
        for (double processors : new double[] {0, -0.0, 0.001, 0.1, 1, 3.125, 1024}) {
            Manifest manifest = new Manifest(
                    new ServiceId("F", "1.0-rc1"),
                    "a.B$C",
                    DIGEST,
                    Manifest.MAX_JAR_BYTES,
                    List.of("jvm", "kernel", "nic"),
                    new ServiceLimits(processors, Long.MAX_VALUE),
                    "d\u00e9j\u00e0 vu \u8336 \ud83d\ude00 %s");
            assertThat(Manifest.decode(manifest.encode())).isEqualTo(manifest);
        }
    }

    @Test
    void theBytesDoNotDependOnTheLanguageOfTheHost() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
            assertThat(FOO.encode()).asString(StandardCharsets.UTF_8).isEqualTo(TEXT);
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void ownFieldsArePassedOver() throws Exception {
        String text = TEXT.replace("{\n", "{ \"x-built\" : { \"by\" : [ 1, null, { } ] }, \"x-b\" : 2,\n");
        assertThat(Manifest.decode(bytes(text))).isEqualTo(FOO);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "\"format\" : 1 | \"format\" : 2 | format 2",
                "\"format\" : 1 | \"format\" : \"1\" | format",
                "\"format\" : 1, | ~~ | field format: it is missing",
                "org.example.Foo\", | ../../etc\", | service name '../../etc'",
                "\"version\" : \"1.0\" | \"version\" : \"1.1\" | key '8da134a4c1109d43': that of org.example.Foo:1.1",
                "8da134a4c1109d43 | 8DA134A4C1109D43 | key '8DA134A4C1109D43'",
                "\"mainClass\" : \"org.example.Foo | \"mainClass\" : \"a/b | mainClass 'a/b'",
                "\"mainClass\" : \"org.example.Foo\" | \"mainClass\" : null | field mainClass: it must be text",
                "89abcdef\", | 89abcdeF\", | jarSha256",
                "30212 | 0 | jarOctets 0",
                "30212 | -1 | jarOctets -1",
                "30212 | 30212.0 | field jarOctets: it must be a whole number",
                "30212 | 1e5 | field jarOctets: it must be a whole number",
                "30212 | 99999999999999999999 | line 8",
                "30212 | 268435457 | jarOctets 268435457: must be 1 to 268435456",
                "[ \"jvm\" ] | [ ] | levels []",
                "[ \"jvm\" ] | [ \"jvm\", \"jvm\" ] | levels [jvm, jvm]",
                "[ \"jvm\" ] | [ \"gpu\" ] | 'gpu' must be one of jvm, kernel, nic",
                "[ \"jvm\" ] | [ [ ] ] | field levels: it must be text",
                "[ \"jvm\" ] | \"jvm\" | field levels: it must be a list",
                "0.5 | 1e999999999 | limits of Infinity processors",
                "0.5 | -1 | limits of -1.0 processors",
                "0.5 | 0.0001 | limits.processors 1.0E-4",
                "0.5 | NaN | line 10",
                "0.5 | \"0.5\" | field processors: it must be a number",
                "\"processors\" : 0.5, | ~~ | field limits.processors: it is missing",
                "\"processors\" : 0.5, | \"processors\" : 0.5, \"threads\" : 1, | field 'threads'",
                "says | a\\nb | description 'a?b",
                "says | a\\u202eb | description 'a?b",
                "says | \\ud800 | description '?",
                "\"format\" : 1, | \"format\" : 1, \"format\" : 1, | line 2",
                "\"processors\" : 0.5, | \"processors\" : 0.5, \"processors\" : 0.6, | line 10",
                "\"format\" : 1, | \"format\" : 1, \"run\" : true, | field 'run': there is no such field",
                "\"format\" : 1, | \"format\" : 1, /* one */ | line 2",
                "\"format\" : 1, | \"format\" : 1,, | line 2",
                "\"format\" | 'format' | line 2",
            })
    void whatIsWrongIsSaidInOneLine(String good, String bad, String said) {
        assertThat(TEXT).contains(good);
        refused(bytes(TEXT.replaceFirst(java.util.regex.Pattern.quote(good), bad.replace("\\", "\\\\"))), said);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "null", "[]", "1", "\"manifest\"", "{", "{}", "\u0000", "\ufeff{}", "{}{}"})
    void whatIsNoManifestIsRefused(String text) {
        refused(bytes(text), "");
    }

    @Test
    void anythingBehindTheObjectIsRefused() {
        refused(bytes(TEXT + "{}"), "something stands behind");
        refused(bytes(TEXT + "x"), "line 13");
    }

    @Test
    void onlyUtf8IsRead() {
        refused(TEXT.getBytes(StandardCharsets.UTF_16), "UTF-8");
        refused(TEXT.replace("says", "d\u00e9j\u00e0").getBytes(StandardCharsets.ISO_8859_1), "UTF-8");
    }

    @Test
    void sizeAndDepthAreBounded() {
        refused(bytes(TEXT + " ".repeat(1 << 20)), "bytes: at most 16384");
        refused(bytes("[".repeat(16_000)), "");
        refused(bytes(TEXT.replace("{\n", "{ \"x-deep\" : " + "[".repeat(8) + "]".repeat(8) + ",\n")), "depth");
        refused(bytes(TEXT.replace("0.5", "9".repeat(5000))), "5000");
        refused(bytes(TEXT.replace("says", "s".repeat(501))), "description 'ssss");
    }

    @Test
    void alteredManifestsAreReadOrRefusedAndNothingElse() {
        byte[] good = bytes(TEXT);
        long seed = Seeds.ofCommit(ManifestTest.class);
        Random random = new Random(seed);
        for (int i = 0; i < Seeds.scaled(20_000); i++) {
            byte[] json = Arrays.copyOf(good, random.nextInt(8) == 0 ? random.nextInt(good.length) : good.length);
            for (int n = random.nextInt(3); n >= 0 && json.length > 0; n--) {
                json[random.nextInt(json.length)] = (byte) random.nextInt(256);
            }
            try {
                Manifest.decode(json);
            } catch (CodeRefusedException e) {
                assertThat(e).hasMessageNotContaining("\n");
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed + ", round " + i, e);
            }
        }
    }

    @Test
    void aManifestThatCouldNotBeReadCannotBeMade() {
        ServiceId id = FOO.id();
        assertThatThrownBy(() -> new Manifest(id, "Foo", DIGEST, 1, List.of("jvm"), ServiceLimits.NONE, "two\nlines"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("description 'two?lines': one line");
        assertThatThrownBy(() -> new Manifest(id, "Foo", DIGEST, 1, List.of("jvm"), new ServiceLimits(1.0 / 3, 0), ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most three digits behind the point");
    }

    private static void refused(byte[] json, String said) {
        CodeRefusedException refused = catchThrowableOfType(CodeRefusedException.class, () -> Manifest.decode(json));
        assertThat(refused)
                .isNotNull()
                .hasMessageStartingWith("manifest that cannot be read: ")
                .hasMessageContaining(said)
                .hasMessageEndingWith("publish the service again")
                .hasMessageNotContaining("\n");
        assertThat(String.valueOf(refused.getMessage())).hasSizeLessThan(500);
        assertThat(refused.refusal()).isEqualTo(Refusal.MALFORMED);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
