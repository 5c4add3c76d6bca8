package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that HTTP does not know: each is answered with an error of one line, and changes nothing. */
@Timeout(120)
class AdminMalformedTest {
    private static final String CHANGE = "PUT /v1/qos HTTP/1.1|Host: localhost|Authorization: Bearer " + TestAdmin.TOKEN
            + "|Content-Type: application/json|";

    private static TestAdmin node;

    @BeforeAll
    static void start() throws IOException {
        node = TestAdmin.start();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '@',
            value = {
                "CHANGETransfer-Encoding: chunked||zz| @ 400",
                "CHANGETransfer-Encoding: chunked||2|{}|zz| @ 400",
                "CHANGETransfer-Encoding: chunked||-1| @ 400",
                "CHANGEContent-Length: -1|| @ 400",
                "CHANGEContent-Length: 2|Transfer-Encoding: chunked||0|| @ 400",
                "CHANGEExpect: foo|Content-Length: 2||{} @ 417",
                "GET /ui/% HTTP/1.1|Host: localhost|| @ 400",
                "GET /LONG HTTP/1.1|Host: localhost|| @ 414",
                "GET / HTTP/1.1|Host: localhost|X: LONGLONGLONGLONG|| @ 431",
            })
    void whatCannotBeUnderstoodIsAnsweredInJson(String request, int status) throws IOException {
        String answer = node.raw(request.replace("CHANGE", CHANGE)
                .replace("LONG", "x".repeat(5000))
                .replace("|", "\r\n"));

        assertThat(answer)
                .matches("(?s)HTTP/1\\.[01] " + status + " .*")
                .containsIgnoringCase("\r\ncontent-type: application/json\r\n")
                .doesNotContain("\nHTTP/1.")
                .containsPattern("\r\n\r\n\\{\"error\":\"[^\"]+\"}\n?\\z");
    }
}
