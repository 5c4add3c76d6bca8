package org.tamanoir.node.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What browsers keep of the page, and when they ask for it anew. */
class AssetsTest {
    private static final Map<String, byte[]> FILES = Map.of("app.js", "1".getBytes(StandardCharsets.UTF_8));

    @Test
    void anotherTextOfThePageAloneIsAnotherPage() {
        Assets before = new Assets(FILES, "<p>old {version}");
        Assets after = new Assets(FILES, "<p>new {version}");
        assertThat(after.version()).as("files may be kept").isEqualTo(before.version());
        assertThat(after.page("node").tag(false))
                .isNotEqualTo(before.page("node").tag(false));
        assertThat(new Assets(FILES, "<p>old {version}").page("node").tag(false))
                .isEqualTo(before.page("node").tag(false));
    }

    @Test
    void anotherFileIsAnotherVersionAndAnotherPage() {
        Assets before = new Assets(FILES, "{version}");
        Assets after = new Assets(Map.of("app.js", "2".getBytes(StandardCharsets.UTF_8)), "{version}");
        assertThat(after.version()).isNotEqualTo(before.version());
        assertThat(after.page("node").tag(true))
                .isNotEqualTo(before.page("node").tag(true));
    }

    @Test
    void eachServerAndEachCodingHasATagOfItsOwn() {
        Assets assets = Assets.read();
        assertThat(new String[] {
                    assets.page("node").tag(false),
                    assets.page("node").tag(true),
                    assets.page("director").tag(false),
                    assets.page("director").tag(true)
                })
                .doesNotHaveDuplicates()
                .allMatch(tag -> tag.matches("\"[0-9a-f]{16}(-gzip)?\""));
    }
}
