package org.tamanoir.ee;

import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs each kind of failure of a service once; the rest is counted. Any thread may call. */
final class FailureLog {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** Kinds told apart; a service could make up any number. */
    private static final int MAX_KINDS = 1024;

    private final ConcurrentHashMap<String, Boolean> seen = new ConcurrentHashMap<>();

    void failed(String service, String where, Throwable failure, String consequence) {
        String kind = service + " " + where + " " + failure.getClass().getName();
        if (seen.size() < MAX_KINDS && seen.putIfAbsent(kind, true) == null) {
            LOG.warn(
                    "service {} failed in {}: {}; {}; further failures of this kind are only counted",
                    service,
                    where,
                    failure,
                    consequence);
            LOG.debug("service {} failed in {}", service, where, failure);
        }
    }
}
