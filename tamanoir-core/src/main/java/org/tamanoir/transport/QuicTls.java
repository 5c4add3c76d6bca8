package org.tamanoir.transport;

import io.netty.handler.codec.quic.QuicSslContext;
import io.netty.handler.codec.quic.QuicSslContextBuilder;
import io.netty.handler.ssl.ClientAuth;
import java.io.IOException;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509KeyManager;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsFiles;

/**
 * TLS inside QUIC (RFC 9001), by BoringSSL, with the keys, certificates and rules of the streams over TLS.
 *
 * @param accepting of the side that accepts; null = it has no certificate to show
 * @param connecting of the side that connects: the certificate of the other must name the host as it was given
 */
record QuicTls(@Nullable QuicSslContext accepting, QuicSslContext connecting) {
    /** @throws IOException in one line, if the library cannot use the key */
    static QuicTls of(TlsFiles.Loaded loaded, String protocol) throws IOException {
        QuicSslContextBuilder connecting = QuicSslContextBuilder.forClient().endpointIdentificationAlgorithm("HTTPS");
        KeyManager own = loaded.own();
        if (own == null) {
            return new QuicTls(null, built(connecting, loaded, protocol));
        }
        requireUsable(own, loaded.files());
        QuicSslContextBuilder accepting = QuicSslContextBuilder.forServer(own, null)
                .clientAuth(loaded.files().requireClient() ? ClientAuth.REQUIRE : ClientAuth.NONE);
        return new QuicTls(
                built(accepting, loaded, protocol), built(connecting.keyManager(own, null), loaded, protocol));
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

    private static QuicSslContext built(QuicSslContextBuilder builder, TlsFiles.Loaded loaded, String protocol) {
        TrustManager authorities = loaded.authorities();
        if (authorities != null) {
            builder.trustManager(authorities);
        }
        return builder.applicationProtocols(protocol).build();
    }
}
