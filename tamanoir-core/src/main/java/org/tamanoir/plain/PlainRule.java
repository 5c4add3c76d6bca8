package org.tamanoir.plain;

import org.tamanoir.service.FailurePolicy;

/**
 * A rule of the operator's: which datagrams and connections go through which service.
 *
 * @param service its name
 * @param serviceKey its key
 * @param classOfService of the packets that the service sees, 0 to 255; {@link PlainMatch#ANY} = they have none
 * @param onFailure what becomes of them while the service cannot be had, is in quarantine, or fails: they go on as
 *     they came, or datagrams are dropped and connections broken
 */
public record PlainRule(
        PlainMatch match, String service, long serviceKey, int classOfService, FailurePolicy onFailure) {
    /** Checks the bounds. */
    public PlainRule {
        if (classOfService < PlainMatch.ANY || classOfService > 255) {
            throw new IllegalArgumentException("class " + classOfService + ": must be 0 to 255");
        }
        if (onFailure == FailurePolicy.CLOSE) {
            throw new IllegalArgumentException(
                    "on-failure close: datagrams have no stream to close; must be pass or drop");
        }
    }
}
