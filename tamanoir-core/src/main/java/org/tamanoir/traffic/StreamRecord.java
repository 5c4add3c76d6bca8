package org.tamanoir.traffic;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.StreamInfo;

/**
 * A TCP stream that has ended, for those who are told of each.
 *
 * @param stream its ends
 * @param service label of the service that ran it
 * @param started when it was accepted
 * @param duration from then to its end
 * @param traffic what crossed it
 * @param end {@value #FINISHED}, {@code cut at shutdown}, or why else it was cut short
 * @param branches labels of further services that ran for it, the first {@value #MAX_BRANCHES}
 * @param nextHop to which its service opened a TCP connection last; null = to none
 */
public record StreamRecord(
        StreamInfo stream,
        String service,
        Instant started,
        Duration duration,
        TrafficSnapshot traffic,
        String end,
        Set<String> branches,
        @Nullable InetSocketAddress nextHop) {
    /** The end of a stream that was not cut short. */
    public static final String FINISHED = "finished";

    /** Labels that are kept of one stream, whose branches may come and go. */
    public static final int MAX_BRANCHES = 16;
}
