package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Prefix;

/**
 * Puts packets into a class by what their headers say. All that is given must fit; the first rule that fits counts.
 *
 * @param service name of the service that the packet asks for, {@code name} or {@code name:version} as packets say it
 * @param source of the packet, as its sender claims it
 * @param destination of the packet
 * @param firstStream stream identifiers from here, 0 to 4,294,967,295; null = any
 * @param lastStream to here, inclusive
 * @param trafficClass name of the class
 */
public record ClassRule(
        @Nullable String service,
        @Nullable Prefix source,
        @Nullable Prefix destination,
        @Nullable Long firstStream,
        @Nullable Long lastStream,
        String trafficClass) {}
