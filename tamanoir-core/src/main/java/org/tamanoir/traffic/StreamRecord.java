package org.tamanoir.traffic;

import java.time.Duration;
import java.time.Instant;
import org.tamanoir.service.StreamInfo;

/**
 * A TCP stream that has ended, for an access log.
 *
 * @param stream its ends
 * @param service label of the service that ran it
 * @param started when it was accepted
 * @param duration from then to its end
 * @param traffic what crossed it
 * @param end {@code finished}, {@code cut at shutdown}, or why else it was cut short
 */
public record StreamRecord(
        StreamInfo stream, String service, Instant started, Duration duration, TrafficSnapshot traffic, String end) {}
