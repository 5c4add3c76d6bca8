package org.tamanoir.supervision;

import org.tamanoir.catalog.ServiceDefinition;

/**
 * What a service did that an operator should know.
 *
 * @param text one line
 */
public record Incident(Kind kind, ServiceDefinition service, String text) {
    /** Kinds of incidents. */
    public enum Kind {
        /** An instance of it does not begin: its constructor or {@code init} has thrown; told when that is news. */
        FAULT,
        /** It is not run for a while, since it failed too often. */
        QUARANTINED,
        /** It pauses, since it used more than its limits; told at most once a minute. */
        THROTTLED,
        /** An instance does not return from the service's code, and is interrupted or left behind. */
        STUCK
    }
}
