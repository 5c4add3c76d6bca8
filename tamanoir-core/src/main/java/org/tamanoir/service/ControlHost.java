package org.tamanoir.service;

import java.time.Duration;
import org.tamanoir.format.FormatSource;

/**
 * What a node lends to a {@link ServiceControl}.
 *
 * <p>Thread contract: any threads.
 */
public interface ControlHost {
    /** Returns the name of the service that is controlled, as packets name it. */
    String serviceName();

    /** Returns the formats of the node. */
    FormatSource formats();

    /** Returns the node's clock, in ns. */
    long nanoTime();

    /**
     * Makes an instance of another service of the node, which is fetched if it is not here; its thread is not started.
     * May wait that long: not for a service's own thread.
     *
     * @param name with a version behind a colon, or without
     * @throws IllegalArgumentException why there is none: one line
     */
    Service instance(String name, Duration timeout);
}
