package org.tamanoir.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TlsSessionTest {
    private static final InetSocketAddress SERVER = new InetSocketAddress("127.0.0.1", 3322);

    @TempDir
    private Path folder;

    private TestAuthority authority;

    @BeforeEach
    void makeAuthority() {
        authority = new TestAuthority(folder, "authority");
    }

    /** One side with what has come to it and not been read. */
    private static final class Side {
        final TlsSession session;
        final ByteBuffer arrived = ByteBuffer.allocate(1 << 20).limit(0);
        final ByteBuffer plain = ByteBuffer.allocate(1 << 20);
        int end;

        Side(TlsSession session) {
            this.session = session;
        }

        TlsSession.Need receive() throws SSLException {
            return session.receive(arrived, plain);
        }

        void send(ByteBuffer bytes, Side to) throws SSLException {
            ByteBuffer inbox = to.arrived;
            do {
                int from = inbox.position();
                inbox.limit(inbox.capacity()).position(to.end);
                try {
                    session.send(bytes, inbox);
                } finally {
                    to.end = inbox.position();
                    inbox.limit(to.end).position(from);
                }
            } while (bytes.hasRemaining());
        }

        void say(String text, Side to) throws SSLException {
            send(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), to);
        }

        void end(Side to) throws SSLException {
            session.endOutput();
            send(ByteBuffer.allocate(0), to);
        }

        String heard() {
            String text = new String(plain.array(), 0, plain.position(), StandardCharsets.UTF_8);
            plain.clear();
            return text;
        }
    }

    private static Side client(TlsFiles files) throws Exception {
        return new Side(TlsContext.of(files).client(SERVER));
    }

    private static Side server(TlsFiles files) throws Exception {
        return new Side(TlsContext.of(files).server());
    }

    private static void shakeHands(Side client, Side server) throws SSLException {
        boolean more = true;
        while (more) {
            more = false;
            for (Side side : new Side[] {client, server}) {
                Side other = side == client ? server : client;
                while (side.receive() == TlsSession.Need.OUTPUT) {
                    side.send(ByteBuffer.allocate(0), other);
                    more = true;
                }
            }
        }
    }

    private static String failureOf(Side client, Side server) {
        return TlsSession.explain(catchThrowable(() -> shakeHands(client, server)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC", "Ed25519"})
    void bothSidesTalk(String algorithm) throws Exception {
        Side client = client(authority.trusting());
        Side server = server(authority.withKey("node", algorithm));

        shakeHands(client, server);
        assertThat(client.session.isEstablished()).isTrue();
        assertThat(server.session.isEstablished()).isTrue();
        client.say("ping", server);
        server.receive();
        server.say("pong", client);
        client.receive();

        assertThat(server.heard()).isEqualTo("ping");
        assertThat(client.heard()).isEqualTo("pong");
    }

    @Test
    void eachDirectionEndsByItself() throws Exception {
        Side client = client(authority.trusting());
        Side server = server(authority.files("node"));
        shakeHands(client, server);

        client.say("the last", server);
        client.end(server);
        assertThat(server.receive()).isEqualTo(TlsSession.Need.NOTHING);
        assertThat(server.heard()).isEqualTo("the last");
        assertThat(server.session.inputEnded()).isTrue();
        server.say("an answer", client);
        assertThat(client.receive()).isEqualTo(TlsSession.Need.INPUT);
        assertThat(client.heard()).isEqualTo("an answer");
        assertThat(client.session.inputEnded()).isFalse();
        server.end(client);

        assertThat(client.receive()).isEqualTo(TlsSession.Need.NOTHING);
        assertThatThrownBy(() -> client.say("more", server)).isInstanceOf(SSLException.class);
    }

    @Test
    void theServerMayEndFirst() throws Exception {
        Side client = client(authority.trusting());
        Side server = server(authority.files("node"));
        shakeHands(client, server);

        server.end(client);
        assertThat(client.receive()).isEqualTo(TlsSession.Need.NOTHING);
        client.say("still here", server);

        assertThat(server.receive()).isEqualTo(TlsSession.Need.INPUT);
        assertThat(server.heard()).isEqualTo("still here");
    }

    @Test
    void plaintextIsDecryptedAsFarAsThereIsRoom() throws Exception {
        Side client = client(authority.trusting());
        Side server = server(authority.files("node"));
        shakeHands(client, server);

        client.send(ByteBuffer.allocate(100_000), server);
        ByteBuffer small = ByteBuffer.allocate(20_000);
        assertThat(server.session.receive(server.arrived, small)).isEqualTo(TlsSession.Need.ROOM);
        assertThat(small.position()).isBetween(16_000, TlsSession.MAX_FRAGMENT_BYTES);
        server.receive();

        assertThat(server.plain.position()).isEqualTo(100_000 - small.position());
    }

    @Test
    void ciphertextMayComeByteByByte() throws Exception {
        Side client = client(authority.trusting());
        Side server = server(authority.files("node"));
        shakeHands(client, server);

        client.say("slowly", server);
        ByteBuffer all = server.arrived;
        int end = all.limit();
        for (int limit = all.position() + 1; limit < end; limit++) {
            assertThat(server.session.receive(all.limit(limit), server.plain)).isEqualTo(TlsSession.Need.INPUT);
        }
        server.session.receive(all.limit(end), server.plain);

        assertThat(server.heard()).isEqualTo("slowly");
    }

    @Test
    void aServerOfAnotherAuthorityIsRefused() throws Exception {
        TestAuthority other = new TestAuthority(folder, "other");

        assertThat(failureOf(client(other.trusting()), server(authority.files("node"))))
                .isEqualTo("its certificate comes from no trusted authority");
    }

    @Test
    void aServerWithoutTheNameIsRefused() throws Exception {
        assertThat(failureOf(client(authority.trusting()), server(authority.files("node", false, "10.0.0.1"))))
                .contains("127.0.0.1");
        assertThat(failureOf(client(authority.trusting()), server(authority.files("node", false, "localhost"))))
                .contains("127.0.0.1");
    }

    @Test
    void anExpiredServerIsRefused() throws Exception {
        assertThat(failureOf(client(authority.trusting()), server(authority.expired("late"))))
                .contains("NotAfter");
    }

    @Test
    void aClientWithACertificateIsLetIn() throws Exception {
        Side client = client(authority.files("sender"));
        Side server = server(authority.files("node", true, "127.0.0.1"));

        shakeHands(client, server);

        assertThat(server.session.isEstablished()).isTrue();
    }

    @Test
    void aClientWithoutACertificateIsRefusedAndTold() throws Exception {
        Side client = client(authority.trusting());
        Side server = server(authority.files("node", true, "127.0.0.1"));

        assertThat(failureOf(client, server)).isEqualTo("the other side shows no certificate");
        assertThat(server.session.isEstablished()).isFalse();
        server.send(ByteBuffer.allocate(0), client);
        assertThat(TlsSession.explain(catchThrowable(client::receive)))
                .isIn("refused by the other side: bad certificate", "refused by the other side: certificate required");
    }

    @Test
    void aClientOfAnotherAuthorityIsRefused() throws Exception {
        TestAuthority other = new TestAuthority(folder, "other");
        TlsFiles stranger = other.files("stranger");
        TlsFiles mixed = new TlsFiles(stranger.certificate(), stranger.key(), authority.certificate(), false);

        // It does not even offer a certificate of an authority that the server did not name.
        assertThat(failureOf(client(mixed), server(authority.files("node", true, "127.0.0.1"))))
                .isIn("the other side shows no certificate", "its certificate comes from no trusted authority");
    }

    @Test
    void garbageInsteadOfAHandshakeIsRefused() throws Exception {
        Side server = server(authority.files("node"));
        server.arrived.limit(64).put(0, new byte[64]);

        assertThat(TlsSession.explain(catchThrowable(server::receive))).isEqualTo("the other side does not speak TLS");
    }

    @Test
    void alteredCiphertextIsRefused() throws Exception {
        Side client = client(authority.trusting());
        Side server = server(authority.files("node"));
        shakeHands(client, server);

        client.say("precious", server);
        int last = server.arrived.limit() - 1;
        server.arrived.put(last, (byte) (server.arrived.get(last) ^ 1));

        assertThatThrownBy(server::receive).isInstanceOf(SSLException.class);
        assertThat(server.heard()).isEmpty();
    }

    @Test
    void olderVersionsAreRefused() throws Exception {
        SSLContext context = authority.trusting().context();
        SSLEngine old = context.createSSLEngine();
        old.setUseClientMode(true);
        old.setEnabledProtocols(new String[] {"TLSv1.2"});

        assertThat(failureOf(new Side(new TlsSession(old)), server(authority.files("node"))))
                .contains("protocol");
    }
}
