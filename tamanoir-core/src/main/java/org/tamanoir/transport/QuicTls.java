package org.tamanoir.transport;

import io.netty.handler.codec.quic.QuicSslContext;
import io.netty.handler.codec.quic.QuicSslContextBuilder;
import io.netty.handler.ssl.ClientAuth;
import java.io.IOException;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509KeyManager;
import org.tamanoir.tls.TlsFiles;

/** TLS inside QUIC (RFC 9001), by BoringSSL, with the keys, certificates and rules of the streams over TLS. Stateless. */
final class QuicTls {
    private QuicTls() {}

    /** Returns the side that accepts; the files name a certificate. */
    static QuicSslContext server(TlsFiles.Loaded loaded, String protocol) throws IOException {
        KeyManager own = loaded.own();
        if (own == null) {
            throw new IOException("QUIC: a server must show a certificate; name files of a certificate and its key");
        }
        requireUsable(own, loaded.files());
        QuicSslContextBuilder builder = QuicSslContextBuilder.forServer(own, null)
                .clientAuth(loaded.files().requireClient() ? ClientAuth.REQUIRE : ClientAuth.NONE)
                .applicationProtocols(protocol);
        return trusting(builder, loaded).build();
    }

    /** Returns the side that connects: the certificate of the other must name the host as it was given. */
    static QuicSslContext client(TlsFiles.Loaded loaded, String protocol) throws IOException {
        QuicSslContextBuilder builder = QuicSslContextBuilder.forClient()
                .endpointIdentificationAlgorithm("HTTPS")
                .applicationProtocols(protocol);
        KeyManager own = loaded.own();
        if (own != null) {
            requireUsable(own, loaded.files());
            builder.keyManager(own, null);
        }
        return trusting(builder, loaded).build();
    }

    /** BoringSSL neither offers nor takes Ed25519 unless it is told to, which Netty does not. */
    private static void requireUsable(KeyManager own, TlsFiles files) throws IOException {
        X509KeyManager keys = (X509KeyManager) own;
        if (keys.getServerAliases("EC", null) == null && keys.getServerAliases("RSA", null) == null) {
            throw new IOException("QUIC: the key of TLS certificate " + files.certificate()
                    + " is none of EC and RSA, which alone QUIC's library uses; make one of these, as with "
                    + "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256");
        }
    }

    private static QuicSslContextBuilder trusting(QuicSslContextBuilder builder, TlsFiles.Loaded loaded) {
        TrustManager authorities = loaded.authorities();
        return authorities == null ? builder : builder.trustManager(authorities);
    }
}
