package org.tamanoir.tls;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.Comparator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * Begins TLS connections of streams, with what {@link TlsFiles} held when it was made or renewed. Streams speak TLS 1.3
 * alone: in older versions the end of one direction ends the other too.
 *
 * <p>Any thread.
 */
public final class TlsContext {
    private static final String[] PROTOCOLS = {"TLSv1.3"};

    private volatile Shown shown;

    private record Shown(SSLContext context, TlsFiles.Loaded loaded) {
        static Shown of(TlsFiles.Loaded loaded) throws IOException {
            return new Shown(loaded.context(), loaded);
        }
    }

    private TlsContext(Shown shown) {
        this.shown = shown;
    }

    /**
     * Reads the files.
     *
     * @throws IOException in one line, with the file, what is wrong with it and the remedy
     */
    public static TlsContext of(TlsFiles files) throws IOException {
        return new TlsContext(Shown.of(files.load()));
    }

    /**
     * Has connections from now on begin with what the files hold now; those that are open go on.
     *
     * @return whether they hold another certificate than before
     * @throws IOException in one line; nothing is changed then
     */
    boolean renew(TlsFiles.Loaded loaded) throws IOException {
        Shown before = shown;
        Shown now = Shown.of(loaded);
        shown = now;
        return !now.loaded.chain().equals(before.loaded.chain());
    }

    /** Returns what connections begin with now. */
    TlsFiles.Loaded loaded() {
        return shown.loaded;
    }

    /** Returns when the first of the certificates that this side shows expires; null when it shows none. */
    @Nullable
    Instant expiry() {
        return shown.loaded.chain().stream()
                .map(each -> each.getNotAfter().toInstant())
                .min(Comparator.naturalOrder())
                .orElse(null);
    }

    /**
     * Fails unless one can be a server with this.
     *
     * @param what names the one who wants to, as in {@code TLS on 127.0.0.1:3324}
     */
    public TlsContext requireCertificate(String what) throws IOException {
        if (shown.loaded.own() == null) {
            throw new IOException(what + ": a server must show a certificate; name files of a certificate and its key");
        }
        return this;
    }

    /** Returns the side that accepts. */
    public TlsSession server() {
        Shown now = shown;
        SSLEngine engine = now.context.createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setNeedClientAuth(now.loaded.files().requireClient());
        engine.setSSLParameters(parameters);
        return new TlsSession(engine);
    }

    /**
     * Returns the side that connects.
     *
     * @param server the certificate must name its host as it was given, or its address when it was given none
     */
    public TlsSession client(InetSocketAddress server) {
        SSLEngine engine = shown.context.createSSLEngine(server.getHostString(), server.getPort());
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        return new TlsSession(engine);
    }
}
