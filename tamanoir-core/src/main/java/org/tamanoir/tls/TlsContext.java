package org.tamanoir.tls;

import java.io.IOException;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * Begins TLS connections of streams, with what {@link TlsFiles} held when it was made. Streams speak TLS 1.3 alone:
 * in older versions the end of one direction ends the other too.
 *
 * <p>Any thread.
 */
public final class TlsContext {
    private static final String[] PROTOCOLS = {"TLSv1.3"};

    private final SSLContext context;
    private final boolean requireClient;
    private final boolean hasCertificate;

    private TlsContext(SSLContext context, boolean requireClient, boolean hasCertificate) {
        this.context = context;
        this.requireClient = requireClient;
        this.hasCertificate = hasCertificate;
    }

    /**
     * Reads the files.
     *
     * @throws IOException in one line, with the file, what is wrong with it and the remedy
     */
    public static TlsContext of(TlsFiles files) throws IOException {
        return new TlsContext(files.context(), files.requireClient(), files.certificate() != null);
    }

    /**
     * Fails unless one can be a server with this.
     *
     * @param what names the one who wants to, as in {@code TLS on 127.0.0.1:3324}
     */
    public TlsContext requireCertificate(String what) throws IOException {
        if (!hasCertificate) {
            throw new IOException(what + ": a server must show a certificate; name files of a certificate and its key");
        }
        return this;
    }

    /** Returns the side that accepts. */
    public TlsSession server() {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setNeedClientAuth(requireClient);
        engine.setSSLParameters(parameters);
        return new TlsSession(engine);
    }

    /**
     * Returns the side that connects.
     *
     * @param server the certificate must name its host as it was given, or its address when it was given none
     */
    public TlsSession client(InetSocketAddress server) {
        SSLEngine engine = context.createSSLEngine(server.getHostString(), server.getPort());
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        return new TlsSession(engine);
    }
}
