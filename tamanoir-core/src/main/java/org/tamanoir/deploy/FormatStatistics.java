package org.tamanoir.deploy;

import java.util.List;
import java.util.Map;

/**
 * The formats of a node, and what became of requests for others since the start.
 *
 * @param known formats that are kept now
 * @param bytes of their descriptions
 * @param evicted formats that had to go for others
 * @param outcomes requests by outcome: {@code previous-node}, {@code format-server} and {@code repository} gave it;
 *     {@code unknown}: all answered, and none has it; {@code unavailable}: one did not answer; {@code refused}: a wrong
 *     description came; {@code repeated}: refused within the last second; {@code busy}: too many at a time
 * @param running searches now
 */
public record FormatStatistics(int known, long bytes, long evicted, Map<String, Long> outcomes, int running) {
    /** All outcomes. */
    public static final List<String> OUTCOMES = List.of(
            "previous-node", "format-server", "repository", "unknown", "unavailable", "refused", "repeated", "busy");
}
