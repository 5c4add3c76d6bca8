package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.accounting.DropReason;

/** The dashboard's files as a node serves them. */
@Timeout(120)
class DashboardTest {
    /** What a page may take with its libraries, as it is transferred. */
    private static final int MAX_BYTES = 350_000;

    private static TestAdmin node;
    private static String page;
    private static String base;

    @BeforeAll
    static void start() throws Exception {
        node = TestAdmin.start();
        page = node.get("/ui").body();
        Matcher matcher = Pattern.compile("/ui/[0-9a-f]{16}/").matcher(page);
        assertThat(matcher.find()).isTrue();
        base = matcher.group();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    private static String header(TestAdmin.Reply reply, String name) {
        return String.join(",", reply.headers().getOrDefault(name, List.of()));
    }

    /** All files that the page leads to, by what it, they and the list of pages name. */
    private static Set<String> files() throws Exception {
        Set<String> files = new LinkedHashSet<>();
        List<String> texts = new ArrayList<>(List.of(page));
        Pattern named = Pattern.compile("(?:" + base + "|from '\\./|new URL\\(')([\\w.-]+)");
        Matcher pages = Pattern.compile("(?s)const PAGES = \\{(.*?)\\};")
                .matcher(node.get(base + "app.js").body());
        assertThat(pages.find()).isTrue();
        Pattern.compile("'(\\w+)'")
                .matcher(pages.group(1))
                .results()
                .forEach(id -> texts.add("from './" + id.group(1) + ".js"));
        while (!texts.isEmpty()) {
            Matcher matcher = named.matcher(texts.remove(0));
            while (matcher.find()) {
                if (files.add(matcher.group(1))) {
                    TestAdmin.Reply reply = node.get(base + matcher.group(1));
                    assertThat(reply.status()).as(matcher.group(1)).isEqualTo(200);
                    texts.add(reply.body());
                }
            }
        }
        return files;
    }

    @Test
    void nothingComesFromElsewhereOrStandsInline() throws Exception {
        for (String path : List.of("/ui", base + "app.js", base + "chart.js", base + "pico.css")) {
            TestAdmin.Reply reply = node.get(path);
            assertThat(header(reply, "content-security-policy"))
                    .as(path)
                    .isEqualTo("default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                            + "object-src 'none'");
            assertThat(header(reply, "x-content-type-options")).isEqualTo("nosniff");
            assertThat(header(reply, "referrer-policy")).isEqualTo("no-referrer");
            assertThat(header(reply, "cross-origin-opener-policy")).isEqualTo("same-origin");
            assertThat(header(reply, "cross-origin-resource-policy")).isEqualTo("same-origin");
        }
        assertThat(page)
                .doesNotContain("<style", "style=", "//", "data:")
                .doesNotContainPattern("<script(?![^>]* src=)")
                .doesNotContainPattern("\\son\\w+=");
        for (String file : files()) {
            if (!List.of("chart.js", "pico.css", "icon.svg").contains(file)) {
                assertThat(node.get(base + file).body())
                        .as(file)
                        .doesNotContain(
                                "innerHTML",
                                "outerHTML",
                                "insertAdjacentHTML",
                                "document.write",
                                "eval(",
                                "localStorage",
                                "sessionStorage",
                                "cookie");
            }
        }
    }

    @Test
    void filesAreKeptForEverUnderTheirVersionAndThePageIsAskedForAgain() throws Exception {
        TestAdmin.Reply script = node.get(base + "app.js");
        assertThat(script.contentType()).isEqualTo("text/javascript; charset=utf-8");
        assertThat(header(script, "cache-control")).isEqualTo("public, max-age=31536000, immutable");
        TestAdmin.Reply html = node.get("/ui");
        assertThat(html.contentType()).isEqualTo("text/html; charset=utf-8");
        assertThat(header(html, "cache-control")).isEqualTo("no-cache");
        for (String path : List.of("/ui", base + "app.js")) {
            String tag = header(node.get(path), "etag");
            TestAdmin.Reply again = node.send(node.request(path).header("If-None-Match", tag));
            assertThat(again.status()).as(path).isEqualTo(304);
            assertThat(again.body()).isEmpty();
            TestAdmin.Reply compressed =
                    node.send(node.request(path).header("If-None-Match", tag).header("Accept-Encoding", "gzip"));
            assertThat(compressed.status()).as("%s, other bytes", path).isEqualTo(200);
            assertThat(header(compressed, "etag")).isNotEqualTo(tag);
        }
        for (String path : List.of("/ui/0123456789abcdef/app.js", base + "index.html", base)) {
            assertThat(node.get(path).status()).as(path).isEqualTo(404);
        }
        assertThat(node.get(base + "..%2fapp.js").status()).isEqualTo(400);
    }

    @Test
    void whatIsTransferredIsCompressedAndSmall() throws Exception {
        long bytes = 0;
        Set<String> paths = new LinkedHashSet<>(List.of("/ui"));
        files().forEach(file -> paths.add(base + file));
        assertThat(paths).hasSizeGreaterThan(20);
        for (String path : paths) {
            HttpResponse<byte[]> reply = node.client.send(
                    node.request(path).header("Accept-Encoding", "br, gzip").build(),
                    HttpResponse.BodyHandlers.ofByteArray());
            assertThat(reply.headers().firstValue("content-encoding")).hasValue("gzip");
            byte[] plain = new GZIPInputStream(new ByteArrayInputStream(reply.body())).readAllBytes();
            assertThat(new String(plain, StandardCharsets.UTF_8))
                    .isEqualTo(node.get(path).body());
            bytes += reply.body().length;
        }
        System.out.println("dashboard: " + paths.size() + " files, " + bytes + " bytes as transferred");
        assertThat(bytes).isLessThan(MAX_BYTES);
        TestAdmin.Reply refused = node.send(node.request("/ui").header("Accept-Encoding", "gzip;q=0, br"));
        assertThat(refused.headers()).doesNotContainKey("content-encoding");
    }

    @Test
    void everyDropReasonHasItsPlaceInThePicture() throws Exception {
        String picture = node.get(base + "path.js").body();
        List<String> placed = Pattern.compile("'([A-Z_]+)'")
                .matcher(picture)
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(placed)
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(DropReason.values()).map(Enum::name).toList());
    }

    @Test
    void theNodeTellsWhatChangesOnceASecond() throws Exception {
        HttpResponse<Stream<String>> stream =
                node.client.send(node.request("/v1/live").build(), HttpResponse.BodyHandlers.ofLines());
        assertThat(stream.headers().firstValue("content-type")).hasValue("text/event-stream");
        List<String> lines = stream.body()
                .filter(line -> line.startsWith("event:") || line.startsWith("data:"))
                .limit(6)
                .toList();
        stream.body().close();
        assertThat(lines.get(0)).isEqualTo("event: state");
        assertThat(lines.get(1)).contains("\"traffic\":{\"packetsIn\":0", TestAdmin.MONITOR, "\"backEnd\":false");
        assertThat(lines.get(2)).isEqualTo("event: delta");
        assertThat(lines.get(5)).hasSizeLessThan(400).contains("uptimeSeconds").doesNotContain(TestAdmin.MONITOR);
        assertThat(node.get("/metrics").body())
                .contains("tamanoir_live_samplings_total", "tamanoir_live_dropped_total 0");
    }
}
