package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class StreamSpansTest {
    @Test
    void everySpanThatACollectorDoesNotAnswerForIsMissedThoseWithoutRoomToo() throws Exception {
        int streams = StreamSpans.MAX_WAITING + 1_000;
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            URI endpoint = URI.create("http://127.0.0.1:" + silent.getLocalPort() + "/v1/traces");
            StreamSpans spans = new StreamSpans(endpoint, 1);
            for (int i = 0; i < streams; i++) {
                spans.accept(AccessLogTest.record(i));
            }
            assertThat(spans.missed()).isGreaterThanOrEqualTo(streams - StreamSpans.MAX_WAITING);
            spans.close();
            assertThat(spans.missed()).isEqualTo(streams);
        }
    }
}
