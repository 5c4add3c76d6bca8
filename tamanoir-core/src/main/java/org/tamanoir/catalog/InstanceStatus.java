package org.tamanoir.catalog;

import java.time.Instant;
import java.util.Map;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * A running instance of a service.
 *
 * @param service the service that it runs
 * @param startedAt when its thread began
 * @param thread its thread's name
 * @param stream what it serves
 * @param processorNs processor time of its thread, as of the last measurement
 * @param traffic what crossed it
 * @param counters the service's own, by name
 * @param dropReasons the service's own reasons for its drops
 * @param below what levels below the JVM did with its UDP packets; those are not in {@code traffic}, but for those that
 *     went up
 */
public record InstanceStatus(
        ServiceDefinition service,
        Instant startedAt,
        String thread,
        StreamInfo stream,
        long processorNs,
        TrafficSnapshot traffic,
        Map<String, Long> counters,
        Map<String, Long> dropReasons,
        LevelCounters below) {}
