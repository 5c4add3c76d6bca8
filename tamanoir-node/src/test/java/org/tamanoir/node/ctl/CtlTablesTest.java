package org.tamanoir.node.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Answers of the admin API as people read them. */
class CtlTablesTest {
    /** 100 packets came to the level, 90 of which it handled; 10 came up, and 5 came to the JVM past it. */
    private static final String HANDLED_BELOW = """
            {"services": [{"name": "org.example.Foo", "version": "1.0", "current": true, "state": "running",
              "tcpStreams": 0, "udp": true, "failures": 0, "processorSeconds": 0.5, "source": "cache",
              "quarantinedUntil": null, "holders": [],
              "traffic": {"packetsIn": 15, "packetsOut": 12, "dropped": 3},
              "counters": {"packets": 105, "passed": 82}, "dropReasons": {"rule 1": 23},
              "placement": {"wanted": "tc", "level": "tc", "reason": null, "refusal": null,
                "counters": {"packets": 100, "up": 10, "on": 70, "dropped": 20}}}], "total": 1}
            """;

    private static List<String> cells(String row) {
        return List.of(row.strip().split(" {2,}"));
    }

    @Test
    void whatALevelBelowHandlesIsCountedAsTheServicesOwn() {
        JsonNode answer = new JsonMapper().readTree(HANDLED_BELOW);
        List<String> lines = new ArrayList<>();
        CtlTables.service(answer, lines::add);
        List<String> head = cells(lines.get(0));
        List<String> row = cells(lines.get(1));
        assertThat(row.get(head.indexOf("IN"))).isEqualTo("105");
        assertThat(row.get(head.indexOf("OUT"))).isEqualTo("82");
        assertThat(row.get(head.indexOf("DROPPED"))).isEqualTo("23");
        assertThat(lines.subList(2, lines.size()))
                .containsExactly(
                        "org.example.Foo:1.0 below the JVM: 100 packets, of which 10 came up, 70 went on, 20 dropped",
                        "org.example.Foo:1.0 counted: packets 105, passed 82",
                        "org.example.Foo:1.0 dropped: rule 1 23");
    }
}
