package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;

/** Configurations of one link, which leads to everywhere. Its classes are c0, c1 …, by the class-of-service option. */
final class PostConfig {
    private PostConfig() {}

    static QosConfig of(String discipline, long rate, long burst, long... weights) {
        return of("out", discipline, rate, burst, weights);
    }

    static QosConfig of(String name, String discipline, long rate, long burst, long... weights) {
        return of(name, discipline, Map.of(), false, 1000, rate, burst, weights);
    }

    static QosConfig of(
            String name,
            String discipline,
            Map<String, String> options,
            boolean police,
            int limitPackets,
            long rate,
            long burst,
            long... weights) {
        List<TrafficClass> classes = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            classes.add(new TrafficClass("c" + i, Set.of(i), weights[i], limitPackets, 1 << 20));
        }
        Link link = new Link(name, List.of(Prefix.parse("0.0.0.0/0")), rate, burst, police, discipline, options);
        return new QosConfig(classes, "c0", List.of(), null, List.of(link));
    }

    static QosConfig wfq(long rate, long... weights) {
        return of("wfq", rate, 20_000, weights);
    }
}
