package org.tamanoir.qdisc;

import java.util.List;
import java.util.Map;

/**
 * What a discipline is made from.
 *
 * @param flows in the order of their index, which is their priority too: 0 is served first where priorities count
 * @param rate of the server in bytes a second, or in nanoseconds of processor time a second; 0 = not known
 * @param options the discipline's own, as text
 */
public record DisciplineConfig(List<FlowConfig> flows, long rate, Map<String, String> options) {
    public DisciplineConfig {
        flows = List.copyOf(flows);
        options = Map.copyOf(options);
    }
}
