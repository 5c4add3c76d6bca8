package org.tamanoir.tls;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TLS that next hops are reached by.
 *
 * <p>Thread contract: any thread.
 */
public final class TlsClient {
    private static final Logger LOG = LoggerFactory.getLogger(TlsClient.class);
    private @Nullable TlsContext context;

    /** Shows and believes what these files say. */
    public synchronized void use(TlsFiles files) throws IOException {
        context = TlsContext.of(files);
    }

    /** Returns what connections begin with; null, and a line in the log, when there can be none. */
    public synchronized @Nullable TlsContext context() {
        if (context == null) {
            try {
                context = TlsContext.of(TlsFiles.NONE);
            } catch (IOException e) {
                LOG.warn("no TLS next hop can be reached: {}", e.getMessage());
            }
        }
        return context;
    }
}
