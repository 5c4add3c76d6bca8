package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class HttpCallsTest {
    /** A JVM of its own, since the size of the common pool is settled when it is first used. */
    @Test
    @Tag("process")
    void aServiceThatHoldsTheCommonPoolHoldsUpNoCall() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HeldPool.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(child.waitFor(40, TimeUnit.SECONDS)).isTrue();
            assertThat(new String(child.getInputStream().readNBytes(4096), StandardCharsets.UTF_8))
                    .endsWith("came: hello" + System.lineSeparator());
        } finally {
            child.destroyForcibly();
        }
    }

    @Test
    void aClosedOneTakesNoCall() {
        HttpCalls calls = new HttpCalls("test", HttpCalls.client(null));
        calls.close();
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:1/")).build();
        assertThatThrownBy(() -> calls.send(request, head -> BoundedBody.text(1), () -> {}))
                .isInstanceOf(RejectedExecutionException.class);
    }

    static final class HeldPool {
        public static void main(String[] args) throws Exception {
            CountDownLatch held = new CountDownLatch(2);
            for (int i = 0; i < 2; i++) {
                ForkJoinPool.commonPool().execute(() -> {
                    held.countDown();
                    while (true) {
                        try {
                            Thread.currentThread().join();
                        } catch (InterruptedException e) {
                            continue;
                        }
                    }
                });
            }
            held.await();
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
                exchange.sendResponseHeaders(200, 5);
                exchange.getResponseBody().write("hello".getBytes(StandardCharsets.UTF_8));
                exchange.close();
            });
            server.start();
            HttpCalls calls = new HttpCalls("test", HttpCalls.client(null));
            URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
            Future<HttpResponse<String>> call =
                    calls.send(HttpRequest.newBuilder(uri).build(), head -> BoundedBody.text(5), () -> {});
            System.out.println("came: " + call.get(40, TimeUnit.SECONDS).body());
            System.exit(0);
        }
    }
}
