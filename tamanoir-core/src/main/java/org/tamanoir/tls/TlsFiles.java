package org.tamanoir.tls;

import java.io.IOException;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Where one side of a TLS connection finds what it shows and what it believes: PEM files.
 *
 * @param certificate the chain that this side shows, its own certificate first; null = a client that shows none
 * @param key the certificate's private key, PKCS #8, not encrypted; null where {@code certificate} is
 * @param trust certificates of the authorities that the other side's must come from; null = those of the JDK
 * @param requireClient as a server, refuse clients without a certificate from {@code trust}
 */
public record TlsFiles(
        @Nullable Path certificate,
        @Nullable Path key,
        @Nullable Path trust,
        boolean requireClient) {
    /**
     * Reads the files. TLS 1.2 and 1.3; one context serves both sides.
     *
     * @throws IOException in one line, with the file, what is wrong with it and the remedy
     */
    public SSLContext context() throws IOException {
        throw new UnsupportedOperationException("context");
    }
}
