package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;

class IndexTest {
    private static final Instant TIME = Instant.parse("2026-11-21T08:00:00.5Z");
    private static final IndexEntry ENTRY =
            IndexEntry.of(Sample.of("org.example.Foo:1.0", 10).manifest(), "0123456789abcdef", TIME, null);

    private static String text(IndexEntry... entries) {
        return new String(new Index(Index.FORMAT, List.of(entries)).encode(), StandardCharsets.UTF_8);
    }

    @Test
    void whatIsWrittenIsReadAgain() throws IOException {
        IndexEntry yanked = IndexEntry.of(
                Sample.of("org.example.Foo:1.1", 10).manifest(), "0123456789abcdef", TIME, "a \"reason\"");
        assertThat(Index.decode(text(ENTRY, yanked).getBytes(StandardCharsets.UTF_8))
                        .services())
                .containsExactly(ENTRY, yanked);
        assertThat(text(ENTRY))
                .startsWith("{\"format\":1,\"services\":[{\"name\":\"org.example.Foo\",\"version\":\"1.0\",\"key\":\"")
                .endsWith(",\"published\":\"2026-11-21T08:00:00Z\",\"yanked\":null}]}");
    }

    @Test
    void aLongDescriptionIsCutBetweenCharacters() {
        Manifest sample = Sample.of("org.example.Foo:1.0", 10).manifest();
        Manifest manifest = new Manifest(
                sample.id(),
                sample.mainClass(),
                sample.jarSha256(),
                10,
                List.of("jvm"),
                ServiceLimits.NONE,
                "x" + "\ud83d\udc3e".repeat(150));
        String shown = IndexEntry.of(manifest, "0123456789abcdef", TIME, null).description();
        assertThat(shown).isEqualTo("x" + "\ud83d\udc3e".repeat(99));
    }

    @ParameterizedTest
    @CsvSource({
        "\"org.example.Foo\", \"../../etc\"",
        "\"1.0\", \"../1.0\"",
        "\"octets\":10, \"octets\":0",
        "\"octets\":10, \"octets\":\"many\"",
        "0123456789abcdef, 0123456789ABCDEF",
        "2026-11-21, yesterday",
        "\"yanked\":null, \"yanked\":\"\"",
        "\"sha256\":\", \"sha256\":\"x",
        "\"key\":\", \"key\":\"0",
        "\"description\":, \"other\":",
        "\"format\":1, \"format\":2"
    })
    void anEntryThatCannotBeOneIsRefusedInOneLine(String good, String bad) {
        String altered = text(ENTRY).replace(good, bad);
        assertThat(altered).isNotEqualTo(text(ENTRY));
        assertThatThrownBy(() -> Index.decode(altered.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(IOException.class)
                .hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "[]", "{}", "{\"format\":1}", "<html>", "{\"format\":1,\"services\":[null]}"})
    void whatIsNoIndexIsRefusedInOneLine(String text) {
        assertThatThrownBy(() -> Index.decode(text.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(IOException.class)
                .hasMessageNotContaining("\n");
    }

    @Test
    void moreVersionsThanARepositoryHoldsAreRefused() {
        IndexEntry[] many = new IndexEntry[Index.MAX_VERSIONS + 1];
        java.util.Arrays.fill(many, ENTRY);
        assertThat(ServiceId.parse("org.example.Foo:1.0")).isEqualTo(ENTRY.id());
        assertThatThrownBy(() -> Index.decode(text(many).getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("20001 versions");
    }
}
