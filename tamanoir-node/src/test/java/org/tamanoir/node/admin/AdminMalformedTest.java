package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
                "GET /v1/node/ HTTP/1.1|Host: localhost|| @ 404",
                "GET /v1/services/x/?limit=5 HTTP/1.1|Host: localhost|| @ 404",
                "GET /ui/ HTTP/1.1|Host: localhost|| @ 404",
                "GET http://localhost/health/ HTTP/1.1|Host: localhost|| @ 404",
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

    /** A body of a change whose octets are those of ISO-8859-1. */
    private static String put(String body) {
        return CHANGE + "Content-Length: " + body.length() + "|Connection: close||" + body;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"\u00ff\":1}", "{\"a\":\"\u00c1\u0081\"}", "{\"a\":\"\u00ed\u00a0\u0080\"}",
                        "{\"a\":\"\u00f4\u0090\u0080\u0080\"}",
                "{\"a\":\"\\ud83d\"}", "{\"\\ude00\":1}", "{\"a\":1e400}", "{\"a\":1e-400}"
            })
    void aBodyThatWouldBeReadAsAnotherIsRefused(String body) throws IOException {
        assertThat(node.raw(put(body).replace("|", "\r\n")))
                .startsWith("HTTP/1.1 400 ")
                .contains("{\"error\":\"the body is ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/services?match=%FF",
                "/v1/services?match=%C1%81",
                "/v1/services?match=%ED%A0%80",
                "/v1/services?match=\u00ff",
                "/v1/services?%C3=1",
                "/v1/services/%FF",
                "/v1/routes?limit=%D9%A3",
                "/v1/routes?limit=%F5%80%80%80"
            })
    void anAddressThatWouldBeReadAsAnotherIsRefused(String target) throws IOException {
        String head = "GET " + target + " HTTP/1.1|Host: localhost|Authorization: Bearer " + TestAdmin.TOKEN
                + "|Connection: close||";
        assertThat(node.raw(head.replace("|", "\r\n"))).startsWith("HTTP/1.1 400 ");
    }

    @Test
    void octetsOfUtf8AreTaken() throws IOException {
        String head = "GET /v1/services?match=%C3%A9%F0%9F%98%80 HTTP/1.1|Host: localhost|Authorization: Bearer "
                + TestAdmin.TOKEN + "|Connection: close||";
        assertThat(node.raw(head.replace("|", "\r\n"))).startsWith("HTTP/1.1 200 ");
    }
}
