package org.tamanoir.supervision;

import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs each kind of failure of a service once; the rest is counted.
 *
 * <p>Thread contract: any thread; one that can be spared where {@link ForeignFailure} wants that.
 */
public final class FailureLog {
    private static final Logger LOG = LoggerFactory.getLogger(FailureLog.class);
    /** Kinds told apart; a service could make up any number. */
    private static final int MAX_KINDS = 1024;

    private final ConcurrentHashMap<String, Boolean> seen = new ConcurrentHashMap<>();

    public void failed(String service, String where, Throwable thrown, String consequence) {
        ForeignFailure failure = ForeignFailure.of(thrown);
        String kind = service + " " + where + " " + failure.kind();
        if (seen.size() < MAX_KINDS && seen.putIfAbsent(kind, true) == null) {
            LOG.warn(
                    "service {} failed in {}: {}; {}; further failures of this kind are only counted",
                    service,
                    where,
                    failure.toString(),
                    consequence);
            LOG.debug("service {} failed in {}", service, where, failure);
        }
    }
}
