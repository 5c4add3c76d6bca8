package org.tamanoir.tls;

import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TLS that next hops are reached by, and that streams come in by.
 *
 * <p>Thread contract: any thread.
 */
public final class TlsClient {
    private static final Logger LOG = LoggerFactory.getLogger(TlsClient.class);
    private @Nullable TlsContext context;

    /** Shows and believes what these files say; returns what connections begin with. */
    public synchronized TlsContext use(TlsFiles files) throws IOException {
        context = TlsContext.of(files);
        return context;
    }

    /**
     * Shows and believes what was read now, for connections from now on.
     *
     * @return whether they hold another certificate than before
     * @throws IOException in one line, if one is no good; nothing is changed then
     */
    public synchronized boolean renew(TlsFiles.Loaded loaded) throws IOException {
        return context != null && context.renew(loaded);
    }

    /** Returns what connections begin with now, for those that do not begin with {@link #context}. */
    public synchronized TlsFiles.Loaded loaded() throws IOException {
        return context == null ? TlsFiles.NONE.load() : context.loaded();
    }

    /** Returns when the first of the certificates that are shown expires; null when none is shown. */
    public synchronized @Nullable Instant expiry() {
        return context == null ? null : context.expiry();
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
