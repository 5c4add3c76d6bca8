package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;

/** Fetching by https. */
class CodeFetcherTlsTest {
    @TempDir
    private Path dir;

    private CodeFetcherRepository repository;
    private TestAuthority authority;
    private Manifest manifest;
    private @Nullable HttpsServer server;

    @BeforeEach
    void publish() throws IOException {
        repository = new CodeFetcherRepository(dir.resolve("made"));
        authority = new TestAuthority(Files.createDirectory(dir.resolve("tls")), "authority");
        manifest = repository.publish("1.0", 50_000);
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.stop(0);
        }
    }

    private URI start(TlsFiles files) throws IOException {
        HttpsServer made = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server = made;
        SSLContext context = files.context();
        made.setHttpsConfigurator(new HttpsConfigurator(context) {
            @Override
            public void configure(HttpsParameters parameters) {
                SSLParameters wanted = context.getDefaultSSLParameters();
                wanted.setNeedClientAuth(files.requireClient());
                parameters.setSSLParameters(wanted);
            }
        });
        made.createContext("/code/", exchange -> {
            byte[] file =
                    repository.files.get(exchange.getRequestURI().getPath().substring("/code/".length()));
            exchange.sendResponseHeaders(file == null ? 404 : 200, file == null ? -1 : file.length);
            if (file != null) {
                exchange.getResponseBody().write(file);
            }
            exchange.close();
        });
        made.start();
        return URI.create("https://127.0.0.1:" + made.getAddress().getPort() + "/code/");
    }

    private ServicePackage fetch(URI address, @Nullable SSLContext tls) throws Exception {
        CodeFetcher.Settings usual = CodeFetcher.Settings.of(List.of(address));
        CodeFetcher.Settings settings = new CodeFetcher.Settings(
                usual.mirrors(),
                Duration.ofSeconds(30), // a handshake on a busy host
                usual.idleTimeout(),
                usual.totalTimeout(),
                usual.maxJarBytes(),
                usual.maxUnpackedBytes(),
                usual.backOffMin(),
                usual.backOffMax(),
                tls,
                usual.checkpoints());
        try (CodeCache cache = CodeCache.open(dir.resolve("cache"), 1 << 20);
                CodeFetcher fetcher = new CodeFetcher(settings, cache, repository::trust)) {
            return fetcher.fetch(manifest.id().key(), null);
        }
    }

    @Test
    void fromAServerThatAnAuthorityVouchesFor() throws Exception {
        URI address = start(authority.files("server"));
        ServicePackage code = fetch(address, authority.trusting().context());
        assertThat(code.manifest()).isEqualTo(manifest);
        assertThat(code.source()).isEqualTo("repository " + address.toString().replaceAll("/$", ""));
    }

    @Test
    void withACertificateOfItsOwnWhereTheServerWantsOne() throws Exception {
        URI address = start(authority.files("server", true, "127.0.0.1"));
        assertThat(fetch(address, authority.files("node").context()).manifest()).isEqualTo(manifest);
        SmallFile.remove(dir.resolve("cache"));
        assertThatThrownBy(() -> fetch(address, authority.trusting().context()))
                .isInstanceOf(CodeUnavailableException.class);
    }

    @Test
    void notFromAServerOfAnotherAuthority() throws Exception {
        TestAuthority other = new TestAuthority(Files.createDirectory(dir.resolve("other")), "other");
        URI address = start(other.files("server"));
        assertThatThrownBy(() -> fetch(address, authority.trusting().context()))
                .isInstanceOf(CodeUnavailableException.class)
                .hasMessageContaining("TLS failed")
                .hasMessageNotContaining("\n");
        assertThatThrownBy(() -> fetch(address, null)).hasMessageContaining("TLS failed");
    }

    @Test
    void notFromAServerWithAnothersCertificate() throws Exception {
        URI address = start(authority.files("server", false, "192.0.2.1"));
        assertThatThrownBy(() -> fetch(address, authority.trusting().context()))
                .isInstanceOf(CodeUnavailableException.class)
                .hasMessageContaining("TLS failed");
    }
}
