package org.tamanoir.services.morph;

/**
 * A context of a plan: a thread of each instance, and what handlers may use of it.
 *
 * @param ringBytes of each ring that leads to it, a power of two
 * @param stateBytes that its handlers may hold together
 * @param share of a processor that it may use: 1 is a whole one
 */
record ContextSpec(String name, int ringBytes, long stateBytes, double share) {
    /** The service's own thread. */
    static final String RECEIVE = "receive";

    static final String DEFAULT_RING = "1MiB";
    static final String DEFAULT_STATE = "64MiB";
}
